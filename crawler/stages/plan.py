"""Plan: the candidates of a bucket for a cycle, best first. No network, no lease.

Reads the bucket's checkpoint and settled log, the admission before, the scope, the holds and the operator's steering.
Writes the plan, created if absent: the first plan of a bucket and cycle stands, so a retry, a resume and an overlapping
run fetch the same rows.
"""

from datetime import datetime
from pathlib import Path
from typing import Any

from crawler.core.cycle import Cycle
from crawler.store import query, tables
from crawler.store.candidates import choice_parameters, find_candidates
from crawler.store.lake import Lake
from crawler.store.plans import PlanFile, create_plan, plan_metadata, read_plan


def run(lake: Lake, cycle: Cycle, bucket: int) -> dict[str, Any]:
    """Plan `bucket` for `cycle`; returns its number of candidates. Raises CorruptLake."""
    plan = read_plan(lake, cycle, bucket) or _make(lake, cycle, bucket)
    return {"bucket": bucket, "candidates": plan.candidates}


def _make(lake: Lake, cycle: Cycle, bucket: int) -> PlanFile:
    staged = lake.files.staged(".parquet")
    choose(lake, lake.connect(), cycle, bucket, lake.clock.now(), staged)
    return create_plan(lake, cycle, bucket, staged)


def choose(
    lake: Lake,
    con: Any,
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
    pace = find_candidates(lake, con, bucket, settled, now, before=cycle, whole=whole)
    parameters = choice_parameters(lake, now) | {"cycle": cycle.day, "bucket": bucket}
    query.materialise(con, "planned", "plan/plan", parameters)
    histogram = query.run(con, "plan/histogram").fetchall()
    (belief,) = query.rows(query.run(con, "plan/belief"))
    addresses = {address for _, _, address, _ in pace if address}
    reader = query.arrow(con, "plan/ordered")
    metadata = plan_metadata(settled.last, now, histogram, sorted(addresses), belief)
    tables.write_result(path, "plan", reader, metadata)
