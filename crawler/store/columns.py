"""New columns in the Parquet files of a lake that exists already, for migrations.

Owns the rewriting of files: each is replaced as a whole under its own name, with its rows in their order, its row
groups and its key-value metadata. Knows no schema but what it is told.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from crawler.core.errors import CorruptLake
from crawler.store.files import Files

_LOG = re.compile(r"layout=\d+/([a-z_]+)/(?:bucket|shard)=\d+/(?:cycle|month)=[^/]+/(?:e[^/]+|plan)\.parquet")
_CHECKPOINT = re.compile(r"layout=\d+/checkpoint/bucket=\d+/e\d+-([a-z]+)\.parquet")
_ADMITTED = re.compile(r"layout=\d+/(admitted)/cycle=[^/]+/admitted\.parquet")
_PARTS = {"page": "page", "host": "host_state", "robots": "robots"}


@dataclass(frozen=True, slots=True)
class NewColumn:
    """A column that the next schema version has. value: what rows of before get."""

    name: str
    kind: pa.DataType
    value: object

    @property
    def field(self) -> pa.Field:
        return pa.field(self.name, self.kind, nullable=self.value is None)


def add_columns(files: Files, added: Mapping[str, tuple[NewColumn, ...]]) -> int:
    """Give every file of the tables in `added` those of the columns that it lacks; returns the files rewritten.

    Log, plans, admissions and checkpoints, of every layout. May be run again after a crash: a file is either as it was
    or done. No task may write to the lake meanwhile. Raises CorruptLake for a file that cannot be read.
    """
    rewritten = 0
    for name, table in sorted(_tables(files)):
        if table in added:
            rewritten += _extend(files, name, added[table])
    return rewritten


def _tables(files: Files) -> Iterator[tuple[str, str]]:
    """The name and table of every Parquet file of log, plans, admissions and checkpoints."""
    for name in files.all_names():
        if found := _LOG.fullmatch(name) or _ADMITTED.fullmatch(name):
            yield name, found[1]
        elif found := _CHECKPOINT.fullmatch(name):
            yield name, _PARTS.get(found[1], found[1])


def _extend(files: Files, name: str, columns: tuple[NewColumn, ...]) -> bool:
    try:
        with pq.ParquetFile(files.path(name)) as source:
            present = source.schema_arrow
            missing = [column for column in columns if column.name not in present.names]
            if not missing:
                return False
            schema = pa.schema([*present, *(column.field for column in missing)])
            kept = {key: value for key, value in (source.metadata.metadata or {}).items() if key != b"ARROW:schema"}
            staged = files.staged(".parquet")
            with pq.ParquetWriter(staged, schema, store_schema=False, compression="zstd", compression_level=3) as sink:
                for number in range(source.num_row_groups):
                    group = source.read_row_group(number)
                    values = [pa.repeat(pa.scalar(new.value, new.kind), group.num_rows) for new in missing]
                    sink.write_table(pa.Table.from_arrays([*group.columns, *values], schema=schema))
                sink.add_key_value_metadata(kept)
    except pa.ArrowInvalid as error:
        raise CorruptLake(files.path(name), f"is no readable Parquet file: {error}") from error
    files.put(staged, name)
    return True
