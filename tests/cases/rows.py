"""Files of cases: reading them, running a row, and the expectations that we argue against.

A row is met if no key of its `expected` differs from what the product does. What we disagree with is said in
disagreed.toml by what such rows have in common, never by their names.
"""

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.cases import links, neardup, robots, scripts, sitemaps, urls
from tests.cases.facts import Row

OURS = Path(__file__).parent
FILES: dict[str, Callable[[Row], list[str]]] = {
    "robots.jsonl": robots.differences,
    "http.jsonl": scripts.differences,
    "urls.jsonl": urls.differences,
    "links.jsonl": links.differences,
    "sitemaps.jsonl": sitemaps.differences,
    "neardup.jsonl": neardup.differences,
}


@dataclass(frozen=True, slots=True)
class Argument:
    """Why rows with a property are not met. where: dotted path into the row to a value, or to `~` and a pattern.

    run: whether they are run all the same; not if the product has no such part.
    """

    file: str
    where: Mapping[str, Any]
    reason: str
    run: bool = True

    def is_about(self, file: str, row: Row) -> bool:
        return file == self.file and all(_matches(_at(row, path), want) for path, want in self.where.items())


def rows_of(path: Path) -> list[Row]:
    """The rows of a file of JSON lines; each says in `folder` where the files are that it names."""
    return [json.loads(line) | {"folder": path.parent} for line in path.read_bytes().split(b"\n") if line.strip()]


def our_rows(name: str) -> list[Row]:
    """The rows of our copy of a file."""
    return rows_of(OURS / name)


def differences(name: str, row: Row) -> list[str]:
    """What differs from the expectation of a row of the file `name`; empty if nothing does.

    A row that cannot be run is a difference too, so that one of them does not end all.
    """
    try:
        return FILES[name](row)
    except Exception as error:  # noqa: BLE001  whatever it is, it is said and counted
        return [f"{type(error).__name__}: {error}"]


def argument_for(name: str, row: Row) -> Argument | None:
    """Our argument against a row, if there is one."""
    return next((argument for argument in _arguments() if argument.is_about(name, row)), None)


@cache
def _arguments() -> tuple[Argument, ...]:
    given = tomllib.loads((OURS / "disagreed.toml").read_text(encoding="utf-8"))
    return tuple(Argument(**each) for each in given.get("argument", ()))


def _at(row: Any, path: str) -> Any:
    for name in path.split("."):
        row = row.get(name) if isinstance(row, dict) else None
    return row


def _matches(value: Any, want: Any) -> bool:
    if isinstance(want, str) and want.startswith("~"):
        return isinstance(value, str) and re.search(want[1:], value) is not None
    return bool(value == want)
