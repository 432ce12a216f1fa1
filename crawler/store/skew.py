"""Skew: a bucket with far more URLs, or far more work left, than the others, and the host that makes it so.

A host is in one bucket, so one giant host, or a few, can make one fetch last long after all others. Reads the footers
of checkpoints and of the log, and of a bucket that stands out its hosts. Writes nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from crawler.store import overview, query, tables
from crawler.store.lake import Lake
from crawler.store.log import LogFile
from crawler.store.overview import State
from crawler.store.state import checkpoint_epochs, checkpoint_name

TIMES_MEDIAN = 4
LEAST = 1_000
"""URLs below which no bucket is called large."""


@dataclass(frozen=True, slots=True)
class Skew:
    """A bucket that stands out. of: known URLs or open URLs. host: the largest in it, with host_urls of the count."""

    bucket: int
    of: str
    count: int
    median: float
    host: str
    host_urls: int


def skews(lake: Lake, *, least: int = LEAST) -> list[Skew]:
    """The buckets with more than TIMES_MEDIAN times the median of known URLs, or of what the newest cycle left open."""
    known = {bucket: _Known(lake, bucket) for bucket in range(lake.buckets)}
    found = _outliers("known URLs", {bucket: each.rows for bucket, each in known.items()}, least)
    newest = [part for part in overview.partitions(lake, last=1) if part.state != State.RUNNING]
    found += _outliers("open URLs", {part.bucket: part.open for part in newest}, least)
    return [Skew(bucket, of, count, middle, *known[bucket].largest_host(lake)) for bucket, of, count, middle in found]


class _Known:
    """What a bucket knows: the files of its newest checkpoint and of what became known since."""

    def __init__(self, lake: Lake, bucket: int) -> None:
        settled = lake.settled("bucket", bucket)
        epoch = max((each for each in checkpoint_epochs(lake, bucket) if each <= settled.last + 1), default=0)
        self.page = [lake.files.path(checkpoint_name(lake, bucket, epoch, "page"))] if epoch else []
        later: list[LogFile] = lake.current("url", "bucket", bucket, settled)
        self.later = lake.paths(file for file in later if file.epoch >= epoch)
        self.rows = sum(map(tables.count_rows, [*self.page, *self.later]))

    def largest_host(self, lake: Lake) -> tuple[str, int]:
        con = lake.connect()
        query.view_files(con, "page_files", "page", self.page)
        query.view_files(con, "url_files", "url", self.later)
        query.view_query(con, "counted_url", "upkeep/counted_url")
        ((host, urls),) = query.run(con, "upkeep/largest_host").fetchall() or [("", 0)]
        return str(host), int(urls)


def _outliers(of: str, counts: Mapping[int, int], least: int) -> list[tuple[int, str, int, float]]:
    middle = median(counts.values()) if counts else 0.0
    most = max(TIMES_MEDIAN * middle, least)
    return [(bucket, of, count, float(middle)) for bucket, count in sorted(counts.items()) if count > most]
