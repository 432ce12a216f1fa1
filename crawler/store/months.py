"""Months: the files of old cycles of a table and partition as one, so that their number is bounded over years.

A month's file has the place (epoch and sequence) of the newest file among those that it holds, and replaces them: all
files of the month's cycles up to that place. It is a pure function of settled files, and it counts for stages from the
moment it has its name. Its rows keep their cycle, epoch and sequence, so no mark, checkpoint or query sees a
difference. Its metadata is that of its newest file; of observations it says which cycles are complete.

The caller holds the partition's lock: an owner that folds one of the cycles just now would write its rows twice.
"""

import json
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from crawler.store import log, tables
from crawler.store.lake import Lake
from crawler.store.log import LogFile
from crawler.store.manifest import CYCLE_TABLES
from crawler.store.marks import parse_marks, read_marks

TABLES = {"bucket": CYCLE_TABLES, "shard": ("copy",)}


@dataclass(frozen=True, slots=True)
class Month:
    """Files that can be one. cycle: YYYY-MM. bytes: of all of them."""

    cycle: str
    files: tuple[LogFile, ...]
    bytes: int

    @property
    def target(self) -> LogFile:
        last = self.files[-1]
        return LogFile(last.table, last.partition, self.cycle, last.epoch, last.sequence, whole=True)


def due_months(lake: Lake, kind: str, number: int, named: frozenset[str], today: date) -> Iterator[Month]:
    """The months of a partition that are over, published whole, and of several files which are not too large.

    named: what the newest publications name. Readers must see what they have seen, so a month with a file that is not
    published yet waits.
    """
    settings = lake.settings.upkeep
    settled = lake.settled(kind, number)
    for table in TABLES[kind]:
        months: dict[str, list[LogFile]] = {}
        for file in lake.current(table, kind, number, settled):
            months.setdefault(log.month_of(file.cycle), []).append(file)
        for cycle, files in sorted(months.items()):
            size = sum(lake.files.size(f"{lake.layout}/{file.name}") for file in files)
            is_over = last_day(cycle) + timedelta(days=settings.merge_after_days) < today
            if len(files) < 2 or not is_over or size > settings.merge_max_bytes:
                continue
            if all(file.name in named for file in files) and (table != "copy" or is_merged(lake, files[-1])):
                yield Month(cycle, tuple(files), size)


def merge_month(lake: Lake, month: Month) -> int:
    """Write the file of a month; returns its bytes. Doing it again writes the same."""
    target, paths = month.target, lake.paths(month.files)
    told = tables.read_metadata(paths[-1])
    if target.table == "observation":
        told = {"cycles": json.dumps(_complete(lake, month.files))}
    staged = lake.files.staged(".parquet")
    tables.join_files(staged, target.table, paths, told)
    name = f"{lake.layout}/{target.name}"
    lake.files.create(staged, name)
    return lake.files.size(name)


def last_day(cycle: str) -> date:
    """The last day of a cycle or a month."""
    if cycle != log.month_of(cycle):
        return date.fromisoformat(cycle)
    first = date.fromisoformat(f"{cycle}-01")
    return first.replace(day=monthrange(first.year, first.month)[1])


def is_merged(lake: Lake, copies: LogFile) -> bool:
    """Whether the merges of all buckets have read what a file of `copy`, and all before it, speak of."""
    spoken = parse_marks(tables.read_metadata(lake.path(copies)))
    return all(spoken[source] <= marks.get(source, 0) for marks in merged_marks(lake) for source in spoken)


def merged_marks(lake: Lake) -> Iterator[dict[int, int]]:
    """The marks of each bucket's merge."""
    for bucket in range(lake.buckets):
        yield read_marks(lake, "url", "bucket", bucket, lake.settled("bucket", bucket))


def _complete(lake: Lake, files: tuple[LogFile, ...]) -> list[str]:
    """The cycles whose fetch had nothing left to do."""
    found: set[str] = set()
    for file in files:
        told = tables.read_metadata(lake.path(file))
        found.update(json.loads(told.get("cycles", "[]")))
        if told.get("complete") == "true":
            found.add(file.cycle)
    return sorted(found)
