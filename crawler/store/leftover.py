"""What may be deleted: files that were replaced, are void, or whose time is over by a rule in the settings.

Each rule names files that no newest publication names, that no stage reads any more, and that were replaced longer ago
than the grace, so that whoever opened them before has ended. Reads listings, publications and footers; deletes nothing.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from crawler.store import log
from crawler.store.files import LEFTOVER_SECONDS
from crawler.store.known_copies import superseded_runs
from crawler.store.lake import Lake, partition_name
from crawler.store.lease import LEASES
from crawler.store.live import LIVE
from crawler.store.log import LogFile
from crawler.store.manifest import CHECKS, CYCLE_TABLES, PUBLICATIONS, Manifest, named
from crawler.store.months import is_merged, last_day, merged_marks
from crawler.store.state import CHECKPOINTS, checkpoint_epochs
from crawler.store.summary import SUMMARIES
from crawler.store.wants import WANTS

LOG_TABLES = {"bucket": CYCLE_TABLES, "shard": ("copy", "near")}
_KEPT_LEASES = 2  # the newest says all; one before it for whoever looks between two listings
_WANT_DAYS = 7  # wants of three days are read
_CHECKPOINT = re.compile(r"e(\d{8})-.+")


@dataclass(frozen=True, slots=True)
class Leftover:
    """A file to delete, with the rule that says so. written_at: seconds since 1970."""

    rule: str
    name: str
    bytes: int
    written_at: float


@dataclass(frozen=True, slots=True)
class Publications:
    """What readers can still see.

    newest: of each cycle. names: of all that were in force within the grace, relative to the layout. checkpoints: by
    bucket the newest that has been published for longer than the grace. superseded: files of publications that nobody
    reads any more.
    """

    newest: tuple[Manifest, ...]
    names: frozenset[str]
    checkpoints: dict[int, int]
    superseded: tuple[str, ...]


class Looker:
    """Looks at one lake at one moment. now: the machine's time in seconds since 1970, which files' ages count from."""

    def __init__(self, lake: Lake, now: float) -> None:
        self.lake = lake
        self.today: date = lake.clock.now().date()
        self._before = now - lake.settings.upkeep.grace_hours * 3600

    def is_old(self, name: str) -> bool:
        """Whether a file was written before the grace began; it may be gone."""
        return self.lake.files.changed_at(name) < self._before

    def publications(self) -> Publications:
        """See there. Raises CorruptLake."""
        newest: list[Manifest] = []
        names: set[str] = set()
        superseded: list[str] = []
        checkpoints: dict[int, int] = {}
        for folder in self.lake.files.folders(PUBLICATIONS):
            place = f"{PUBLICATIONS}/{folder}"
            numbers = self.lake.files.names(place)
            for number, after in zip(numbers, [*numbers[1:], None], strict=True):
                path = f"{place}/{number}"
                if after is not None and self.is_old(f"{place}/{after}"):
                    superseded.append(path)
                    continue
                manifest = Manifest.from_json(self.lake.files.read(path), self.lake.files.path(path))
                names.update(named(manifest))
                if after is None:
                    newest.append(manifest)
                if self.is_old(path):
                    for bucket, files in manifest.buckets.items():
                        checkpoints[bucket] = max(checkpoints.get(bucket, 0), files.checkpoint)
        return Publications(tuple(newest), frozenset(names), checkpoints, tuple(superseded))

    def expired(self) -> frozenset[str]:
        """The plans and links, relative to the layout, whose time is over: publications shall name them no more."""
        return frozenset((*self._expired_plans(), *self._expired_links()))

    def of_partition(self, kind: str, number: int, seen: Publications, expired: Iterable[str]) -> Iterator[Leftover]:
        """What may go of a bucket or shard; the caller holds its lock."""
        partition = partition_name(kind, number)
        settled = self.lake.settled(kind, number)
        for table in LOG_TABLES[kind]:
            found = log.list_table(self.lake.files, self.lake.layout, table, partition)
            counting = set(log.counting(found, settled))
            for file in found:
                if file in counting or file.epoch > settled.last or file.name in seen.names:
                    continue
                is_void = not settled.counts(file.epoch, file.sequence)
                if is_void or any(self.is_old(self._name(each)) for each in _replacing(file, found)):
                    yield from self._old("void" if is_void else "replaced", self._name(file))
            if table == "near":
                yield from self._near(counting, partition)
        if kind == "shard":
            for name in superseded_runs(self.lake, number, settled):
                yield from self._old("checkpoint", name)
        ours = (name for name in expired if f"/{partition}/" in name and name not in seen.names)
        for name in ours:
            yield from self._old(name.partition("/")[0], f"{self.lake.layout}/{name}")
        folder = f"{self.lake.layout}/{LEASES}/{partition}"
        for name in self.lake.files.names(folder)[:-_KEPT_LEASES]:
            yield from self._old("lease", f"{folder}/{name}")
        if kind == "bucket":
            yield from self._checkpoints(number, seen)

    def of_lake(self, seen: Publications) -> Iterator[Leftover]:
        """What may go besides."""
        files = self.lake.files
        for name in seen.superseded:
            yield from self._old("publication", name)
        for rule, kind in (("check", CHECKS), ("summary", SUMMARIES)):
            for folder in files.folders(kind):
                for name in files.names(f"{kind}/{folder}")[:-1]:
                    yield from self._old(rule, f"{kind}/{folder}/{name}")
        for bucket in range(self.lake.buckets):
            partition = partition_name("bucket", bucket)
            wants = f"{self.lake.layout}/{WANTS}/{partition}"
            for folder in files.folders(wants):
                if date.fromisoformat(folder.removeprefix("day=")) + timedelta(days=_WANT_DAYS) < self.today:
                    for name in files.names(f"{wants}/{folder}"):
                        yield from self._old("want", f"{wants}/{folder}/{name}")
            live = f"{self.lake.layout}/{LIVE}/{partition}.json"
            if files.exists(live) and self.lake.ownership("bucket", bucket)[1] is None:
                yield from self._old("progress", live)
        for name in files.leftovers(LEFTOVER_SECONDS):
            yield from self._old("staging", name)

    def _old(self, rule: str, name: str) -> Iterator[Leftover]:
        if self.is_old(name):
            yield Leftover(rule, name, self.lake.files.size(name), self.lake.files.changed_at(name))

    def _name(self, file: LogFile) -> str:
        return f"{self.lake.layout}/{file.name}"

    def _near(self, counting: Iterable[LogFile], partition: str) -> Iterator[Leftover]:
        """Near copies that every merge has made its own."""
        number = int(partition.partition("=")[2])
        copies = self.lake.current("copy", "shard", number, self.lake.settled("shard", number))
        read = max((file.place for file in copies if is_merged(self.lake, file)), default=(0, 0))
        for file in counting:
            if file.place <= read:
                yield from self._old("near", self._name(file))

    def _checkpoints(self, bucket: int, seen: Publications) -> Iterator[Leftover]:
        """All parts of the checkpoints before the oldest that is kept; the pages first, without which there is none."""
        kept = checkpoint_epochs(self.lake, bucket)[-self.lake.settings.upkeep.checkpoints :]
        oldest = min(kept[0] if kept else 0, seen.checkpoints.get(bucket, 0))
        folder = f"{self.lake.layout}/{CHECKPOINTS}/{partition_name('bucket', bucket)}"
        names = sorted(self.lake.files.names(folder), key=lambda name: ("-page" not in name, name))
        for name in names:
            match = _CHECKPOINT.fullmatch(name)
            if match and int(match[1]) < oldest:
                yield from self._old("checkpoint", f"{folder}/{name}")

    def _expired_plans(self) -> Iterator[str]:
        days = self.lake.settings.upkeep.plan_days
        for bucket in range(self.lake.buckets) if days else ():
            plans = f"plan/{partition_name('bucket', bucket)}"
            for folder in self.lake.files.folders(f"{self.lake.layout}/{plans}"):
                if self._is_over(folder.removeprefix("cycle="), days):
                    names = self.lake.files.names(f"{self.lake.layout}/{plans}/{folder}")
                    yield from (f"{plans}/{folder}/{name}" for name in names)

    def _expired_links(self) -> Iterator[str]:
        days = self.lake.settings.upkeep.link_days
        if not days:
            return
        marks = list(merged_marks(self.lake))
        for bucket in range(self.lake.buckets):
            read = min(each.get(bucket, 0) for each in marks)
            for file in self.lake.current("link", "bucket", bucket, self.lake.settled("bucket", bucket)):
                if self._is_over(file.cycle, days) and file.epoch <= read:
                    yield file.name

    def _is_over(self, cycle: str, days: int) -> bool:
        return last_day(cycle) + timedelta(days=days) < self.today


def _replacing(file: LogFile, found: Iterable[LogFile]) -> Iterator[LogFile]:
    """The files that `file` may have been replaced by: a newer revision, or a whole file of its cycle or month."""
    for each in found:
        is_revision = each.first == file.first and each.revision > file.revision
        is_whole = each.whole and each.cycle in (file.cycle, log.month_of(file.cycle)) and each.first != file.first
        if is_revision or (is_whole and each.place >= file.place):
            yield each
