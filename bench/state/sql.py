"""The statements of this folder, by name; their parameters are bound as those of `sql/` are."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from crawler.store import query, tables

_FOLDER = Path(__file__).parent
_PARAMETER = re.compile(r"\$([a-z_]+)")


def open_web(con: query.Connection) -> query.Connection:
    """Give `con` the names and keys of the generated web."""
    con.execute(_text("macros"))
    return con


def keep(con: query.Connection, table: str, name: str, parameters: Mapping[str, Any]) -> None:
    """Keep the result of `<name>.sql` as the temporary table `table`."""
    con.execute(f'CREATE OR REPLACE TEMP TABLE "{table}" AS {_text(name)}', _named(name, parameters))


def arrow(con: query.Connection, name: str, parameters: Mapping[str, Any]) -> pa.RecordBatchReader:
    """The result of `<name>.sql` as a stream of Arrow batches."""
    return con.sql(_text(name), params=_named(name, parameters)).to_arrow_reader()


def run(con: query.Connection, name: str, parameters: Mapping[str, Any], frame: str = "{}") -> Any:
    """Execute `<name>.sql`. frame: the statement that it is a part of, `{}` where it stands."""
    return con.execute(frame.format(_text(name)), _named(name, parameters))


def keep_rows_of(con: query.Connection, table: str, name: str, rows_of: str, parameters: Mapping[str, Any]) -> None:
    """As `keep`, with all columns of the product's table `rows_of`: those that the statement does not know are NULL."""
    keep(con, table, name, parameters)
    present = set(con.table(table).columns)
    for column, kind in query.columns_of(rows_of):
        if column not in present:
            con.execute(f'ALTER TABLE "{table}" ADD COLUMN "{column}" {kind}')


def write(path: Path, table: str, reader: pa.RecordBatchReader, metadata: Mapping[str, str] | None = None) -> int:
    """Write rows of the product's table `table`; columns that they do not have are NULL. Returns their number."""
    return tables.write_result(path, table, _whole(table, reader), metadata)


def _whole(table: str, reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    schema = tables.arrow_schema(table)
    missing = [field for field in schema if field.name not in reader.schema.names]
    for batch in reader:
        for field in missing:
            batch = batch.append_column(field.name, pa.nulls(batch.num_rows, field.type))
        yield batch


@cache
def _text(name: str) -> str:
    return re.sub(r"--.*", "", (_FOLDER / f"{name}.sql").read_text(encoding="utf-8"))


def _named(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {key: parameters[key] for key in set(_PARAMETER.findall(_text(name)))}
