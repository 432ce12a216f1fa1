"""Planning: writes what is chosen of a bucket's candidates as a plan, and the remainder of a plan that ended too early.

Reads what `candidates` reads; writes files that its caller names. Who calls it decides what of them becomes the lake's.
"""

from datetime import datetime
from pathlib import Path

import duckdb

from crawler.core.cycle import Cycle
from crawler.store import query, tables
from crawler.store.candidates import choice_parameters, find_candidates
from crawler.store.lake import Lake
from crawler.store.lease import Settled
from crawler.store.plans import EVERYTHING, PlanFile, create_remainder, plan_metadata


def choose(
    lake: Lake,
    con: duckdb.DuckDBPyConnection,
    cycle: Cycle,
    bucket: int,
    now: datetime,
    path: Path,
    *,
    whole: bool = False,
) -> None:
    """Write the plan that is made at `now` to the file `path`; the tables that it was chosen by stay on `con`.

    whole: score the URLs that are not due as well, see `find_candidates`. Raises CorruptLake.
    """
    settled = lake.settled("bucket", bucket)
    found = find_candidates(lake, con, bucket, settled, now, cycle=cycle, whole=whole)
    _keep_planned(lake, con, cycle, bucket, now)
    (belief,) = query.rows(query.run(con, "plan/belief"))
    addresses = sorted({address for _, _, address, _ in found.pace if address})
    metadata = plan_metadata(settled.last, now, _histogram(con), addresses, belief, found.floor, found.beliefs)
    tables.write_result(path, "plan", query.arrow(con, "plan/ordered"), metadata)


def complete(lake: Lake, cycle: Cycle, bucket: int, plan: PlanFile) -> PlanFile:
    """The plan with what it left out below its floor, chosen as of its own instant."""
    con = lake.connect()
    settled = past(lake.settled("bucket", bucket), plan.epoch)
    found = find_candidates(lake, con, bucket, settled, plan.planned_at, cycle=cycle, again=plan)
    _keep_planned(lake, con, cycle, bucket, plan.planned_at)
    query.view_files(con, "plan_files", "plan", [plan.path])
    query.materialise(con, "planned", "plan/remainder", {"floor": plan.floor})
    belief = plan.belief or {}
    metadata = plan_metadata(plan.epoch, plan.planned_at, _histogram(con), (), belief, EVERYTHING, found.beliefs)
    staged = lake.files.staged(".parquet")
    tables.write_result(staged, "plan", query.arrow(con, "plan/ordered"), metadata)
    return create_remainder(lake, cycle, bucket, staged)


def past(settled: Settled, epoch: int) -> Settled:
    """What of `settled` was fixed when `epoch` was the last that was."""
    return Settled(epoch, {each: last for each, last in settled.sealed.items() if each <= epoch})


def _keep_planned(lake: Lake, con: duckdb.DuckDBPyConnection, cycle: Cycle, bucket: int, now: datetime) -> None:
    parameters = choice_parameters(lake, now) | {"cycle": cycle.day, "bucket": bucket}
    query.materialise(con, "planned", "plan/plan", parameters)


def _histogram(con: duckdb.DuckDBPyConnection) -> list[tuple[int, bool, int, int]]:
    found: list[tuple[int, bool, int, int]] = query.run(con, "plan/histogram").fetchall()
    return found
