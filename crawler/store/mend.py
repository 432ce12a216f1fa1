"""Mends of a lake: what `recrawl doctor --repair` does, each with what it costs.

Deletes what counts for nobody, ends the leases of dead owners, makes what publications lack, and sets damaged files
aside so that a lake without a backup can go on. What is set aside keeps its name below `aside/`; nothing that counts is
deleted. Each mend is small, may be repeated, and is told before it is done.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from time import time

from crawler.core.cycle import Cycle
from crawler.core.errors import CorruptLake
from crawler.store.doctor import ASIDE, Damage, damage
from crawler.store.lake import Lake, partition_name
from crawler.store.lease import LEASES
from crawler.store.manifest import (
    PUBLICATIONS,
    TAIL_TABLES,
    Manifest,
    create,
    named,
    newest,
    published,
    renew_publications,
)
from crawler.store.reader import VIEWS_FILE, write_views_file
from crawler.store.state import checkpoint_epochs
from crawler.store.summary import SUMMARIES, write_summary

REST = timedelta(hours=1)
"""Time after which the lease of a dead owner is ended: its last request, and the delay owed after it, are over then."""

_LOST = {
    "observation": "what came of asking; with no older file of the cycle its URLs are asked for again when they "
    "are due, and count as never asked in it",
    "link": "what its pages link to; what merges have read stays known, the rest is found when the pages change",
    "capture": "bodies, for ever; pages that change are stored again",
    "robots": "which robots.txt decided; it is read again before the next page",
    "host_state": "delays and penalties learnt; they are learnt again, from the settings' delay on",
    "url": "when and where URLs were found; those that no checkpoint holds are found again by the next merge",
    "duplicate": "which pages are copies; they may be fetched and stored as if they were not",
    "mention": "in-links and hints of sitemaps of that merge",
    "rejected": "counts of what rules stopped",
    "discovery": "counts of what a fetch found",
    "copy": "who had a content first; a copy that arrives later may be stored again",
    "near": "near copies that no merge has read",
    "checkpoint": "nothing: the checkpoint before and the log fold to the same, once more slowly",
    "plan": "why URLs were left out; a cycle that is still open cannot go on in that bucket, the next one will",
    "survey": "nothing: it is made again",
}


@dataclass(frozen=True, slots=True)
class Mend:
    """One thing to do. what: in words. costs: what is lost by it. act: does it. asks: whether rows that count go."""

    what: str
    costs: str
    act: Callable[[], object]
    asks: bool = False

    def to_dict(self) -> dict[str, object]:
        return {"what": self.what, "costs": self.costs, "asks": self.asks}


def mends(lake: Lake, *, now_seconds: float | None = None) -> list[Mend]:
    """What can be mended without a backup, in the order in which it should be done. Writes nothing."""
    now = time() if now_seconds is None else now_seconds
    found = damage(lake, now)
    made = [*_set_aside(lake, found), *_clean(lake, found), *_leases(lake, now)]
    return made if found.torn else [*made, *_publications(lake)]


def _set_aside(lake: Lake, found: Damage) -> Iterator[Mend]:
    """Damaged tables. Damaged leases, admissions, publications and metadata only a backup can mend."""
    for name in found.torn:
        table = name.removeprefix(f"{lake.layout}/").partition("/")[0]
        if name.endswith(".parquet") and table in _LOST:
            what = f"set {name} aside, which cannot be read; then recrawl run of its cycle publishes what is left"
            yield Mend(what, f"lost: {_LOST[table]}", _mover(lake, name), asks=True)


def _clean(lake: Lake, found: Damage) -> Iterator[Mend]:
    for names, what in (
        ([*found.void, *found.torn_void], "void, written by owners that had been taken over from"),
        (found.staging, "begun and never named"),
    ):
        if names:
            yield Mend(f"delete {len(names)} files: {what}", "nothing", _deleter(lake, names))


def _leases(lake: Lake, now: float) -> Iterator[Mend]:
    """The leases of owners that died a while ago: ended, as the next owner would."""
    for kind in ("bucket", "shard"):
        for number in range(lake.buckets):
            try:
                lease, holder = lake.ownership(kind, number)
            except CorruptLake:
                continue
            partition = partition_name(kind, number)
            name = f"{lake.layout}/{LEASES}/{partition}/e{lease.epoch:08d}.json"
            if lease.holder is None or holder is not None or now - lake.files.changed_at(name) < REST.total_seconds():
                continue
            what = f"end the lease of {partition}, whose owner {lease.holder} ended without a release"
            yield Mend(what, "nothing: what it wrote counts", _releaser(lake, kind, number, str(lease.cycle)))


def _publications(lake: Lake) -> Iterator[Mend]:
    """What publications name and is gone, summaries and the file of views."""
    manifests = published(lake)
    names = {name for manifest in manifests for name in _publishable(manifest)}
    is_gone = any(not lake.files.exists(f"{lake.layout}/{name}") for name in names)
    if is_gone or any(_standing(lake, manifest) != manifest for manifest in manifests):
        what = "publish again without the files that publications name and that are gone"
        costs = "readers see no rows of them; a backup of these files would bring them back"
        yield Mend(what, costs, lambda: republish(lake), asks=True)
    for manifest in manifests:
        found = newest(lake, PUBLICATIONS, manifest.cycle)
        number = found[0] if found else 0
        if not lake.files.names(f"{SUMMARIES}/cycle={manifest.cycle}"):
            cycle = Cycle.parse(manifest.cycle)
            yield Mend(f"summarise {cycle} again", "nothing", _summariser(lake, cycle, number))
    if manifests and not lake.files.exists(VIEWS_FILE):
        yield Mend(f"write {VIEWS_FILE} again", "nothing", lambda: write_views_file(lake))


def republish(lake: Lake) -> None:
    """Publish every cycle again without what is gone."""
    names = {name for manifest in published(lake) for name in _publishable(manifest)}
    renew_publications(
        lake, without=frozenset(name for name in names if not lake.files.exists(f"{lake.layout}/{name}"))
    )
    for folder in lake.files.folders(PUBLICATIONS):
        while (found := newest(lake, PUBLICATIONS, folder.removeprefix("cycle="))) is not None:
            number, manifest = found
            current = _standing(lake, manifest)
            if current == manifest or create(lake, PUBLICATIONS, current, number + 1):
                break
    write_views_file(lake)


def _publishable(manifest: Manifest) -> set[str]:
    """The files that a publication names and could do without."""
    return {*named(manifest)} - {manifest.admitted}


def _standing(lake: Lake, manifest: Manifest) -> Manifest:
    """The manifest on the newest checkpoints that are there, with the log after them."""
    buckets = dict(manifest.buckets)
    for bucket, files in manifest.buckets.items():
        there = [epoch for epoch in checkpoint_epochs(lake, bucket) if epoch <= files.checkpoint]
        epoch = max(there, default=0)
        if epoch == files.checkpoint:
            continue
        settled = lake.settled("bucket", bucket)
        tail = {
            table: [
                file.name
                for file in lake.current(table, "bucket", bucket, settled)
                if epoch <= file.epoch <= files.settled
            ]
            for table in TAIL_TABLES
        }
        buckets[bucket] = replace(files, checkpoint=epoch, tail=tail)
    return replace(manifest, buckets=buckets)


def _mover(lake: Lake, name: str) -> Callable[[], None]:
    def move() -> None:
        target = Path(lake.files.path(f"{ASIDE}/{name}"))
        target.parent.mkdir(parents=True, exist_ok=True)
        Path(lake.files.path(name)).rename(target)
        republish(lake)

    return move


def _deleter(lake: Lake, names: list[str]) -> Callable[[], None]:
    def delete() -> None:
        for name in names:
            if lake.files.exists(name):
                lake.files.delete(name)

    return delete


def _releaser(lake: Lake, kind: str, number: int, cycle: str) -> Callable[[], None]:
    def release() -> None:
        with lake.own(kind, number, Cycle.parse(cycle)):
            pass

    return release


def _summariser(lake: Lake, cycle: Cycle, number: int) -> Callable[[], None]:
    return lambda: write_summary(lake, cycle, number)
