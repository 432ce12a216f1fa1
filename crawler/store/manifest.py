"""Manifests: exactly which files make up a cycle, as check read them and as publish names them to readers.

A check writes `check/cycle=D/NNNN.json`, a publication `publish/cycle=D/NNNN.json`, each created if absent. Readers
take each cycle's newest publication and read only the files it names.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from crawler.core.cycle import Cycle
from crawler.core.errors import CorruptLake, NotPlanned
from crawler.store import log, tables
from crawler.store.admission import admission_name, read_admission
from crawler.store.lake import Lake
from crawler.store.lease import Settled
from crawler.store.log import LogFile
from crawler.store.marks import read_marks
from crawler.store.plans import plan_names
from crawler.store.state import checkpoint_epochs

CYCLE_TABLES = (
    "observation",
    "link",
    "capture",
    "robots",
    "host_state",
    "url",
    "duplicate",
    "mention",
    "rejected",
    "discovery",
)
TAIL_TABLES = ("url", "duplicate", "mention")
CHECKS = "check"
PUBLICATIONS = "publish"


@dataclass(frozen=True, slots=True)
class BucketFiles:
    """One bucket of a manifest; file names are relative to the lake's layout folder.

    settled: the last epoch that was read. checkpoint: the epoch of its newest checkpoint, 0 without one. files: those
    of the cycle by table. tail: those of any cycle that the checkpoint does not hold, by table.
    """

    settled: int
    checkpoint: int
    files: dict[str, list[str]]
    tail: dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Manifest:
    """The files of one cycle. failed: buckets without a finished fetch; lagging: what else is not done, in words."""

    cycle: str
    created_at: str
    buckets: dict[int, BucketFiles]
    copies: list[str]
    plans: list[str]
    admitted: str
    failed: list[int] = field(default_factory=list)
    lagging: list[str] = field(default_factory=list)
    violations: dict[str, int] = field(default_factory=dict)
    warnings: dict[str, int] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> bytes:
        fields = {name: getattr(self, name) for name in self.__slots__}
        fields["buckets"] = {
            str(bucket): {name: getattr(files, name) for name in files.__slots__}
            for bucket, files in self.buckets.items()
        }
        return json.dumps(fields, indent=1).encode()

    @classmethod
    def from_json(cls, content: bytes, path: str) -> "Manifest":
        try:
            fields = json.loads(content)
            fields["buckets"] = {int(bucket): BucketFiles(**files) for bucket, files in fields["buckets"].items()}
            return cls(**fields)
        except (ValueError, KeyError, TypeError) as error:
            raise CorruptLake(path, f"is no manifest: {error}") from error


def gather(lake: Lake, cycle: Cycle) -> Manifest:
    """What makes up `cycle` now: the files that count, and which buckets have no finished fetch. Raises NotPlanned."""
    if read_admission(lake, cycle) is None:
        raise NotPlanned("check", cycle, "the admission")
    buckets: dict[int, BucketFiles] = {}
    failed: list[int] = []
    finished: dict[int, int] = {}
    for bucket in range(lake.buckets):
        settled = lake.settled("bucket", bucket)
        files = {table: of_cycle(lake, table, "bucket", bucket, settled, cycle) for table in CYCLE_TABLES}
        whole = next((file for file in reversed(files["observation"]) if file.whole), None)
        if whole is None or not is_complete(lake, whole, cycle):
            failed.append(bucket)
            continue
        finished[bucket] = whole.epoch
        epochs = [epoch for epoch in checkpoint_epochs(lake, bucket) if epoch <= settled.last + 1]
        checkpoint = epochs[-1] if epochs else 0
        tail = {
            table: [file.name for file in lake.current(table, "bucket", bucket, settled) if file.epoch >= checkpoint]
            for table in TAIL_TABLES
        }
        named = {table: [file.name for file in found] for table, found in files.items() if found}
        buckets[bucket] = BucketFiles(settled.last, checkpoint, named, tail)
    copies = [
        file.name
        for shard in range(lake.buckets)
        for file in of_cycle(lake, "copy", "shard", shard, lake.settled("shard", shard), cycle)
    ]
    plans = [name.removeprefix(f"{lake.layout}/") for bucket in buckets for name in plan_names(lake, cycle, bucket)]
    return Manifest(
        cycle=str(cycle),
        created_at=lake.clock.now().isoformat(),
        buckets=buckets,
        copies=copies,
        plans=plans,
        admitted=admission_name(lake, cycle).removeprefix(f"{lake.layout}/"),
        failed=failed,
        lagging=_lagging(lake, finished),
    )


def is_complete(lake: Lake, whole: LogFile, cycle: Cycle) -> bool:
    """Whether a whole file of observations says that the fetch of `cycle` had nothing left to do."""
    told = tables.read_metadata(lake.path(whole))
    return str(cycle) in json.loads(told["cycles"]) if whole.is_month else told.get("complete") == "true"


def of_cycle(lake: Lake, table: str, kind: str, number: int, settled: Settled, cycle: Cycle) -> list[LogFile]:
    """The files that count and can hold rows of `cycle`, oldest first."""
    merged = lake.merged(table, kind, number, settled, cycle)
    return merged + lake.current(table, kind, number, settled, cycle)


def newest(lake: Lake, folder: str, cycle: str) -> tuple[int, Manifest] | None:
    """The number and content of a cycle's newest check or publication, or None."""
    names = lake.files.names(f"{folder}/cycle={cycle}")
    if not names:
        return None
    path = f"{folder}/cycle={cycle}/{names[-1]}"
    return int(names[-1].partition(".")[0]), Manifest.from_json(lake.files.read(path), lake.files.path(path))


