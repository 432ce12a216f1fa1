"""The product's SQL with some of its text replaced, in this process only.

It asks what a rule is worth, and whether the gates would notice its loss.
Copies the `sql` folder and writes into the copy. Ends as it began, whatever happens in between.
"""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from crawler.store import query


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace `old`, which must be there, by `new` in the statement `name` of the sql folder."""

    name: str
    old: str
    new: str


class EditMissed(Exception):
    """The text that an edit replaces is not there: the SQL has moved on, and the edit must follow."""


# The plan by age alone: what was longest not asked for comes first, and every page counts alike.
UNIFORM = (
    Edit(
        "plan/scored",
        "ELSE freshness_index(belief, days, lag)",
        "ELSE days",
    ),
    Edit("macros/page_weight", "log2(2e0 + inlinks) * CASE WHEN is_copy THEN 1e-1 ELSE 1e0 END", "1e0"),
)


@contextmanager
def sql_with(edits: Sequence[Edit]) -> Iterator[None]:
    """Let this process use the product's SQL with `edits` made. Raises EditMissed."""
    product = query.sql_folder
    with tempfile.TemporaryDirectory(prefix="recrawl-sql-") as temporary:
        folder = Path(shutil.copytree(product(), Path(temporary) / "sql"))
        for edit in edits:
            path = folder / f"{edit.name}.sql"
            text = path.read_text(encoding="utf-8")
            if edit.old not in text:
                raise EditMissed(f"sql/{edit.name}.sql no longer holds {edit.old!r}")
            path.write_text(text.replace(edit.old, edit.new), encoding="utf-8")
        query.sql_folder = lambda: folder
        _forget()
        try:
            yield
        finally:
            query.sql_folder = product
            _forget()


def _forget() -> None:
    """Have statements read and engines started anew."""
    query.sql_text.cache_clear()
    query._ENGINES.clear()
