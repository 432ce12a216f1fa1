"""Manifests: exactly which files make up a cycle, as check read them and as publish names them to readers.

A check writes `check/cycle=D/NNNN.json`, a publication `publish/cycle=D/NNNN.json`, each created if absent. Readers
take each cycle's newest publication and read only the files it names.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from crawler.core.cycle import Cycle
from crawler.core.errors import CorruptLake, NotPlanned
from crawler.store import log, tables
from crawler.store.admission import admission_name, read_admission
from crawler.store.lake import Lake
from crawler.store.marks import read_marks
from crawler.store.plans import plan_name
from crawler.store.state import checkpoint_epochs

CYCLE_TABLES = ("observation", "link", "capture", "robots", "host_state", "url", "duplicate", "mention", "rejected", "discovery")
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
        files = {table: lake.current(table, "bucket", bucket, settled, cycle) for table in CYCLE_TABLES}
        whole = next((file for file in reversed(files["observation"]) if file.whole), None)
        if whole is None or tables.read_metadata(lake.path(whole)).get("complete") != "true":
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
        for file in lake.current("copy", "shard", shard, lake.settled("shard", shard), cycle)
    ]
    plans = [plan_name(lake, cycle, bucket).removeprefix(f"{lake.layout}/") for bucket in buckets]
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


def renewed(lake: Lake, manifest: Manifest) -> Manifest:
    """The manifest with the newest revision of every file that it names."""
    newest_names = _NewestNames(lake)
    buckets = {
        bucket: replace(
            files,
            files={table: list(map(newest_names, named)) for table, named in files.files.items()},
            tail={table: list(map(newest_names, named)) for table, named in files.tail.items()},
        )
        for bucket, files in manifest.buckets.items()
    }
    return replace(manifest, buckets=buckets, copies=list(map(newest_names, manifest.copies)))


def renew_publications(lake: Lake) -> None:
    """Publish again, with the newest revisions, every cycle whose newest publication names older ones."""
    for folder in lake.files.folders(PUBLICATIONS):
        while (found := newest(lake, PUBLICATIONS, folder.removeprefix("cycle="))) is not None:
            number, manifest = found
            current = renewed(lake, manifest)
            if current == manifest or create(lake, PUBLICATIONS, current, number + 1):
                break


class _NewestNames:
    """By the name of a file of the log that of its newest revision."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._by_folder: dict[str, dict[str, str]] = {}

    def __call__(self, name: str) -> str:
        folder = name.rpartition("/")[0]
        if folder not in self._by_folder:
            table, partition, cycle = folder.split("/")
            found = log.list_cycle(self._lake.files, self._lake.layout, table, partition, cycle.removeprefix("cycle="))
            self._by_folder[folder] = {file.first.name: file.name for file in log.newest_revisions(found)}
        return self._by_folder[folder].get(log.first_name(name), name)


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
