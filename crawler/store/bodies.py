"""Bodies whose time is over: versions that their page does not say any more, older than `upkeep.capture_days`.

Kept whatever its age is the body of what a page says now, and one that another page has as well. So that no page relies
on a body that goes, copies of other pages count it as kept only for half of that time (see `held_since`). A file that
has enough of them gets a revision without them; the caller holds the lock of its bucket.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta

import pyarrow as pa

from crawler.core.config import Settings
from crawler.store import query, tables
from crawler.store.lake import Lake
from crawler.store.log import LogFile
from crawler.store.state import open_state

SPENT_SHARE = 0.2
"""Share of a file's bodies that must be spent before it is written anew: fewer are not worth the writing."""


@dataclass(frozen=True, slots=True)
class Spent:
    """A file of captures and those of its rows that go, by URL and instant; bytes: of the file."""

    file: LogFile
    rows: frozenset[tuple[int, datetime]]
    bytes: int


def held_since(settings: Settings, today: date) -> date:
    """The first cycle whose copies other pages may rely on."""
    days = settings.upkeep.capture_days
    return today - timedelta(days=days // 2) if days else date.min


def spent_bodies(lake: Lake, bucket: int, today: date) -> Iterator[Spent]:
    """The files of a bucket's captures of which a good part is spent."""
    days = lake.settings.upkeep.capture_days
    before = datetime.combine(today - timedelta(days=days), time(), UTC)
    settled = lake.settled("bucket", bucket)
    files = lake.current("capture", "bucket", bucket, settled)
    old = [file for file in files if days and file.cycle < f"{before:%Y-%m-%d}"]
    if not old:
        return
    con = lake.connect()
    open_state(lake, con, bucket, settled)
    copies = [
        lake.path(file)
        for shard in range(lake.buckets)
        for file in lake.current("copy", "shard", shard, lake.settled("shard", shard))
    ]
    query.view_files(con, "capture_files", "capture", lake.paths(old))
    query.view_files(con, "copy_files", "copy", copies)
    query.materialise(con, "spent_body", "upkeep/spent_body", {"before": before})
    for file in old:
        path = lake.path(file)
        query.view_files(con, "capture_file", "capture", [path])
        rows = frozenset(query.run(con, "upkeep/spent_in").fetchall())
        if rows and len(rows) >= SPENT_SHARE * tables.count_rows(path):
            yield Spent(file, rows, lake.files.size(f"{lake.layout}/{file.name}"))


def expire_bodies(lake: Lake, spent: Spent) -> None:
    """Write the file's next revision, without the rows that go."""
    path = lake.path(spent.file)

    def kept() -> Iterator[pa.RecordBatch]:
        for batch in tables.batches(path):
            keys = zip(batch["url_key"].to_pylist(), batch["fetched_at"].to_pylist(), strict=True)
            yield batch.filter(pa.array([key not in spent.rows for key in keys], pa.bool_()))

    staged = lake.files.staged(".parquet")
    tables.write_batches(staged, "capture", kept(), tables.read_metadata(path))
    revised = replace(spent.file, revision=spent.file.revision + 1)
    lake.files.put(staged, f"{lake.layout}/{revised.name}")
