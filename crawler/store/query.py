"""DuckDB: one engine a process, the queries of the `sql` folder by name, and views over lists of files.

Owns how the engine is set up. Query text lives in `sql/`; the views over file lists are the one exception, since
CREATE VIEW takes no parameters.
"""

import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import pyarrow as pa

from crawler.core.config import EngineSettings

Connection: TypeAlias = duckdb.DuckDBPyConnection
"""What a query runs on, for those who only hand it on."""

Interrupted: TypeAlias = duckdb.InterruptException
"""What a query ends with whose connection was told to stop."""

_PARAMETER = re.compile(r"\$([a-z_]+)")
_ENGINES: dict[tuple[int, str], duckdb.DuckDBPyConnection] = {}
_SPILL: list[tempfile.TemporaryDirectory[str]] = []  # removed when the process ends


def sql_folder() -> Path:
    """The `sql` folder: beside the package in a source tree, inside it when installed."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "sql"
    return inside if inside.is_dir() else package.parent / "sql"


@cache
def sql_text(name: str) -> str:
    """The statement in `sql/<name>.sql`."""
    return (sql_folder() / f"{name}.sql").read_text(encoding="utf-8")


def with_steps(name: str, steps: Mapping[str, str]) -> str:
    """The statement in `sql/<name>.sql` after `steps`: tables that it reads, in order, and the files that make them.

    As views of their own, each would be bound again wherever another reads it.
    """
    made = ", ".join(f'"{table}" AS ({_without_comments(step)})' for table, step in steps.items())
    return f"WITH {made} {_without_comments(name)}"


def connect(engine: EngineSettings) -> duckdb.DuckDBPyConnection:
    """A connection of its own temporary views, with the empty tables of `sql/schema` and the macros.

    All connections of a process share one engine, since starting one costs more than many a query.
    """
    key = (os.getpid(), engine.model_dump_json())
    if key not in _ENGINES:
        _ENGINES[key] = _start(engine)
    cursor = _ENGINES[key].cursor()
    cursor.execute("SET TimeZone = 'UTC'; SET enable_progress_bar = false")  # it would go to stdout, into results
    return cursor


def catalogue() -> duckdb.DuckDBPyConnection:
    """A connection for questions about the schema."""
    return connect(EngineSettings())


def run(con: duckdb.DuckDBPyConnection, name: str, parameters: Mapping[str, Any] | None = None) -> Any:
    """Execute `sql/<name>.sql` with those of `parameters` that it names."""
    return con.execute(*_statement(name, parameters))


def arrow(
    con: duckdb.DuckDBPyConnection, name: str, parameters: Mapping[str, Any] | None = None
) -> pa.RecordBatchReader:
    """The result of `sql/<name>.sql` as a stream of Arrow batches."""
    text, named = _statement(name, parameters)
    return con.sql(text, params=named).to_arrow_reader()


def materialise(
    con: duckdb.DuckDBPyConnection, table: str, name: str, parameters: Mapping[str, Any] | None = None
) -> None:
    """Keep the result of `sql/<name>.sql` as the temporary table `table`."""
    text, named = _statement(name, parameters)
    con.execute(f'CREATE OR REPLACE TEMP TABLE "{table}" AS {text}', named)


def has_rows(con: duckdb.DuckDBPyConnection, table: str) -> bool:
    """Whether there is a row in `table`."""
    return bool(con.execute(f'FROM "{table}" LIMIT 1').fetchall())  # fetchone would leave the connection in use


def keep_rows(con: duckdb.DuckDBPyConnection, table: str, columns: str, rows: Sequence[Sequence[Any]]) -> None:
    """Keep `rows` as the temporary table `table`; `columns` is the list of names and types of CREATE TABLE."""
    con.execute(f'CREATE OR REPLACE TEMP TABLE "{table}" ({columns})')
    if rows:
        schema = con.sql(f'FROM "{table}" LIMIT 0').to_arrow_table().schema
        arrays = [pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), schema, strict=True)]
        con.register("arriving_rows", pa.Table.from_arrays(arrays, schema=schema))
        con.execute(f'INSERT INTO "{table}" FROM arriving_rows')
        con.unregister("arriving_rows")


def view_query(con: duckdb.DuckDBPyConnection, view: str, name: str) -> None:
    """Make the temporary view `view` of `sql/<name>.sql`, which has no parameters."""
    con.execute(f'CREATE OR REPLACE TEMP VIEW "{view}" AS {sql_text(name)}')


def view_files(
    con: duckdb.DuckDBPyConnection,
    view: str,
    table: str,
    paths: Sequence[str],
    *,
    from_epoch: int = 0,
    cycle: str = "",
) -> None:
    """Make the temporary view `view` of the rows of the Parquet files `paths` of `table`.

    from_epoch, cycle: of the rows only those from that epoch on, or of that cycle.
    """
    text = files_query(table, paths)
    if from_epoch:
        text += f" WHERE epoch >= {int(from_epoch)}"
    elif cycle:
        text += f" WHERE cycle = DATE '{date.fromisoformat(cycle)}'"
    con.execute(f'CREATE OR REPLACE TEMP VIEW "{view}" AS {text}')


def files_query(table: str, paths: Sequence[str]) -> str:
    """The query that reads all rows of `paths`, or no row with the columns of `table`."""
    if not paths:
        columns = ", ".join(f'NULL::{kind} AS "{column}"' for column, kind in columns_of(table))
        return f"FROM (SELECT {columns} WHERE false)"
    listed = ", ".join("'" + path.replace("'", "''") + "'" for path in paths)
    return f"FROM read_parquet([{listed}], hive_partitioning = false)"


@cache
def columns_of(table: str) -> tuple[tuple[str, str], ...]:
    """The (name, type) of every column of `table`, in order."""
    found = catalogue().execute(
        "SELECT column_name, data_type FROM duckdb_columns() WHERE database_name = current_database() "
        "AND schema_name = 'main' AND table_name = $table ORDER BY column_index",
        {"table": table},
    )
    return tuple((name, kind) for name, kind in found.fetchall())


def rows(result: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """All rows of an executed query as dicts."""
    columns = [column[0] for column in result.description or ()]
    return [dict(zip(columns, row, strict=True)) for row in result.fetchall()]


def scripts(folder: str) -> Iterable[tuple[str, str]]:
    """The (name, text) of every file directly in `sql/<folder>`, sorted."""
    for path in sorted((sql_folder() / folder).glob("*.sql")):
        yield path.stem, path.read_text(encoding="utf-8")


def _without_comments(name: str) -> str:
    return re.sub(r"--.*", "", sql_text(name))


def _statement(name: str, parameters: Mapping[str, Any] | None) -> tuple[str, dict[str, Any]]:
    text = _without_comments(name)
    return text, {key: (parameters or {})[key] for key in set(_PARAMETER.findall(text))}


def _start(engine: EngineSettings) -> duckdb.DuckDBPyConnection:
    _SPILL.append(tempfile.TemporaryDirectory(prefix="recrawl-", ignore_cleanup_errors=True))
    con = duckdb.connect(
        config={
            "threads": engine.threads,
            "memory_limit": engine.memory_limit,
            "temp_directory": _SPILL[-1].name,
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,
        }
    )
    for _, text in scripts("schema"):
        con.execute(text)
    for _, text in scripts("macros"):
        con.execute(text)
    return con