def create(lake: Lake, folder: str, manifest: Manifest, number: int) -> bool:
    """Create a check or publication with that number unless there is one; says whether it was ours."""
    return lake.files.create_bytes(manifest.to_json(), f"{folder}/cycle={manifest.cycle}/{number:04d}.json")


def published(lake: Lake) -> list[Manifest]:
    """The newest publication of every cycle that has one, by cycle."""
    cycles = [name.removeprefix("cycle=") for name in lake.files.folders(PUBLICATIONS)]
    found = [newest(lake, PUBLICATIONS, cycle) for cycle in cycles]
    return [entry[1] for entry in found if entry]


def renewed(lake: Lake, manifest: Manifest, *, without: frozenset[str] = frozenset()) -> Manifest:
    """The manifest with the newest revision, or the month, of every file that it names.

    without: names, relative to the layout, that it shall name no more.
    """
    newest_names = _NewestNames(lake)

    def new(named: Iterable[str]) -> list[str]:
        current = dict.fromkeys(newest_names(name) for name in named if name not in without)
        return [name for name in current if name not in without]

    buckets = {
        bucket: replace(
            files,
            files={table: new(named) for table, named in files.files.items()},
            tail={table: new(named) for table, named in files.tail.items()},
        )
        for bucket, files in manifest.buckets.items()
    }
    return replace(manifest, buckets=buckets, copies=new(manifest.copies), plans=new(manifest.plans))


def renew_publications(
    lake: Lake, *, without: frozenset[str] = frozenset(), advance: Callable[[], None] = lambda: None
) -> int:
    """Publish again every cycle whose newest publication names what is not the newest; returns how many.

    without: see `renewed`. advance: called after each cycle.
    """
    count = 0
    for folder in lake.files.folders(PUBLICATIONS):
        while (found := newest(lake, PUBLICATIONS, folder.removeprefix("cycle="))) is not None:
            number, manifest = found
            current = renewed(lake, manifest, without=without)
            if current == manifest:
                break
            if create(lake, PUBLICATIONS, current, number + 1):
                count += 1
                break
        advance()
    return count


def current_names(lake: Lake, names: Iterable[str]) -> set[str]:
    """The newest revision, or the month, of each of `names`."""
    return set(map(_NewestNames(lake), names))


def named(manifest: Manifest) -> Iterator[str]:
    """All files that a manifest names but its checkpoints, relative to the layout; some more than once."""
    yield from (*manifest.copies, *manifest.plans, manifest.admitted)
    for files in manifest.buckets.values():
        yield from (name for names in (*files.files.values(), *files.tail.values()) for name in names)


class _NewestNames:
    """By the name of a file of the log that of its newest revision, or of the month that it was merged into."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._by_folder: dict[tuple[str, str, str], dict[str, LogFile]] = {}

    def __call__(self, name: str) -> str:
        file = log.parse_name(name)
        if file is None:
            return name
        months = self._folder(file, log.month_of(file.cycle)).values()
        month = max((each for each in months if each.whole), key=lambda each: each.place, default=None)
        if month is not None and file.place <= month.place:
            return month.name
        found = self._folder(file, file.cycle).get(file.first.name)
        return found.name if found else name

    def _folder(self, file: LogFile, cycle: str) -> dict[str, LogFile]:
        """By first name the newest revisions of the files beside `file` in the folder of a cycle or month."""
        key = (file.table, file.partition, cycle)
        if key not in self._by_folder:
            found = log.list_cycle(self._lake.files, self._lake.layout, *key)
            self._by_folder[key] = {each.first.name: each for each in log.newest_revisions(found)}
        return self._by_folder[key]


def _lagging(lake: Lake, finished: dict[int, int]) -> list[str]:
    """Shards and merges that have not yet read what the finished fetches wrote."""
    found = []
    for table, kind, word in (("copy", "shard", "fingerprint"), ("url", "bucket", "merge")):
        for number in range(lake.buckets):
            marks = read_marks(lake, table, kind, number, lake.settled(kind, number))
            if _behind(marks, finished.items()):
                found.append(f"{word}[{number}]")
    return found


def _behind(marks: dict[int, int], finished: Iterable[tuple[int, int]]) -> bool:
    return any(marks.get(bucket, 0) < epoch for bucket, epoch in finished)
