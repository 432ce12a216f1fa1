"""Plan: the candidates of a bucket for a cycle, best first. No network, no lease.

Reads the bucket's checkpoint and settled log, and the scope. Writes the plan, created if absent: the first plan of a
bucket and cycle stands, so a retry, a resume and an overlapping run fetch the same rows.
"""

from typing import Any

from crawler.core.cycle import Cycle
from crawler.core.outcomes import CONSEQUENCES
from crawler.store import query, tables
from crawler.store.lake import Lake
from crawler.store.plans import PlanFile, create_plan, plan_metadata, read_plan
from crawler.store.scoping import judge, open_scope
from crawler.store.state import open_state

# A URL that was never asked for ranks as one that was last asked for so many days ago.
NEW_DAYS = 30


def run(lake: Lake, cycle: Cycle, bucket: int) -> dict[str, Any]:
    """Plan `bucket` for `cycle`; returns its number of candidates. Raises CorruptLake."""
    plan = read_plan(lake, cycle, bucket) or _make(lake, cycle, bucket)
    return {"bucket": bucket, "candidates": plan.candidates}


def _make(lake: Lake, cycle: Cycle, bucket: int) -> PlanFile:
    now = lake.clock.now()
    settled = lake.settled("bucket", bucket)
    con = lake.connect()
    open_state(lake, con, bucket, settled)
    pace = query.run(con, "plan/pace").fetchall()
    _keep_rules(lake, con, pace)
    query.materialise(
        con,
        "candidate",
        "plan/candidate",
        {"now": now, "min_interval_days": lake.settings.plan.min_interval_days, "new_days": NEW_DAYS},
    )
    judge(lake, con, open_scope(lake, con))
    query.materialise(
        con,
        "planned",
        "plan/plan",
        {
            "cycle": cycle.day,
            "bucket": bucket,
            "budget": lake.settings.plan.budget_urls,
            "other_cap": _cap(lake, lake.settings.plan.max_urls_per_host, lake.settings.politeness.delay_seconds),
        },
    )
    histogram = dict(query.run(con, "plan/histogram").fetchall())
    addresses = {address for _, _, address in pace if address}
    staged = lake.files.staged(".parquet")
    reader = query.arrow(con, "plan/ordered")
    metadata = plan_metadata(settled.last, now, histogram, sorted(addresses))
    tables.write_result(staged, "plan", reader, metadata)
    return create_plan(lake, cycle, bucket, staged)


def _keep_rules(lake: Lake, con: Any, pace: list[tuple[str, float, str | None]]) -> None:
    """Make the tables `rest` (days by outcome and streak) and `host_cap` (URLs, of hosts asked or set)."""
    rest = [
        (outcome.value, streak + 1, len(consequence.rest_days), float(days))
        for outcome, consequence in CONSEQUENCES.items()
        for streak, days in enumerate(consequence.rest_days)
    ]
    query.keep_rows(con, "rest", "outcome VARCHAR, streak INTEGER, longest INTEGER, days DOUBLE", rest)
    general = lake.settings.plan.max_urls_per_host
    delays = {host: delay for host, delay, _ in pace}
    caps = {host: _cap(lake, general, delay) for host, delay in delays.items()}
    for host, own in lake.settings.host.items():
        floor = lake.settings.politeness.delay_seconds if own.delay_seconds is None else own.delay_seconds
        wanted = general if own.max_urls is None else own.max_urls
        caps[host] = _cap(lake, wanted, max(floor, delays.get(host, 0)))
    query.keep_rows(con, "host_cap", "host VARCHAR, cap BIGINT", list(caps.items()))


def _cap(lake: Lake, wanted: int, delay_seconds: float) -> int:
    """`wanted` URLs of a host, or as many as its delay leaves time for; one at least, unless none is wanted."""
    if delay_seconds <= 0:
        return wanted
    return min(wanted, max(1, int(lake.settings.fetch.window_hours * 3600 / delay_seconds)))
