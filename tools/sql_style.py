"""`python -m tools.sql_style`: checks the house style of every file in sql/. Writes nothing.

Files of sql/schema carry the table's sentence only; COMMENT ON says the rest. Exit code 1 names what is wrong.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb

SQL = Path(__file__).resolve().parents[1] / "sql"
MAX_LINES = 80
FIELDS = ("Reads", "Writes", "Params", "Grain")
# What makes a second run write other rows than the first.
_UNSTABLE = re.compile(
    r"\b(now|today|random|uuid|gen_random_uuid|get_current_timestamp|current_timestamp|current_date|hash)\b\s*(\(|\b)",
    re.IGNORECASE,
)
_CALLED = {"now", "today", "random", "uuid", "gen_random_uuid", "get_current_timestamp", "hash"}
_TEMPLATE = re.compile(r"\{\{|\{%")


def main() -> int:
    """Print every problem; 1 if there is one."""
    found = [f"{path.relative_to(SQL.parent)}: {problem}" for path in sql_files() for problem in problems(path)]
    print("\n".join(found) if found else f"sql style: {len(sql_files())} files are fine")
    return 1 if found else 0


def sql_files() -> list[Path]:
    """Every SQL file of the product."""
    return sorted(SQL.rglob("*.sql"))


def problems(path: Path) -> Iterator[str]:
    """What is wrong with the file at `path`, as sentences."""
    yield from problems_of_text(path.read_text(encoding="utf-8"), kind=path.parent.name)


def problems_of_text(text: str, *, kind: str) -> Iterator[str]:
    """What is wrong with `text`, a file of the folder `kind` of sql/."""
    code = without_comments(text)
    if (lines := text.count("\n")) > MAX_LINES and kind != "schema":
        yield f"has {lines} lines; more than {MAX_LINES} want a split"
    if _TEMPLATE.search(text):
        yield "holds a template; it must run as it is in any DuckDB shell"
    for match in _UNSTABLE.finditer(code):
        if match[2] == "(" or match[1].lower() not in _CALLED:
            yield f"calls {match[1]}: time and chance are parameters, and hash() changes between versions"
    yield from _header_problems(text, code, kind)
    try:
        statements = duckdb.extract_statements(text)
    except duckdb.Error as error:
        yield f"does not parse: {str(error).splitlines()[0]}"
        return
    if kind != "schema" and len(statements) != 1:
        yield f"holds {len(statements)} statements instead of one"


def _header_problems(text: str, code: str, kind: str) -> Iterator[str]:
    header = []
    for line in text.splitlines():
        if not line.startswith("--"):
            break
        header.append(line.removeprefix("--").strip())
    if not header or header[0].partition(":")[0] in FIELDS:
        yield "does not start with a comment of one sentence"
        return
    if not any(line.endswith(".") for line in header):
        yield "its first comment does not end with a full stop"
    if kind in ("schema", "macros"):
        return
    for name in ("Reads", "Grain"):
        if not any(line.startswith(f"{name}: ") for line in header):
            yield f"its header has no line `-- {name}: ...`"
    untold = _parameters(code) - _words_of(header, "Params")
    if untold:
        yield f"its header says nothing of the parameters {', '.join(sorted(untold))}"


def _parameters(code: str) -> set[str]:
    return set(re.findall(r"\$([a-z_]+)", code))


def _words_of(header: list[str], field: str) -> set[str]:
    """The words of the header's `field`, which may go on over several lines."""
    words: set[str] = set()
    inside = False
    for line in header:
        name = line.partition(":")[0]
        inside = name == field if name in FIELDS else inside
        if inside:
            words |= set(re.findall(r"\w+", line))
    return words


def without_comments(text: str) -> str:
    """`text` without comments and without the content of strings."""
    return re.sub(r"'(?:[^']|'')*'", "''", re.sub(r"--[^\n]*", "", text))


if __name__ == "__main__":
    sys.exit(main())
