"""A look at the whole lake: files that are torn, lost, void or foreign, cycles that lack something, who holds what.

Reads every name, the footer of every Parquet file, leases, publications and holds. Writes and mends nothing; each
finding names the command that does.
"""

import json
import re
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa

from crawler.core.errors import CorruptLake
from crawler.store import log, overview, tables
from crawler.store.files import LEFTOVER_SECONDS
from crawler.store.forces import FORCES
from crawler.store.holds import HOLDS, all_held
from crawler.store.lake import Lake, partition_name
from crawler.store.lease import LEASES, Lease, newest_lease
from crawler.store.live import LIVE
from crawler.store.manifest import CHECKS, CYCLE_TABLES, PUBLICATIONS, named, published
from crawler.store.overview import CycleRow, State
from crawler.store.purges import PURGES, all_purges
from crawler.store.reader import VIEWS_FILE
from crawler.store.scoping import SEEDS
from crawler.store.skew import skews
from crawler.store.space import needed_bytes
from crawler.store.summary import SUMMARIES
from crawler.store.survey import SURVEYS
from crawler.store.wants import WANTS

SHOWN_PATHS = 20

ASIDE = "aside"
"""Where a repair moves what cannot be read."""
_DAY = r"cycle=\d{4}-\d{2}-\d{2}"
_LOG_TABLES = (*CYCLE_TABLES, "copy", "near")
_LOG = re.compile(
    rf"({'|'.join(_LOG_TABLES)})/((?:bucket|shard)=\d{{4}})/(?:{_DAY}|month=\d{{4}}-\d{{2}})/e(\d{{8}})-(\d{{4,}})(?:-whole)?(?:-r\d+)?\.parquet"
)
_KNOWN = re.compile(
    "|".join(
        (
            r"meta/\d{4}\.json",
            rf"(?:{CHECKS}|{PUBLICATIONS}|{SUMMARIES})/{_DAY}/\d{{4}}\.json",
            rf"{SEEDS}/\d{{4}}\.parquet",
            rf"{PURGES}/\d{{8}}(?:-erased|-digests)?\.json",
            r"locks/(?:(?:bucket|shard)=\d{4}|upkeep)\.lock",
            re.escape(VIEWS_FILE),
            rf"{ASIDE}/.+",
            rf"layout=\d+/{LEASES}/(?:bucket|shard)=\d{{4}}/e\d{{8}}\.json",
            rf"layout=\d+/(?:{HOLDS}|{FORCES})/bucket=\d{{4}}/\d{{8}}\.json",
            rf"layout=\d+/{WANTS}/bucket=\d{{4}}/day=\d{{4}}-\d\d-\d\d/[0-9a-f]{{16}}\.json",
            rf"layout=\d+/{LIVE}/bucket=\d{{4}}\.json",
            rf"layout=\d+/plan/bucket=\d{{4}}/{_DAY}/(?:plan|remainder)\.parquet",
            rf"layout=\d+/{SURVEYS}/bucket=\d{{4}}/{_DAY}/e\d{{8}}-\d{{8}}T\d{{12}}-(?:host|page-\d{{10}})\.parquet",
            rf"layout=\d+/admitted/{_DAY}/admitted\.parquet",
            r"layout=\d+/checkpoint/bucket=\d{4}/e\d{8}-seen\.bloom",
            r"layout=\d+/checkpoint/shard=\d{4}/e\d{8}-e\d{8}-copy\.arrow",
            r"layout=\d+/checkpoint/bucket=\d{4}/e\d{8}-(?:page|host|robots|tally)(?:-r\d+)?\.parquet",
            rf"layout=\d+/{_LOG.pattern}",
        )
    )
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that the doctor saw. command: what mends it, or what to use if nothing has to be mended.

    needs_action: whether the crawl lacks something until that is done. files: how many it is about; paths: the first
    of them, relative to the lake.
    """

    kind: str
    needs_action: bool
    what: str
    command: str
    files: int = 0
    paths: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def examine(lake: Lake, *, now_seconds: float | None = None) -> list[Finding]:
    """Everything there is to say about the lake, what needs an action first.

    now_seconds: the machine's time since 1970, which the age of staged files is counted from.
    """
    found = [
        *_files(lake, time.time() if now_seconds is None else now_seconds),
        *_lost(lake),
        *_cycles(lake),
        *_leases(lake),
        *_skews(lake),
        *_holds(lake),
        *_purges(lake),
        *_room(lake),
        _pool(lake),
    ]
    return sorted(found, key=lambda finding: not finding.needs_action)


@dataclass(frozen=True, slots=True)
class Damage:
    """Files by what is wrong with them, relative to the lake."""

    torn: list[str] = field(default_factory=list)
    torn_void: list[str] = field(default_factory=list)
    void: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    staging: list[str] = field(default_factory=list)


def damage(lake: Lake, now: float) -> Damage:
    """Every file of the lake that is no whole file of it. now: the machine's time in seconds since 1970."""
    found = Damage()
    leases = {name: _lease(lake, name) for name in _partitions(lake)}
    for name in sorted(lake.files.all_names()):
        if name.startswith("staging/."):
            if now - lake.files.changed_at(name) > LEFTOVER_SECONDS:
                found.staging.append(name)
        elif not _KNOWN.fullmatch(name):
            found.foreign.append(name)
        elif not name.startswith(f"{ASIDE}/"):
            is_void = _is_void(lake, name, leases)
            if is_void:
                found.void.append(name)
            if _is_torn(lake, name):
                (found.torn_void if is_void else found.torn).append(name)
    return found


def _files(lake: Lake, now: float) -> Iterator[Finding]:
    root, found = lake.files.root, damage(lake, now)
    restore = f"cp -p BACKUP/PATH {root}/PATH   for each, from a backup; without one: recrawl doctor --repair"
    yield from _group("torn", found.torn, "cannot be read, and they count", restore, needs_action=True)
    clean = "recrawl doctor --repair --yes   deletes them; so does recrawl upkeep, later"
    yield from _group("torn", found.torn_void, "cannot be read, but they are void", clean)
    void = "written by an owner that had been taken over from: they count for nobody and what they told is asked again"
    yield from _group("void", found.void, void, clean)
    move = f"mv {root}/PATH ELSEWHERE   for each"
    yield from _group("foreign", found.foreign, "not of this lake; no reader looks at them", move)
    yield from _group("staging", found.staging, "begun and never named, by processes that were killed", clean)


def _group(kind: str, names: list[str], what: str, command: str, *, needs_action: bool = False) -> Iterator[Finding]:
    if names:
        count = f"{len(names)} file{'s' * (len(names) > 1)}"
        yield Finding(kind, needs_action, f"{count}: {what}", command, len(names), names[:SHOWN_PATHS])


def _partitions(lake: Lake) -> list[str]:
    return [partition_name(kind, number) for kind in ("bucket", "shard") for number in range(lake.buckets)]


def _lease(lake: Lake, partition: str) -> Lease | None:
    """The newest lease of a partition; None if it cannot be read, which is found with the torn files."""
    try:
        return newest_lease(lake.files, lake.layout, partition)
    except CorruptLake:
        return None


def _is_void(lake: Lake, name: str, leases: dict[str, Lease | None]) -> bool:
    match = _LOG.fullmatch(name.removeprefix(f"{lake.layout}/"))
    lease = leases.get(match[2]) if match else None
    if match is None or lease is None:
        return False
    epoch, sequence = int(match[3]), int(match[4])
    return epoch <= lease.settled.last and not lease.settled.counts(epoch, sequence)


def _is_torn(lake: Lake, name: str) -> bool:
    try:
        if name.endswith(".parquet"):
            tables.read_metadata(lake.files.path(name))
        elif name.endswith(".arrow"):
            pa.ipc.open_file(pa.memory_map(lake.files.path(name)))
        elif name.endswith(".json"):
            json.loads(lake.files.read(name))
    except FileNotFoundError:
        return False
    except (CorruptLake, ValueError):
        return True
    return False


def _lost(lake: Lake) -> Iterator[Finding]:
    """Files that must be there: those that publications name, and those below a sealed number."""
    try:
        manifests = published(lake)
    except CorruptLake:
        return  # found with the torn files
    missing = sorted({f"{lake.layout}/{name}" for m in manifests for name in named(m)})
    missing = [name for name in missing if not lake.files.exists(name)]
    restore = f"cp -p BACKUP/PATH {lake.files.root}/PATH   for each, from a backup; then recrawl doctor"
    yield from _group("lost", missing, "a publication names them and they are gone", restore, needs_action=True)
    for partition in _partitions(lake):
        epochs = {
            file.epoch
            for table in log.LEADS[partition.partition("=")[0]]
            for file in log.list_table(lake.files, lake.layout, table, partition)
        }
        lease = _lease(lake, partition)  # after the files, whose lease is older than they are
        if lease is not None and max(epochs, default=0) > lease.epoch:
            what = f"{partition} has files of epoch {max(epochs)}, but its newest lease is of epoch {lease.epoch}"
            folder = f"{lake.layout}/{LEASES}/{partition}"
            command = f"cp -p BACKUP/{folder}/* {lake.files.root}/{folder}/   from where the lake was copied"
            yield Finding("lost", True, f"{what}: leases are missing", command)


def _cycles(lake: Lake) -> Iterator[Finding]:
    try:
        rows = overview.cycles(lake)
    except CorruptLake as error:
        yield Finding("cycle", True, str(error), "recrawl doctor   again, once the torn files are restored")
        return
    for row in rows:
        yield from _cycle(row)


def _cycle(row: CycleRow) -> Iterator[Finding]:
    run = f"recrawl run --cycle {row.cycle}"
    if row.state == State.MISSING:
        yield Finding("cycle", True, f"{row.cycle} was never planned, though later cycles were", run)
    elif row.state == State.RUNNING:
        yield Finding("cycle", False, f"{row.cycle} is running: {row.done} of {row.planned} done", "recrawl status")
    elif row.state != State.PUBLISHED:
        failed = f", buckets {row.failed} failed" if row.failed else ""
        what = f"{row.cycle} is {row.state}: {row.done} of {row.planned} URLs done{failed}; it is not published whole"
        yield Finding("cycle", True, what, run)
    elif row.lagging:
        what = f"{row.cycle} is published, but {', '.join(row.lagging)} had not read its fetches"
        yield Finding("cycle", True, what, run)


def _leases(lake: Lake) -> Iterator[Finding]:
    for kind in ("bucket", "shard"):
        for number in range(lake.buckets):
            try:
                lease, holder = lake.ownership(kind, number)
            except CorruptLake:
                continue  # found with the torn files
            partition = partition_name(kind, number)
            if holder is not None:
                what = f"{partition} is held by {holder}"
                yield Finding("lease", False, what, "recrawl status   shows how far it is; end the process if it hangs")
            elif lease.holder is not None:
                what = f"{partition}: {lease.holder} ended without a release; what it wrote counts for the next owner"
                yield Finding("lease", False, what, f"recrawl run --cycle {lease.cycle}")


def _holds(lake: Lake) -> Iterator[Finding]:
    try:
        held = all_held(lake)
    except CorruptLake:
        return
    for each in held:
        why = f": {each.reason}" if each.reason else ""
        yield Finding("hold", False, f"{each.host} is held since {each.at}{why}", f"recrawl release {each.host}")


def _purges(lake: Lake) -> Iterator[Finding]:
    try:
        purges = all_purges(lake)
    except CorruptLake:
        return
    for each in purges:
        if not each.is_erased:
            what = f"{each.name} is purged since {each.at}, but its content is still in the lake"
            yield Finding("purge", True, what, f"recrawl purge --yes {each.name}")


def _room(lake: Lake) -> Iterator[Finding]:
    try:
        needed, free = needed_bytes(lake), lake.files.free_bytes()
    except CorruptLake:
        return
    if free < needed:
        what = f"{free / 1e6:,.1f} MB are free, the next cycle wants {needed / 1e6:,.1f} MB and will not begin"
        yield Finding("disk", True, what, f"df -h {lake.files.root}   then see docs/operating.md")


def _skews(lake: Lake) -> Iterator[Finding]:
    try:
        found = skews(lake)
    except (CorruptLake, pa.ArrowInvalid):
        return  # found with the torn files
    for skew in found:
        what = (
            f"bucket {skew.bucket} has {skew.count:,} {skew.of}, the median bucket {skew.median:,.0f}; "
            f"{skew.host} has {skew.host_urls:,} known ones of it"
        )
        cure = (
            f'[host."{skew.host}"] max_urls = ... to give it less, connections = ... to be done sooner if it allows it'
        )
        yield Finding("skew", False, what, f"{cure}; recrawl sql buckets")


def _pool(lake: Lake) -> Finding:
    what = f"in an Airflow with pools of its own, fewer than {lake.buckets} slots for fetches make buckets wait for one"
    command = f"airflow pools set recrawl_fetch {lake.buckets} 'Recrawl: fetches at the same time, one a bucket'"
    return Finding("pool", False, what, command)
