"""The newest files of a bucket: those that can hold rows of the last hours."""

from datetime import datetime

from crawler.store import tables
from crawler.store.lake import Lake
from crawler.store.lease import Settled


def recent_paths(lake: Lake, table: str, bucket: int, settled: Settled, since: datetime) -> list[str]:
    """The files of `table` that can hold rows fetched after `since`, newest first, whatever a checkpoint has folded.

    A bucket has one owner at a time, so files in the order of (epoch, sequence) are in the order of time.
    """
    paths = []
    for path in reversed(lake.paths(lake.current(table, "bucket", bucket, settled))):
        newest = tables.largest(path, "fetched_at")
        if newest is not None and newest <= since:
            break
        paths.append(path)
    return paths
