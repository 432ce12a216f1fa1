"""How the cycles stand, bucket by bucket: what status, doctor and the page in Airflow show.

Reads listings, leases, plans, admissions, publications and the log, that of running fetches included. Writes nothing
and takes no lease.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import date, timedelta
from enum import StrEnum
from typing import Any

import duckdb

from crawler.core.cycle import Cycle
from crawler.core.errors import CorruptLake
from crawler.core.model import Row
from crawler.store import query
from crawler.store.admission import Admission, read_admission
from crawler.store.lake import Lake, partition_name
from crawler.store.lease import Lease, Settled
from crawler.store.live import Live, read_live
from crawler.store.log import LogFile
from crawler.store.manifest import CHECKS, PUBLICATIONS, Manifest, is_complete, newest, of_cycle
from crawler.store.plans import read_plan
from crawler.store.purges import keep_purged

LAST_CYCLES = 30


class State(StrEnum):
    """How a bucket stands in a cycle; a cycle is as its worst bucket, or published."""

    MISSING = "missing"  # never planned, although later cycles were
    FAILED = "failed"  # begun, not finished, and nobody is at work
    RUNNING = "running"
    STOPPED = "stopped"  # ended early on request; what is open waits for the next fetch
    PLANNED = "planned"  # not begun, or not even planned while other buckets are
    FINISHED = "finished"  # fetched as far as the window allows; of a cycle: not published yet
    PUBLISHED = "published"  # of cycles only


@dataclass(frozen=True, slots=True)
class Partition:
    """One bucket of one cycle. planned: admitted URLs; done: those observed; open: the others; late: of done.

    live: what a running fetch says of itself; then `done` counts also what it has not yet written down.
    """

    cycle: str
    bucket: int
    state: str
    planned: int
    done: int
    open: int
    late: int
    live: Live | None = None

    def to_dict(self) -> Row:
        return asdict(self) | {"live": self.live and self.live.to_dict()}


@dataclass(frozen=True, slots=True)
class CycleRow:
    """One cycle. failed: its buckets in that state. lagging: what has not yet read its fetches, by its last check."""

    cycle: str
    state: str
    planned: int
    done: int
    open: int
    late: int
    failed: list[int] = field(default_factory=list)
    lagging: list[str] = field(default_factory=list)
    published_at: str | None = None
    wire_bytes: int = 0
    saved_bytes: int = 0

    def to_dict(self) -> Row:
        return asdict(self)


def cycles(lake: Lake, *, last: int = LAST_CYCLES, parts: Iterable[Partition] | None = None) -> list[CycleRow]:
    """The newest `last` cycles, oldest first; days without a plan between the first cycle and the newest are missing.

    parts: what `partitions` returned for the same cycles, if the caller has it.
    """
    by_cycle: dict[str, list[Partition]] = {}
    for part in partitions(lake, last=last) if parts is None else parts:
        by_cycle.setdefault(part.cycle, []).append(part)
    return [_cycle(lake, cycle, found) for cycle, found in by_cycle.items()]


def partitions(lake: Lake, *, last: int = LAST_CYCLES) -> list[Partition]:
    """Every bucket of the newest `last` cycles, by cycle and bucket; missing cycles included. Raises CorruptLake."""
    planned = _planned_buckets(lake)
    days = _days(planned)[-last:] if last else []
    now = [_Bucket.look(lake, bucket) for bucket in range(lake.buckets)]
    con = lake.connect()
    keep_purged(lake, con)
    files = {(day, b.number): b.observations(lake, day) for day in days if day in planned for b in now}
    distinct = dict.fromkeys(file for found in files.values() for file in found)  # a month is of several cycles
    try:
        query.view_files(con, "observation_files", "observation", lake.paths(distinct))
        observed = {(row["cycle"], row["bucket"]): row for row in query.rows(query.run(con, "overview/observed"))}
    except duckdb.Error as error:
        raise CorruptLake(lake.files.path(lake.layout), f"{error}; `recrawl doctor` lists torn files") from error
    found = []
    for day in days:
        admission = read_admission(lake, Cycle.parse(day)) if day in planned else None
        unfinished = _unfinished(lake, day)
        for bucket in now:
            part = (day, bucket.number)
            counts = observed.get(part, {"observed": 0, "late": 0})
            admitted = int(admission.rows[bucket.number]["admitted"]) if admission else 0
            left = max(0, admitted - counts["observed"])
            if left and admission:  # another cycle may have fetched them since the plan was made
                left = _count_open(lake, con, Cycle.parse(day), bucket, admission)
            state = _state(lake, bucket, day, planned, files.get(part, []), failed=bucket.number in unfinished)
            live = bucket.live if state is State.RUNNING else None
            if live is not None:
                left = max(0, min(left, live.progress.planned - live.progress.observed))
            found.append(Partition(*part, state.value, admitted, admitted - left, left, counts["late"], live))
    return found


@dataclass(frozen=True, slots=True)
class _Bucket:
    """A bucket as it is at this moment. holder: who is at work, if anybody is. live: what its fetch says."""

    number: int
    lease: Lease
    written: Settled
    holder: str | None
    live: Live | None

    @classmethod
    def look(cls, lake: Lake, number: int) -> "_Bucket":
        lease, holder = lake.ownership("bucket", number)
        live = read_live(lake, number, lease) if holder is not None else None
        return cls(number, lease, lake.written("bucket", number, lease), holder, live)

    def observations(self, lake: Lake, day: str) -> list[LogFile]:
        return of_cycle(lake, "observation", "bucket", self.number, self.written, Cycle.parse(day))


def _state(
    lake: Lake, bucket: _Bucket, day: str, planned: dict[str, set[int]], files: list[LogFile], *, failed: bool
) -> State:
    if bucket.number not in planned.get(day, ()):
        return State.MISSING if day not in planned else State.PLANNED  # others are planned, its turn may come
    whole = next((file for file in reversed(files) if file.whole), None)
    if whole is not None and is_complete(lake, whole, Cycle.parse(day)):
        return State.FINISHED
    is_owned = bucket.lease.holder is not None and bucket.lease.cycle == day
    if is_owned and bucket.holder is not None:
        return State.RUNNING
    if whole is not None and whole is files[-1] and not is_owned:
        return State.STOPPED
    return State.FAILED if files or is_owned or failed else State.PLANNED


def _cycle(lake: Lake, cycle: str, parts: list[Partition]) -> CycleRow:
    published = newest(lake, PUBLICATIONS, cycle)
    manifest = published[1] if published else None
    states = {part.state for part in parts}
    order = (State.RUNNING, State.FAILED, State.STOPPED, State.PLANNED, State.MISSING)
    state = next((each for each in order if each in states), State.FINISHED)
    lagging = list(manifest.lagging) if manifest else []
    if state is State.FINISHED and manifest is not None and not manifest.failed:
        state = State.PUBLISHED
    return CycleRow(
        cycle,
        state.value,
        sum(part.planned for part in parts),
        sum(part.done for part in parts),
        sum(part.open for part in parts),
        sum(part.late for part in parts),
        [part.bucket for part in parts if part.state == State.FAILED],
        lagging,
        manifest.created_at if manifest else None,
        *_bytes(manifest),
    )


def _bytes(manifest: Manifest | None) -> tuple[int, int]:
    summary: dict[str, Any] = manifest.summary if manifest else {}
    return int(summary.get("wire_bytes", 0)), int(summary.get("saved_bytes", 0))


def _planned_buckets(lake: Lake) -> dict[str, set[int]]:
    """By cycle the buckets that have a plan."""
    found: dict[str, set[int]] = {}
    for bucket in range(lake.buckets):
        for folder in lake.files.folders(f"{lake.layout}/plan/{partition_name('bucket', bucket)}"):
            found.setdefault(folder.removeprefix("cycle="), set()).add(bucket)
    return found


def _days(planned: Iterable[str]) -> list[str]:
    """Every day from the first cycle to the newest."""
    known = sorted(map(date.fromisoformat, planned))
    if not known:
        return []
    return [(known[0] + timedelta(days=n)).isoformat() for n in range((known[-1] - known[0]).days + 1)]


def _unfinished(lake: Lake, day: str) -> set[int]:
    """The buckets whose fetch had not finished at the cycle's newest check."""
    checked = newest(lake, CHECKS, day)
    return set(checked[1].failed) if checked else set()


def _count_open(lake: Lake, con: duckdb.DuckDBPyConnection, cycle: Cycle, bucket: _Bucket, admission: Admission) -> int:
    plan = read_plan(lake, cycle, bucket.number)
    if plan is None:
        return 0
    files = lake.current("observation", "bucket", bucket.number, bucket.written)
    query.view_files(con, "plan_files", "plan", plan.paths)
    query.view_files(con, "observed", "observation", lake.paths(file for file in files if file.epoch > plan.epoch))
    parameters = {
        "cutoff_priority": admission.cutoff_priority,
        "cutoff_url_key": admission.cutoff_url_key,
        "planned_epoch": plan.epoch,
    }
    ((left,),) = query.run(con, "overview/open", parameters).fetchall()
    return int(left)
