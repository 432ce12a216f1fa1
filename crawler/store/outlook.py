"""What is believed of a URL, what it is worth, and in which cycle it is likely to be fetched next.

Reads the tables that `find_candidates` has made of the whole bucket, and the newest admission. Writes nothing.
"""

from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

import duckdb

from crawler.core.cycle import Cycle
from crawler.core.model import Row
from crawler.store import query
from crawler.store.admission import Admission, read_admission
from crawler.store.lake import Lake

PERIODS = ("5.6 years", "17 months", "4 months", "32 days", "8 days", "2 days", "12 hours", "3 hours")
"""The mean times between changes that are believed in: 2^11, 2^9 ... 2^-3 days."""

LOOK_AHEAD = 730
"""Cycles that a next fetch is sought in."""

_NO_CUTOFF = -(2**31)


@dataclass(frozen=True, slots=True)
class Outlook:
    """One URL as the scheduler sees it now.

    belief: by PERIODS, how probable it is that the page changes about so often. mean_rate: of the believed changes a
    day. stale_probability: that the page has changed since our copy; None without one. value: days of freshness that a
    fetch now is worth; None for what is not ranked by value. cutoff_value: that of the last URL that cutoff_cycle
    took; None if its budget was not used up. next_cycle: None where it cannot be known; next_reason says why.
    """

    belief: dict[str, float]
    checks: int
    mean_rate: float
    stale_probability: float | None
    weight: float
    forced: str | None
    priority: int
    value: float | None
    cutoff_cycle: str | None
    cutoff_value: float | None
    next_cycle: str | None
    next_reason: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def outlook(
    lake: Lake, con: duckdb.DuckDBPyConnection, url_key: int, newest_plan: Cycle | None, obstacle: str | None
) -> Outlook:
    """The outlook of a known URL. newest_plan: of its bucket. obstacle: why no plan would take it, if one would not."""
    now = lake.clock.now()
    query.materialise(con, "believed", "explain/believed", {"now": now, "url_key": url_key})
    (found,) = query.rows(con.execute("FROM believed"))
    cycle, admission = _newest_admission(lake)
    next_cycle, reason = _next(lake, con, found, newest_plan, admission, obstacle)
    shares = [found["belief"][f"k{number}"] / found["belief_sum"] for number in range(len(PERIODS))]
    return Outlook(
        belief=dict(zip(PERIODS, shares, strict=True)),
        checks=found["checks"],
        mean_rate=found["mean_rate"],
        stale_probability=found["stale_share"],
        weight=found["rule_weight"] * found["page_weight"],
        forced=found["forced"],
        priority=found["priority"],
        value=found["value"],
        cutoff_cycle=str(cycle) if cycle else None,
        cutoff_value=admission.cutoff_value if admission else None,
        next_cycle=str(next_cycle) if next_cycle else None,
        next_reason=reason,
    )


def _next(
    lake: Lake,
    con: duckdb.DuckDBPyConnection,
    found: Row,
    newest_plan: Cycle | None,
    admission: Admission | None,
    obstacle: str | None,
) -> tuple[Cycle | None, str]:
    """The cycle in which the URL is likely to be fetched next, and what that rests on."""
    first = first_cycle(lake, newest_plan)
    if obstacle is not None:
        return None, f"cannot be known: {obstacle}"
    if found["forced"] is not None:
        return first, f"it comes before all others ({found['forced']})"
    limit = admission.cutoff_value if admission else None
    cutoff = admission.cutoff_priority if admission and limit is not None else _NO_CUTOFF
    parameters = {
        "first_at": max(first.start, lake.clock.now()),
        "most": LOOK_AHEAD,
        "objective": lake.settings.plan.objective,
        "cutoff_priority": cutoff,
    }
    (ahead,) = query.rows(query.run(con, "explain/outlook", parameters))
    due, overdue, worth = ahead["due_in"], ahead["overdue_in"], ahead["worth_in"]
    if due is None:
        return None, f"it rests for more than {LOOK_AHEAD} cycles"
    if found["rank_class"]:
        return _later(first, due), "sitemaps are fetched as soon as they have rested"
    is_shut_out = admission is not None and found["priority"] < admission.new_cutoff_priority
    if found["asked_at"] is None and (is_shut_out or not lake.settings.plan.new_share):
        return None, "cannot be known: it is new, and better new ones use up their share (plan.new_share)"
    if limit is None:
        return _later(first, due), "the budget reaches all that has rested"
    if found["known_at"] is None:
        if found["priority"] >= cutoff:
            return _later(first, due), f"there is no copy yet, and it is worth more than the cut-off {limit:.4g}"
        return None, f"cannot be known: without a copy it is worth no more later, and less than the cut-off {limit:.4g}"
    if overdue is not None and (worth is None or overdue < worth):
        return _later(first, overdue), "its longest interval is over then"
    if worth is None:
        return None, f"cannot be known: in {LOOK_AHEAD} cycles it is not worth the cut-off {limit:.4g}"
    return _later(first, worth), f"it is worth the cut-off {limit:.4g} then, if that stays and nothing is found before"


def first_cycle(lake: Lake, newest_plan: Cycle | None) -> Cycle:
    """The next cycle whose plan can still be made."""
    today = Cycle(lake.clock.now().date())
    return today if newest_plan is None or newest_plan < today else _later(newest_plan, 1)


def _later(cycle: Cycle, days: int) -> Cycle:
    return Cycle(cycle.day + timedelta(days=days))


def _newest_admission(lake: Lake) -> tuple[Cycle | None, Admission | None]:
    for folder in reversed(lake.files.folders(f"{lake.layout}/admitted")):
        cycle = Cycle.parse(folder.removeprefix("cycle="))
        admission = read_admission(lake, cycle)
        if admission is not None:
            return cycle, admission
    return None, None
