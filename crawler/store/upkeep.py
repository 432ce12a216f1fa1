"""Upkeep: merges small files of old cycles, lets what the rules say expire, and deletes what nothing needs any more.

The only part of the product that deletes files of the log (a purge erases its own revisions). Never takes a row from a
reader: what replaces a file counts first, then publications name it, and the file goes a grace later. May be killed at
any point and run again; a bucket at work is left for the next run. Excludes purges and other upkeeps by a lock of its
own, and an owner of a partition by the partition's lock; it needs no lease, since what it writes has the places of
settled epochs.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import time
from typing import Any

from crawler.core.errors import BucketTaken
from crawler.store.bodies import expire_bodies, spent_bodies
from crawler.store.lake import Lake, partition_name
from crawler.store.lease import this_process
from crawler.store.leftover import LOG_TABLES, Leftover, Looker
from crawler.store.manifest import current_names, named, renew_publications
from crawler.store.months import due_months, merge_month
from crawler.store.purges import all_purges
from crawler.store.reader import write_views_file

PASSES = 2
"""Times that each bucket and each shard is looked at: what is written, then what is deleted."""


@dataclass(slots=True)
class Done:
    """What one rule came to. action: merge, expire or delete. bytes: of the files that it is about.

    oldest: when the oldest of the files was written, as an ISO instant.
    """

    action: str
    rule: str
    files: int = 0
    bytes: int = 0
    oldest: str = ""

    def add(self, size: int, written_at: float, files: int = 1) -> None:
        at = datetime.fromtimestamp(written_at, UTC).isoformat(timespec="seconds")
        self.files, self.bytes, self.oldest = self.files + files, self.bytes + size, min(self.oldest or at, at)


@dataclass(slots=True)
class Report:
    """What an upkeep did, or would do. skipped: what it left alone, and why."""

    dry_run: bool
    rules: dict[tuple[str, str], Done] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)

    def of(self, action: str, rule: str) -> Done:
        return self.rules.setdefault((action, rule), Done(action, rule))

    def rows(self) -> list[dict[str, Any]]:
        return [
            {"action": done.action, "rule": done.rule, "files": done.files, "bytes": done.bytes, "oldest": done.oldest}
            for _, done in sorted(self.rules.items())
        ]

    def to_dict(self) -> dict[str, Any]:
        return {"dry_run": self.dry_run, "rules": self.rows(), "skipped": self.skipped}


def upkeep(
    lake: Lake, *, dry_run: bool = False, now: float | None = None, advance: Callable[[], None] = lambda: None
) -> Report:
    """Merge, let expire and delete; with `dry_run` only say what would be done.

    now: the machine's time in seconds since 1970. advance: called PASSES times for each bucket and each shard. Raises
    BucketTaken while another upkeep or a purge is at work, CorruptLake.
    """
    report = Report(dry_run)
    unfinished = [each.name for each in all_purges(lake) if not each.is_erased]
    if unfinished:
        report.skipped = [f"all: {name} is purged but not erased: recrawl purge --yes {name}" for name in unfinished]
        return report
    with nullcontext() if dry_run else lake.alone():
        looker = Looker(lake, time() if now is None else now)
        _write(lake, looker, report, advance)
        expired = looker.expired()
        _note_expired(lake, looker, report, expired)
        if not dry_run and renew_publications(lake, without=expired):
            write_views_file(lake)
        _delete(lake, looker, report, expired, advance)
    return report


def _write(lake: Lake, looker: Looker, report: Report, advance: Callable[[], None]) -> None:
    """Months that are merged, and captures without the bodies whose time is over."""
    names = _named(looker)
    for kind, number in _held(lake, report, advance):
        for month in list(due_months(lake, kind, number, names, looker.today)):
            oldest = min(lake.files.changed_at(f"{lake.layout}/{file.name}") for file in month.files)
            report.of("merge", month.target.table).add(month.bytes, oldest, len(month.files))
            if not report.dry_run:
                merge_month(lake, month)
        for spent in spent_bodies(lake, number, looker.today) if kind == "bucket" else ():
            name = f"{lake.layout}/{spent.file.name}"
            report.of("expire", "capture").add(spent.bytes, lake.files.changed_at(name))
            if not report.dry_run:
                expire_bodies(lake, spent)


def _note_expired(lake: Lake, looker: Looker, report: Report, expired: frozenset[str]) -> None:
    """What publications name no more from now on; it is deleted a grace later."""
    for name in sorted(expired & current_names(lake, _named(looker))):
        path = f"{lake.layout}/{name}"
        report.of("expire", name.partition("/")[0]).add(lake.files.size(path), lake.files.changed_at(path))


def _named(looker: Looker) -> frozenset[str]:
    return frozenset(name for manifest in looker.publications().newest for name in named(manifest))


def _delete(lake: Lake, looker: Looker, report: Report, expired: Iterable[str], advance: Callable[[], None]) -> None:
    seen = looker.publications()
    for kind, number in _held(lake, report, advance):
        _remove(lake, report, looker.of_partition(kind, number, seen, expired))
        if not report.dry_run:
            _remove_folders(lake, kind, number)
    _remove(lake, report, looker.of_lake(seen))


def _remove(lake: Lake, report: Report, leftovers: Iterable[Leftover]) -> None:
    for each in list(leftovers):
        report.of("delete", each.rule).add(each.bytes, each.written_at)
        if not report.dry_run:
            lake.files.delete(each.name)
            if each.rule in ("plan", "want"):
                lake.files.remove_folder(each.name.rpartition("/")[0])


def _remove_folders(lake: Lake, kind: str, number: int) -> None:
    """Folders of cycles that nothing is left in, which every listing would look into. Only an owner makes them."""
    partition = partition_name(kind, number)
    for table in LOG_TABLES[kind]:
        for folder in lake.files.folders(f"{lake.layout}/{table}/{partition}"):
            lake.files.remove_folder(f"{lake.layout}/{table}/{partition}/{folder}")


def _held(lake: Lake, report: Report, advance: Callable[[], None]) -> Iterator[tuple[str, int]]:
    """Every bucket and shard, each held while it is the caller's; those at work are skipped."""
    for kind in ("bucket", "shard"):
        for number in range(lake.buckets):
            partition = partition_name(kind, number)
            try:
                let_go = lake.guard.hold(partition, this_process()) if not report.dry_run else lambda: None
            except BucketTaken as taken:
                if str(taken) not in report.skipped:
                    report.skipped.append(str(taken))
                advance()
                continue
            try:
                yield kind, number
            finally:
                let_go()
            advance()
