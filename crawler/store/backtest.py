"""A backtest: what the lake's pages would have been worth, had other rules chosen what to fetch.

Reads every bucket's observations; makes temporary tables of its connection, writes nothing and takes no lease. What
is known of a page's changes is what its checks saw; `ASSUMPTIONS` says what is made of that. Every policy begins with
the same copies and the same knowledge, is told in each cycle what it would have found, and never more.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import duckdb

from crawler.core.cycle import Cycle
from crawler.core.errors import BadQuery
from crawler.store import query
from crawler.store.lake import Lake

ASSUMPTIONS = tuple(
    """
Replayed are the pages that were checked twice, each from its first check to its last; what they did before and after \
is not known.
A period in which a change was seen had one, at an instant spread evenly over it; what changes more often than it was \
looked at counts as fresher than it was, for every policy.
In each cycle a policy may fetch as many pages as the lake checked again, all at the instant of its first check, and \
of one host no more than plan.max_urls_per_host; delays, failures and new pages are left out.
All pages weigh the same, and 'as it was' fetched when the lake really did, later in the day.
""".strip().splitlines()
)
POLICIES = ("index", "uniform", "fixed:7d", "nutch", "proportional")
AS_IT_WAS = "as it was"
_FIXED = re.compile(r"fixed:(\d{1,4})d")
_NUTCH_DAYS = 30.0
_RATES = tuple(f"k{number}" for number in range(8))
_PRIOR = f"host VARCHAR, log_prior STRUCT({', '.join(f'{rate} DOUBLE' for rate in _RATES)})"


@dataclass(frozen=True, slots=True)
class Result:
    """One policy over the whole range.

    freshness: the share of time that a copy was current, over all pages. age_days: the mean time since a copy went out
    of date, 0 while it is current. fetches: of pages known already; changed: those of them that found a change.
    """

    policy: str
    fetches: int
    changed: int
    freshness: float
    age_days: float


@dataclass(frozen=True, slots=True)
class Backtest:
    """What a backtest has found. until: the last cycle. cycles: those in which the lake checked a page again."""

    since: str
    until: str
    cycles: int
    urls: int
    budget: int
    results: tuple[Result, ...]

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "assumptions": list(ASSUMPTIONS)}


def backtest(
    lake: Lake,
    policies: Sequence[str] = POLICIES,
    *,
    since: Cycle | None = None,
    until: Cycle | None = None,
    advance: Callable[[], None] = lambda: None,
) -> Backtest:
    """Replay the cycles from `since` to `until`, by default all there are, under each of `policies`.

    advance: called after each policy. Raises BadQuery for a policy that there is none of, a range that ends
    before it begins, and one in which no page was checked again.
    """
    for policy in policies:
        _policy(policy)
    first = since or Cycle(lake.metadata.first_cycle)
    last = until or Cycle(lake.clock.now().date())
    if last < first:
        raise BadQuery(f"the range from {first} to {last} ends before it begins", "Give --from a day before --to")
    replay = _Replay(lake, first, last)
    if not replay.cycles:
        raise BadQuery(
            f"no page was checked a second time from {first} to {last}, so there is nothing to replay",
            f"The lake's first cycle is {lake.metadata.first_cycle}; `recrawl status` shows which cycles there are",
        )
    results = [replay.actual()]
    for policy in dict.fromkeys(policies):
        results.append(replay.run(policy))
        advance()
    budget = sum(number for _, number in replay.cycles)
    return Backtest(str(first), str(last), len(replay.cycles), replay.urls, budget, tuple(results))


def _policy(text: str) -> tuple[str, dict[str, Any]]:
    """The statement of a policy and its own parameters."""
    fixed = _FIXED.fullmatch(text)
    if fixed is not None and int(fixed[1]):
        return "fixed", {"every_days": float(fixed[1])}
    if text in POLICIES and not text.startswith("fixed:"):
        return text, {}
    raise BadQuery(f"{text!r} is no policy", "Known: index, uniform, nutch, proportional, and fixed:7d for any days")


class _Replay:
    """The known changes of the lake's pages over a range. cycles: when each begins to fetch, and its budget."""

    def __init__(self, lake: Lake, first: Cycle, last: Cycle) -> None:
        self._settings = lake.settings.plan
        self._con: duckdb.DuckDBPyConnection = lake.connect()
        self._span = {"since": first.start, "until": last.end}
        self._read(lake)
        found = query.run(self._con, "backtest/cycle", self._span).fetchall()
        self.cycles: list[tuple[datetime, int]] = [(at, int(budget)) for at, budget in found]
        self.urls = len(self._con.table("replayed_url"))

    def _read(self, lake: Lake) -> None:
        con = self._con
        paths: list[str] = []
        for bucket in range(lake.buckets):
            files = lake.current("observation", "bucket", bucket, lake.written("bucket", bucket))
            paths += lake.paths(files)
        query.view_files(con, "tail_observation", "observation", paths)
        query.view_files(con, "touched_page", "page", [])
        query.materialise(con, "checked", "state/checked")
        query.materialise(con, "replayed_url", "backtest/url", self._span)
        query.materialise(con, "replayed_period", "backtest/period")
        query.materialise(con, "checked", "backtest/before", self._span)
        query.materialise(con, "learnt", "state/evidence")
        query.materialise(con, "replayed_start", "backtest/start", {**self._span, "interval_days": _NUTCH_DAYS})

    def run(self, policy: str) -> Result:
        """What becomes of the copies under `policy`."""
        con, (statement, own) = self._con, _policy(policy)
        query.materialise(con, "replayed_copy", "backtest/begin")
        query.keep_rows(con, "replayed_prior", _PRIOR, [("", dict.fromkeys(_RATES, math.log(1 / len(_RATES))))])
        totals = [0] * 5
        given = {"objective": self._settings.objective, "min_interval_days": self._settings.min_interval_days, **own}
        self._measure(totals, self._span["since"], self.cycles[0][0])
        for at, budget, end in self._steps():
            parameters = {**given, "at": at, "budget": budget, "cap": self._settings.max_urls_per_host}
            query.materialise(con, "replayed_known", "backtest/known", parameters)
            query.materialise(con, "replayed_prior", "backtest/prior")
            query.materialise(con, "replayed_value", f"backtest/{statement}", parameters)
            query.materialise(con, "replayed_chosen", "backtest/chosen", parameters)
            query.materialise(con, "replayed_copy", "backtest/copy", parameters)
            _add(totals, 0, query.run(con, "backtest/fetched").fetchone())
            self._measure(totals, at, end)
        return _result(policy, totals)

    def actual(self) -> Result:
        """What became of the lake's own copies."""
        return _result(AS_IT_WAS, list(query.run(self._con, "backtest/actual", self._span).fetchone()))

    def _steps(self) -> Iterator[tuple[datetime, int, datetime]]:
        ends = [*(at for at, _ in self.cycles[1:]), self._span["until"]]
        return ((at, budget, end) for (at, budget), end in zip(self.cycles, ends, strict=True))

    def _measure(self, totals: list[int], since: datetime, until: datetime) -> None:
        found = query.run(self._con, "backtest/measured", {"since": since, "until": until}).fetchone()
        _add(totals, 2, found)


def _add(totals: list[int], place: int, found: Sequence[int]) -> None:
    for number, value in enumerate(found):
        totals[place + number] += int(value)


def _result(policy: str, totals: Sequence[int]) -> Result:
    fetches, changed, seconds, fresh, stale = totals
    return Result(policy, fetches, changed, fresh / max(seconds, 1), stale / max(seconds, 1))
