"""Questions of people: free SQL and the named questions of `sql/reports`.

Reads through a connection that `crawler.store.reader` opened. Turns DuckDB's errors into BadQuery, so that whoever
asks needs to know no DuckDB. Writes nothing of its own.
"""

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, TypeAlias

import duckdb

from crawler.core.errors import BadQuery
from crawler.store import query

Connection: TypeAlias = duckdb.DuckDBPyConnection

_BATCH = 1000
_FIELD = re.compile(r"(Reads|Writes|Params|Grain):")


@dataclass(frozen=True, slots=True)
class Answer:
    """The columns of a result, and its rows as they are read."""

    columns: tuple[str, ...]
    rows: Iterator[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Question:
    """A named question: its sentence and the parameters that it needs, in the order of their use."""

    name: str
    sentence: str
    parameters: tuple[str, ...]


def ask(con: Connection, text: str) -> Answer:
    """The answer to the SQL in `text`; of several statements that of the last. Raises BadQuery."""
    return _execute(con, text, {})


def ask_named(con: Connection, name: str, parameters: Mapping[str, str]) -> Answer:
    """The answer to a named question. Raises BadQuery for an unknown name and for missing or unknown parameters."""
    known = questions()
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        cure = f"Did you mean {close[0]!r}?" if close else f"Known: {', '.join(known)}."
        raise BadQuery(f"there is no question {name!r}", f"{cure} Free SQL goes after -c")
    wanted = known[name].parameters
    if set(wanted) != set(parameters):
        needs = " ".join(f"{key}=..." for key in wanted) or "no parameter"
        given = ", ".join(sorted(parameters)) or "none"
        raise BadQuery(f"parameters given: {given}", f"The question {name} needs {needs}")
    return _execute(con, query.sql_text(f"reports/{name}"), parameters)


def questions() -> dict[str, Question]:
    """Every named question by name."""
    return {name: _read_header(name, text) for name, text in query.scripts("reports")}


def _execute(con: Connection, text: str, parameters: Mapping[str, str]) -> Answer:
    try:
        statements = duckdb.extract_statements(text)
        if not statements:
            raise BadQuery("there is no statement in it", "Write one, e.g. select * from coverage")
        for statement in statements[:-1]:
            con.execute(statement)
        con.execute(statements[-1], dict(parameters))
    except duckdb.Error as error:
        raise _bad(error) from error
    columns = tuple(str(column[0]) for column in con.description or ())
    return Answer(columns, _read(con))


def _read(con: Connection) -> Iterator[tuple[Any, ...]]:
    try:
        while batch := con.fetchmany(_BATCH):
            yield from batch
    except duckdb.Error as error:
        raise _bad(error) from error


def _bad(error: duckdb.Error) -> BadQuery:
    said = [line for line in str(error).splitlines() if line.strip()]
    where = [line for line in said if line.startswith("LINE ")]
    rest = [line for line in said[1:] if line not in where and not line.lstrip().startswith("^")]
    return BadQuery(said[0].rstrip(".!") if said else type(error).__name__, " ".join([*rest, *where]))


def _read_header(name: str, text: str) -> Question:
    comments = [line.removeprefix("--").strip() for line in text.splitlines() if line.startswith("--")]
    sentence = takewhile(lambda line: not _FIELD.match(line), comments)
    code = re.sub(r"--.*", "", text)
    return Question(name, " ".join(sentence), tuple(dict.fromkeys(re.findall(r"\$([a-z_]+)", code))))
