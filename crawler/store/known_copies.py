"""Known copies: what a digest shard knows of the digests that arrive, without reading all that it ever wrote.

The log of a shard, table copy, grows with every cycle. Of its settled epochs there are runs: files that say of every
digest in the rows of epochs from A up to B who was first and since when its body is held. A run is sorted by digest and
read where it lies: a binary search over a column of 8 bytes a row, then the few rows that it points at, whose whole
digests are compared. So a lookup costs next to nothing however long the run is; that is why it is no Parquet file.

A run is a pure function of the rows of its epochs, and complete exactly if its file exists; whoever writes it writes
the same. The runs of a shard follow each other from epoch 0 on; the log after the last is read as it is. A run is
written when that tail has `lake.checkpoint_min_rows` rows. It takes in the runs before it of which it has at least
`lake.checkpoint_share` of the rows: so the runs are few, and a row is written again a number of times that grows with
the logarithm of what is known. Owns those files; reads table copy.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crawler.store import query
from crawler.store.lake import Lake, partition_name
from crawler.store.lease import Settled
from crawler.store.state import CHECKPOINTS

_NAME = re.compile(r"e(\d{8})-e(\d{8})-copy\.arrow")
_DIGEST_BYTES = 32
_SCHEMA = pa.schema(
    [
        pa.field("digest_key", pa.uint64(), nullable=False),  # the first 8 bytes of the digest
        pa.field("kind", pa.dictionary(pa.int8(), pa.string()), nullable=False),
        pa.field("digest", pa.binary(_DIGEST_BYTES), nullable=False),
        pa.field("first_url", pa.string(), nullable=False),
        pa.field("held_on", pa.date32()),
    ]
)
_KINDS = pa.array(["body", "text"])


@dataclass(frozen=True, slots=True)
class Run:
    """A file of what is known from the rows of epochs >= from_epoch and < to_epoch."""

    from_epoch: int
    to_epoch: int
    name: str


def open_known(lake: Lake, con: duckdb.DuckDBPyConnection, shard: int, settled: Settled) -> list[Run]:
    """Make the table `known_copy` of what runs know of the digests in `arriving`, the view `copy_files` of the tail.

    Returns the runs that were asked.
    """
    runs = _chain(lake, shard, settled)
    from_epoch = runs[-1].to_epoch if runs else 0
    files = lake.current("copy", "shard", shard, settled)
    paths = lake.paths(file for file in files if file.epoch >= from_epoch)
    query.view_files(con, "copy_files", "copy", paths, from_epoch=from_epoch)
    wanted = con.sql("SELECT DISTINCT digest FROM arriving").to_arrow_table()["digest"].combine_chunks()
    found = [rows for run in runs for rows in _look_up(lake, run, wanted.cast(_SCHEMA.field("digest").type))]
    con.register("found_copy", pa.Table.from_batches(found, _SCHEMA))
    query.materialise(con, "known_copy", "fingerprint/known_copy")
    con.unregister("found_copy")
    return runs


def write_run_when_due(
    lake: Lake, con: duckdb.DuckDBPyConnection, shard: int, settled: Settled, runs: list[Run]
) -> int:
    """Write a run of the tail in the view `copy_files`, and of the runs that it takes in, if it is long enough.

    runs: those that `open_known` returned for `settled`. Returns the rows that were written, 0 if nothing was due.
    """
    settings = lake.settings.lake
    ((rows,),) = con.sql("SELECT count(*) FROM copy_files").fetchall()
    if rows < settings.checkpoint_min_rows:
        return 0
    kept, taken = list(runs), []
    while kept and rows >= settings.checkpoint_share * (more := _rows(lake, kept[-1])):
        taken.append(kept.pop())
        rows += more
    from_epoch = kept[-1].to_epoch if kept else 0
    batches = [batch for run in taken for batch in _batches(lake, run)]
    con.register("taken_copy", pa.Table.from_batches(batches, _SCHEMA))
    try:
        return _write(lake, shard, (from_epoch, settled.last + 1), query.arrow(con, "fingerprint/run"))
    finally:
        con.unregister("taken_copy")


def superseded_runs(lake: Lake, shard: int, settled: Settled) -> list[str]:
    """The names of the runs that nobody reads any more, since others say what they say."""
    needed = _chain(lake, shard, settled)
    return [run.name for run in _runs(lake, shard) if run not in needed]


def forget_runs(lake: Lake, shard: int) -> None:
    """Delete all runs of a shard; they follow from its log."""
    for run in _runs(lake, shard):
        lake.files.delete(run.name)


# Files


def _folder(lake: Lake, shard: int) -> str:
    return f"{lake.layout}/{CHECKPOINTS}/{partition_name('shard', shard)}"


def _runs(lake: Lake, shard: int) -> list[Run]:
    folder = _folder(lake, shard)
    matches = map(_NAME.fullmatch, lake.files.names(folder))
    return [Run(int(match[1]), int(match[2]), f"{folder}/{match[0]}") for match in matches if match]


def _chain(lake: Lake, shard: int, settled: Settled) -> list[Run]:
    """The runs that follow each other from epoch 0 on, the longest of those that begin at one epoch."""
    told = [run for run in _runs(lake, shard) if run.to_epoch <= settled.last + 1]
    longest = {run.from_epoch: run for run in sorted(told, key=lambda run: run.to_epoch)}
    chain: list[Run] = []
    while (epoch := chain[-1].to_epoch if chain else 0) in longest:
        chain.append(longest[epoch])
    return chain


def _batches(lake: Lake, run: Run) -> Iterator[pa.RecordBatch]:
    """The rows of a run, which stay where they are until they are looked at."""
    reader = pa.ipc.open_file(pa.memory_map(lake.files.path(run.name)))
    for number in range(reader.num_record_batches):
        yield reader.get_batch(number)


def _rows(lake: Lake, run: Run) -> int:
    return sum(batch.num_rows for batch in _batches(lake, run))


def _write(lake: Lake, shard: int, epochs: tuple[int, int], rows: pa.RecordBatchReader) -> int:
    """Write the run of `rows`, which are sorted by digest; returns their number."""
    staged = lake.files.staged(".arrow")
    written = 0
    with pa.OSFile(str(staged), "wb") as file, pa.ipc.new_file(file, _SCHEMA) as writer:
        for batch in rows:
            digests = batch["digest"].cast(_SCHEMA.field("digest").type)
            kinds = pa.DictionaryArray.from_arrays(pc.index_in(batch["kind"], _KINDS).cast(pa.int8()), _KINDS)
            columns = [pa.array(_keys(digests)), kinds, digests, batch["first_url"], batch["held_on"]]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=_SCHEMA))
            written += batch.num_rows
    lake.files.create(staged, f"{_folder(lake, shard)}/e{epochs[0]:08d}-e{epochs[1]:08d}-copy.arrow")
    return written


# Rows


def _keys(digests: pa.FixedSizeBinaryArray) -> "np.ndarray[tuple[int], np.dtype[np.uint64]]":
    """The first 8 bytes of each digest as a number, which sorts like the digest."""
    if not len(digests):
        return np.empty(0, np.uint64)
    start = digests.offset * _DIGEST_BYTES
    content = np.frombuffer(digests.buffers()[1], np.uint8, len(digests) * _DIGEST_BYTES, start)
    return content.reshape(-1, _DIGEST_BYTES)[:, :8].copy().view(">u8").ravel().astype(np.uint64)


def _look_up(lake: Lake, run: Run, wanted: pa.FixedSizeBinaryArray) -> Iterator[pa.RecordBatch]:
    """The rows of a run whose digest is among `wanted`."""
    keys = np.unique(_keys(wanted))
    for batch in _batches(lake, run):
        known = batch["digest_key"].to_numpy()
        low, high = known.searchsorted(keys, "left"), known.searchsorted(keys, "right")
        counts = high - low
        places = np.arange(counts.sum()) + np.repeat(low - (counts.cumsum() - counts), counts)
        rows = batch.take(pa.array(places))
        yield rows.filter(pc.is_in(rows["digest"], value_set=wanted))
