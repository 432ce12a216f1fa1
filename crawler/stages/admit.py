"""Admit: one exact global choice of the budget's worth of URLs over all buckets' plans.

Reads the plans' histograms and the rows of the bin in which the budget ends. Writes the admission, created if
absent: the first one stands. Moves no row of a plan.
"""

from typing import Any

from crawler.core.cycle import Cycle
from crawler.core.errors import NotPlanned
from crawler.store import query, tables
from crawler.store.admission import Admission, create_admission, read_admission
from crawler.store.lake import Lake
from crawler.store.plans import PlanFile, read_plan

_NOTHING = (2**31 - 1, 0)  # a cut-off above every row
_EVERYTHING = (-(2**31), 2**64 - 1)  # a cut-off below every row


def run(lake: Lake, cycle: Cycle) -> dict[str, Any]:
    """Admit `cycle`; returns how many rows its plans have and how many of them are fetched. Raises NotPlanned."""
    admission = read_admission(lake, cycle) or _make(lake, cycle)
    candidates = sum(int(row["candidates"]) for row in admission.rows)
    return {"candidates": candidates, "admitted": admission.admitted}


def _make(lake: Lake, cycle: Cycle) -> Admission:
    plans = [_plan(lake, cycle, bucket) for bucket in range(lake.buckets)]
    budget = lake.settings.plan.budget_urls
    con = lake.connect()
    query.view_files(con, "plan_files", "plan", [plan.path for plan in plans])
    priority, key = _cutoff(con, plans, budget)
    found = query.run(con, "admit/share", {"cutoff_priority": priority, "cutoff_url_key": key}).fetchall()
    shares = {bucket: (candidates, admitted) for bucket, candidates, admitted in found}
    unspent = (budget - sum(admitted for _, admitted in shares.values())) // lake.buckets
    buckets_at = _buckets_by_address(plans)
    rows = [
        {
            "cycle": cycle.day,
            "bucket": bucket,
            "candidates": shares.get(bucket, (0, 0))[0],
            "admitted": shares.get(bucket, (0, 0))[1],
            "unspent": unspent,
            "cutoff_priority": priority,
            "cutoff_url_key": key,
            "shared_addresses": [
                {"address": address, "buckets": buckets_at[address]}
                for address in plan.addresses
                if buckets_at[address] > 1
            ],
        }
        for bucket, plan in enumerate(plans)
    ]
    staged = lake.files.staged(".parquet")
    tables.write_rows(staged, "admitted", rows)
    return create_admission(lake, cycle, staged)


def _plan(lake: Lake, cycle: Cycle, bucket: int) -> PlanFile:
    plan = read_plan(lake, cycle, bucket)
    if plan is None:
        raise NotPlanned("admit", cycle, f"the plan of bucket {bucket}")
    return plan


def _cutoff(con: Any, plans: list[PlanFile], budget: int) -> tuple[int, int]:
    """The (priority, url_key) of the last row that the budget reaches over all plans."""
    total: dict[int, int] = {}
    for plan in plans:
        for number, count in plan.histogram.items():
            total[number] = total.get(number, 0) + count
    if not total:
        return _NOTHING
    above = 0
    for number in sorted(total, reverse=True):
        if above + total[number] >= budget:
            found = query.run(con, "admit/boundary", {"bin": number, "room": budget - above}).fetchall()
            return int(found[0][0]), int(found[0][1])
        above += total[number]
    return _EVERYTHING


def _buckets_by_address(plans: list[PlanFile]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for plan in plans:
        for address in plan.addresses:
            counts[address] = counts.get(address, 0) + 1
    return counts
