"""Plan: the candidates of a bucket for a cycle, best first. No network, no lease.

Reads the bucket's checkpoint and settled log, the admission before, the scope, the holds and the operator's steering.
Writes the plan, created if absent: the first plan of a bucket and cycle stands, so a retry, a resume and an overlapping
run fetch the same rows.
"""

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
    now = lake.clock.now()
    settled = lake.settled("bucket", bucket)
    con = lake.connect()
    pace = find_candidates(lake, con, bucket, settled, now, before=cycle)
    parameters = choice_parameters(lake, now) | {"cycle": cycle.day, "bucket": bucket}
    query.materialise(con, "planned", "plan/plan", parameters)
    histogram = query.run(con, "plan/histogram").fetchall()
    (belief,) = query.rows(query.run(con, "plan/belief"))
    addresses = {address for _, _, address, _ in pace if address}
    staged = lake.files.staged(".parquet")
    reader = query.arrow(con, "plan/ordered")
    metadata = plan_metadata(settled.last, now, histogram, sorted(addresses), belief)
    tables.write_result(staged, "plan", reader, metadata)
    return create_plan(lake, cycle, bucket, staged)
