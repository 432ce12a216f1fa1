"""Admit: one exact global choice of the budget's worth of URLs over all buckets' plans.

Reads the plans' histograms and the rows of the bins in which a budget ends. Writes the admission, created if
absent: the first one stands. Moves no row of a plan. A plan that left out what the budget reaches is completed first.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from crawler.core.cycle import Cycle
from crawler.core.errors import NotPlanned
from crawler.core.model import Row
from crawler.store import query, tables
from crawler.store.admission import Admission, create_admission, read_admission
from crawler.store.candidates import new_limit
from crawler.store.lake import Lake
from crawler.store.planning import complete
from crawler.store.plans import EVERYTHING, Bin, PlanFile, read_plan

_RATES = tuple(f"k{rate}" for rate in range(8))
_LARGEST_VALUE = 2**19  # priorities from here on are of URLs that come first whatever they are worth


class _Cut(NamedTuple):
    """The last row that is taken. Larger priorities come first, of equal ones smaller keys."""

    priority: int
    url_key: int


_NOTHING = _Cut(2**31 - 1, 0)  # above every row
_EVERYTHING = _Cut(EVERYTHING, 2**64 - 1)  # below every row


class _Amount(NamedTuple):
    urls: int
    expected_bytes: int


def run(lake: Lake, cycle: Cycle) -> dict[str, Any]:
    """Admit `cycle`; returns how many rows its plans have and how many of them are fetched. Raises NotPlanned."""
    admission = read_admission(lake, cycle) or _make(lake, cycle)
    candidates = sum(int(row["candidates"]) for row in admission.rows)
    return {"candidates": candidates, "admitted": admission.admitted}


def _make(lake: Lake, cycle: Cycle) -> Admission:
    plans = [_plan(lake, cycle, each) for each in range(lake.buckets)]
    while short := _too_short(lake, plans):
        for bucket in short:
            plans[bucket] = complete(lake, cycle, bucket, plans[bucket])
    staged = lake.files.staged(".parquet")
    tables.write_rows(staged, "admitted", choose(lake, cycle, plans))
    return create_admission(lake, cycle, staged)


def _too_short(lake: Lake, plans: Sequence[PlanFile]) -> list[int]:
    """The buckets whose plans may lack rows that count: down to where a budget ends, all must be there.

    What is left for new URLs depends on the number of all others, too, unless those that are there leave no more than
    the share of new ones.
    """
    if all(plan.floor == EVERYTHING for plan in plans):
        return []
    settings = lake.settings.plan
    others = sum(bin_.urls for plan in plans for bin_ in plan.histogram if not bin_.is_share)
    is_share_known = others >= settings.budget_urls - new_limit(settings.budget_urls, settings.new_share)
    needed = EVERYTHING
    if is_share_known or not settings.new_share:
        *_, needed = _cuts(lake, _open(lake, plans), plans)
    return [bucket for bucket, plan in enumerate(plans) if plan.floor > needed]


def _open(lake: Lake, plans: Sequence[PlanFile]) -> Any:
    con = lake.connect()
    query.view_files(con, "plan_files", "plan", [path for plan in plans for path in plan.paths])
    return con


def _cuts(lake: Lake, con: Any, plans: Sequence[PlanFile]) -> tuple[_Cut, _Cut, int]:
    """The last new row that has room, the last row that the budgets reach, and a priority that both rest on."""
    settings = lake.settings.plan
    bins = [bin_ for plan in plans for bin_ in plan.histogram]
    others = sum(bin_.urls for bin_ in bins if not bin_.is_share)
    room = max(new_limit(settings.budget_urls, settings.new_share), settings.budget_urls - others)
    new_cut, fitting = _new_cut(con, bins, room if settings.new_share else 0)
    cut, needed = _cut(con, fitting, new_cut, settings.budget_urls, settings.budget_bytes)
    return new_cut, cut, needed


def choose(lake: Lake, cycle: Cycle, plans: Sequence[PlanFile]) -> list[Row]:
    """The rows of table admitted for `plans`, one of each bucket in order, as if they were complete. Writes nothing."""
    settings = lake.settings.plan
    con = _open(lake, plans)
    new_cut, cut, _ = _cuts(lake, con, plans)
    limits = {
        "cutoff_priority": cut.priority,
        "cutoff_url_key": cut.url_key,
        "new_cutoff_priority": new_cut.priority,
        "new_cutoff_url_key": new_cut.url_key,
    }
    shares = {bucket: row for bucket, *row in query.run(con, "admit/share", limits).fetchall()}
    left = settings.budget_urls - sum(admitted for _, admitted, _ in shares.values())
    is_ended = cut != _EVERYTHING or not settings.new_share  # what is left is bytes' doing, or not for what is new
    buckets_at = _buckets_by_address(plans)
    rows = []
    for bucket, plan in enumerate(plans):
        candidates, admitted, expected_bytes = shares.get(bucket, (0, 0, 0))
        rows.append(
            {
                "cycle": cycle.day,
                "bucket": bucket,
                "candidates": candidates,
                "admitted": admitted,
                "unspent": 0 if is_ended else left // lake.buckets,
                **limits,
                "cutoff_value": 2.0 ** (cut.priority / 4096) if abs(cut.priority) < _LARGEST_VALUE else None,
                "expected_bytes": expected_bytes,
                "belief": _belief(plans),
                "shared_addresses": [
                    {"address": address, "buckets": buckets_at[address]}
                    for address in plan.addresses
                    if buckets_at[address] > 1
                ],
            }
        )
    return rows


def _plan(lake: Lake, cycle: Cycle, bucket: int) -> PlanFile:
    plan = read_plan(lake, cycle, bucket)
    if plan is None:
        raise NotPlanned("admit", cycle, f"the plan of bucket {bucket}")
    return plan


def _new_cut(con: Any, bins: Iterable[Bin], room: int) -> tuple[_Cut, dict[int, _Amount]]:
    """The last new row that has room, and what is in each bin with no new row after it."""
    fitting = _amounts(bin_ for bin_ in bins if not bin_.is_share)
    new = _amounts(bin_ for bin_ in bins if bin_.is_share)
    if room <= 0 and new:
        return _NOTHING, fitting
    for number in sorted(new, reverse=True):
        if new[number].urls >= room:
            found = query.run(con, "admit/new_cutoff", {"bin": number, "room": room}).fetchall()
            priority, url_key, expected_bytes = found[0]
            _add(fitting, number, _Amount(room, int(expected_bytes)))
            return _Cut(priority, url_key), fitting
        _add(fitting, number, new[number])
        room -= new[number].urls
    return _EVERYTHING, fitting


def _cut(con: Any, fitting: dict[int, _Amount], new_cut: _Cut, budget: int, budget_bytes: int) -> tuple[_Cut, int]:
    """The last row that both budgets reach, over all plans and within the share of new URLs.

    And the priority that the bin begins with in which a budget ends: what lies below it does not count.
    """
    limits = {"new_cutoff_priority": new_cut.priority, "new_cutoff_url_key": new_cut.url_key}
    above = _Amount(0, 0)
    before: int | None = None
    for number in sorted(fitting, reverse=True):
        urls, expected_bytes = above.urls + fitting[number].urls, above.expected_bytes + fitting[number].expected_bytes
        if urls >= budget or (budget_bytes and expected_bytes > budget_bytes):
            byte_room = budget_bytes - above.expected_bytes if budget_bytes else None
            here = {"bin": number, "room": budget - above.urls, "byte_room": byte_room}
            found = query.run(con, "admit/boundary", here | limits).fetchall()
            if not found and before is not None:
                whole = {"bin": before, "room": fitting[before].urls, "byte_room": None}
                found = query.run(con, "admit/boundary", whole | limits).fetchall()
            return (_Cut(*found[0]) if found else _NOTHING), number << 6
        above, before = _Amount(urls, expected_bytes), number
    return _EVERYTHING, EVERYTHING


def _amounts(bins: Iterable[Bin]) -> dict[int, _Amount]:
    total: dict[int, _Amount] = {}
    for bin_ in bins:
        _add(total, bin_.number, _Amount(bin_.urls, bin_.expected_bytes))
    return total


def _add(amounts: dict[int, _Amount], number: int, more: _Amount) -> None:
    urls, expected_bytes = amounts.get(number, _Amount(0, 0))
    amounts[number] = _Amount(urls + more.urls, expected_bytes + more.expected_bytes)


def _belief(plans: Sequence[PlanFile]) -> dict[str, Any]:
    """The sum of what the buckets say; see `admitted.belief`."""
    told = [plan.belief for plan in plans if plan.belief is not None]
    total: dict[str, Any] = {name: sum(int(each[name]) for each in told) for name in ("urls", "asked", "useful")}
    return total | {"sums": {rate: sum(int(each["sums"][rate]) for each in told) for rate in _RATES}}


def _buckets_by_address(plans: Sequence[PlanFile]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for plan in plans:
        for address in plan.addresses:
            counts[address] = counts.get(address, 0) + 1
    return counts
