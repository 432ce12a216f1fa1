"""Tables as Parquet files: the schema comes from `sql/schema`, rows go in as Python dicts or as a query's result.

Writes staged files only; giving them a name in the lake is the caller's act.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from crawler.core.errors import CorruptLake
from crawler.core.keys import KEY_BITS
from crawler.core.model import Row
from crawler.store.query import catalogue

# Level 2 takes two thirds of the time of level 3 and 2 % more space; level 1 nothing more of what is written most.
_LEVEL = 2
EVERY_KEY = (0, (1 << KEY_BITS) - 1)
_PART_BYTES = 8 << 20
_BODIES = frozenset({"body"})  # each is its own: a dictionary or a smallest value of them is work for nothing
# Of these a table has hardly any value twice: a dictionary of them costs time and space.
_SINGLE = _BODIES | {
    "url_key", "url", "fetch_url", "title", "etag", "last_modified", "body_bytes",
    "fetched_at", "asked_at", "checked_at", "changed_at",
}  # fmt: skip
# And these no codec makes smaller, nor does any query ask for a range of them; lengths apart from digests cost nothing.
_DIGESTS = frozenset({"body_digest", "text_digest", "copy_digest"})
_RANDOM = _DIGESTS | {"simhash"}
_BATCH_ROWS = 2000  # bodies are among them
_JOINED_ROWS = 65_536


@cache
def arrow_schema(table: str) -> pa.Schema:
    """The Arrow schema of `table`, from its CREATE TABLE. NOT NULL is kept as non-nullable fields."""
    cursor = catalogue()
    schema = cursor.sql(f'FROM main."{table}" LIMIT 0').to_arrow_table().schema
    required = {
        name
        for name, nullable in cursor.execute(
            "SELECT column_name, is_nullable FROM duckdb_columns() WHERE database_name = current_database() "
            "AND table_name = $table",
            {"table": table},
        ).fetchall()
        if not nullable
    }
    return pa.schema([field.with_nullable(field.name not in required) for field in schema])


def rows_table(table: str, rows: Sequence[Row], stamp: Mapping[str, Any] | None = None) -> pa.Table:
    """`rows`, dicts of the columns of `table`, as an Arrow table. stamp: values that are the same in each row.

    Raises ValueError for a NULL where none may be.
    """
    schema, same = arrow_schema(table), stamp or {}
    columns = [
        pa.repeat(pa.scalar(same[field.name], field.type), len(rows))
        if field.name in same
        else pa.array([row.get(field.name) for row in rows], field.type)
        for field in schema
    ]
    _require_values(table, schema, columns)
    return pa.Table.from_arrays(columns, schema=schema)


def write_rows(
    path: Path,
    table: str,
    rows: Sequence[Row],
    metadata: Mapping[str, str] | None = None,
    stamp: Mapping[str, Any] | None = None,
) -> None:
    """Write `rows`, dicts of the columns of `table`, to a Parquet file at `path`. stamp: see `rows_table`.

    Bodies are copied a few megabytes at a time.
    """
    parts = (rows_table(table, part, stamp).to_batches() for part in _parts(rows))
    _write(path, arrow_schema(table), chain.from_iterable(parts), metadata)


def write_table(
    path: Path, found: pa.Table, *, group_rows: int | None = None, metadata: Mapping[str, str] | None = None
) -> None:
    """Write an Arrow table to a Parquet file at `path`.

    group_rows: the rows that a reader of a range must read at least; None: all that come at once.
    """
    _write(path, found.schema, found.to_batches(), metadata, group_rows)


def write_result(
    path: Path, table: str, reader: Iterable[pa.RecordBatch], metadata: Mapping[str, str] | None = None
) -> int:
    """Write a query's result, whose columns are those of `table` by name, to `path`; returns the number of rows."""
    schema = arrow_schema(table)
    rows = 0

    def batches() -> Iterable[pa.RecordBatch]:
        nonlocal rows
        for batch in reader:
            rows += batch.num_rows
            columns = [batch.column(field.name).cast(field.type) for field in schema]
            _require_values(table, schema, columns)
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    _write(path, schema, batches(), metadata)
    return rows


def write_batches(
    path: Path, table: str, batches: Iterable[pa.RecordBatch], metadata: Mapping[str, str] | None = None
) -> None:
    """Write `batches`, which have the columns of `table`, to a Parquet file at `path`, in their order."""
    schema = arrow_schema(table)
    _write(path, schema, (batch.select(schema.names).cast(schema) for batch in batches), metadata)


