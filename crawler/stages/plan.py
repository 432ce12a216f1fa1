"""Plan: the candidates of a bucket for a cycle, best first. No network, no lease.

Reads the bucket's checkpoint and settled log, the admission before, the scope, the holds and the operator's steering.
Writes the plan, created if absent: the first plan of a bucket and cycle stands, so a retry, a resume and an overlapping
run fetch the same rows. Of a large bucket it leaves surveys as well, from which the plans after it start.
"""

from typing import Any

from crawler.core.cycle import Cycle
from crawler.core.errors import CycleExpired
from crawler.store.admission import read_admission
from crawler.store.lake import Lake
from crawler.store.planning import choose
from crawler.store.plans import PlanFile, create_plan, read_plan


def run(lake: Lake, cycle: Cycle, bucket: int) -> dict[str, Any]:
    """Plan `bucket` for `cycle`; returns its number of candidates. Raises CycleExpired, CorruptLake."""
    plan = read_plan(lake, cycle, bucket) or _make(lake, cycle, bucket)
    return {"bucket": bucket, "candidates": plan.candidates}


def _make(lake: Lake, cycle: Cycle, bucket: int) -> PlanFile:
    if read_admission(lake, cycle) is not None and read_plan(lake, cycle, bucket) is None:
        raise CycleExpired(str(cycle), bucket)
    staged = lake.files.staged(".parquet")
    choose(lake, lake.connect(), cycle, bucket, lake.clock.now(), staged)
    return create_plan(lake, cycle, bucket, staged)