def join_files(path: Path, table: str, paths: Sequence[str], metadata: Mapping[str, str] | None = None) -> None:
    """Write all rows of the Parquet files `paths` of `table`, one file after the other, to one at `path`."""
    schema = arrow_schema(table)
    rows = _BATCH_ROWS if _BODIES.intersection(schema.names) else _JOINED_ROWS

    def parts() -> Iterator[pa.RecordBatch]:
        waiting: list[pa.RecordBatch] = []
        for each in paths:
            with pq.ParquetFile(each) as file:
                for batch in file.iter_batches(rows):
                    waiting.append(batch.select(schema.names).cast(schema))
                    if sum(map(len, waiting)) >= rows:
                        yield from pa.Table.from_batches(waiting).combine_chunks().to_batches()
                        waiting = []
        yield from pa.Table.from_batches(waiting, schema).combine_chunks().to_batches()

    _write(path, schema, parts(), metadata)


def batches(path: str, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
    """The rows of the Parquet file at `path` in their order, some thousand at a time; all columns or `columns`."""
    with pq.ParquetFile(path) as file:
        yield from file.iter_batches(_BATCH_ROWS, columns=columns)


def spans(counts: Iterable[tuple[int, int]], rows: int) -> list[tuple[int, int]]:
    """Ranges of a 64-bit key, both ends included and all keys covered, of at most `rows` rows where keys allow it.

    counts: keys in their order with the number of their rows; a key is never cut.
    """
    low, high = EVERY_KEY
    found, seen = [], 0
    for key, count in counts:
        if seen and seen + count > rows:
            found.append((low, key - 1))
            low, seen = key, 0
        seen += count
    return [*found, (low, high)]


def largest(path: str, column: str) -> Any:
    """The largest value of `column` in the Parquet file at `path`, from its footer; None without rows."""
    footer = pq.read_metadata(path)
    place = footer.schema.names.index(column)
    groups = (footer.row_group(number).column(place).statistics for number in range(footer.num_row_groups))
    return max((group.max for group in groups), default=None)


def count_rows(path: str) -> int:
    """The rows of the Parquet file at `path`, from its footer."""
    return int(pq.read_metadata(path).num_rows)


def read_metadata(path: str) -> dict[str, str]:
    """The key-value metadata of the Parquet file at `path`. Raises CorruptLake if it is none."""
    try:
        found = pq.read_metadata(path).metadata or {}
    except (pa.ArrowInvalid, OSError) as error:
        raise CorruptLake(path, f"is no readable Parquet file: {error}") from error
    return {key.decode(): value.decode() for key, value in found.items() if not key.startswith(b"ARROW:")}


def _require_values(table: str, schema: pa.Schema, columns: Sequence[pa.Array]) -> None:
    """Parquet forgets NOT NULL, so it is checked where rows are written. Raises ValueError."""
    for field, column in zip(schema, columns, strict=True):
        if not field.nullable and column.null_count:
            raise ValueError(f"{table}.{field.name} is NULL in {column.null_count} of {len(column)} rows")


def _parts(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """`rows` in order, cut where their bodies become too much to be in memory twice."""
    start = size = 0
    for end, row in enumerate(rows):
        size += len(row.get("body") or b"")
        if size > _PART_BYTES:
            yield rows[start : end + 1]
            start, size = end + 1, 0
    yield rows[start:]


def _codec(schema: pa.Schema) -> dict[str, Any]:
    leaves = list(_leaves(schema))
    return {
        "compression": {leaf: "none" if leaf in _RANDOM else "zstd" for leaf in leaves},
        "compression_level": {leaf: _LEVEL for leaf in leaves if leaf not in _RANDOM},
        "column_encoding": {leaf: "DELTA_LENGTH_BYTE_ARRAY" for leaf in leaves if leaf in _DIGESTS} or None,
        "use_dictionary": [leaf for leaf in leaves if leaf not in _RANDOM | _SINGLE],
        "write_statistics": [leaf for leaf in leaves if leaf not in _RANDOM | _BODIES],
    }


def _leaves(schema: pa.Schema) -> Iterator[str]:
    """The paths of the columns of a Parquet file with `schema`."""
    for field in schema:
        if pa.types.is_struct(field.type):
            yield from (f"{field.name}.{path}" for path in _leaves(pa.schema(field.type)))
        elif pa.types.is_list(field.type):
            yield f"{field.name}.list.element"
        else:
            yield field.name


def _write(
    path: Path,
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    metadata: Mapping[str, str] | None,
    group_rows: int | None = None,
) -> None:
    with pq.ParquetWriter(path, schema, store_schema=False, **_codec(schema)) as writer:
        for batch in batches:
            if batch.num_rows:
                writer.write_batch(batch, row_group_size=group_rows)
        writer.add_key_value_metadata(dict(metadata or {}))
