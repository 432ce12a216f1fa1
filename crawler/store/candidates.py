"""The candidates of a bucket: which of its URLs a plan may choose from at an instant, what they are worth, their ranks.

Reads the bucket's state, the newest admission, the scope, the holds and the operator's steering. Makes temporary tables
of its connection; of large buckets it leaves surveys, else it writes nothing. `plan` writes what is chosen; `explain`
says by the same tables why a URL was or was not chosen. docs/recrawl-policy.md says the rule in words.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import duckdb

from crawler.core.cycle import Cycle, is_busy_still
from crawler.core.keys import host_key
from crawler.core.outcomes import CONSEQUENCES
from crawler.store import query
from crawler.store.admission import Admission, crawl_belief, newest_admission
from crawler.store.holds import held_hosts
from crawler.store.lake import Lake
from crawler.store.lease import Settled
from crawler.store.plans import EVERYTHING, PlanFile
from crawler.store.renamed import leave_renamed
from crawler.store.scoping import judge, open_scope
from crawler.store.state import State, open_state
from crawler.store.steering import open_share, open_steering
from crawler.store.survey import (
    DAYS,
    HORIZON_DAYS,
    Listed,
    find_list,
    is_large,
    keep_beliefs,
    keep_list,
    newest_beliefs,
    open_beliefs,
)
from crawler.store.traps import barren_hosts, stop_known

OVERDUE_SHARE = 0.05
"""Share of the budget that URLs may take whose longest interval is over, whatever they are worth."""

SPARE = 1.5  # of the budget on a short list, for what caps, scope and traps leave out
FEW = 4_000  # URLs that are not worth a short list
MARGIN = 512  # below the cut-off before: an eighth of an octave, by which it may fall in a day
LISTED = 3  # times what a bucket's part of a week's budgets is, on the list of a survey

_FORGIVEN_DAYS = 0.1  # of a rest, so that a plan that is a little earlier than the last does not lose a day
_BELIEF = (
    "urls BIGINT, sums STRUCT(" + ", ".join(f"k{rate} BIGINT" for rate in range(8)) + "), asked BIGINT, useful BIGINT"
)

Pace = list[tuple[str, float, str | None, datetime | None]]
"""By host: its delay in seconds, the address that it was last found at, and when it last answered 429 or 503."""


@dataclass(frozen=True, slots=True)
class Found:
    """What candidates were looked for among.

    floor: URLs of a lower priority may be missing from `ranked`; EVERYTHING if none is. beliefs: the name of those that
    a survey has left, None if they were made for this plan only.
    """

    pace: Pace
    floor: int
    beliefs: str | None


def find_candidates(
    lake: Lake,
    con: duckdb.DuckDBPyConnection,
    bucket: int,
    settled: Settled,
    now: datetime,
    *,
    cycle: Cycle,
    whole: bool = False,
    again: PlanFile | None = None,
) -> Found:
    """Make the tables ready_page, scored, candidate, verdict, ranked and those they read, for `bucket` as of `settled`.

    cycle: the one that is planned; its prior is that of the newest admission before it. whole: score what is not due
    as well. again: a plan that was made at `now`, to find its candidates as it did. With one of these nothing is
    written and nothing left out below a floor; else a bucket that is scored whole may be surveyed.
    """
    search = _Search(lake, con, open_state(lake, con, bucket, settled), cycle, now, whole=whole)
    return search.all(again) if whole or again else search.short()


class _Search:
    """One search for the candidates of a bucket."""

    def __init__(
        self, lake: Lake, con: duckdb.DuckDBPyConnection, state: State, cycle: Cycle, now: datetime, *, whole: bool
    ) -> None:
        self.lake, self.con, self.state, self.cycle, self.now = lake, con, state, cycle, now
        self.parameters = choice_parameters(lake, now, whole=whole)
        self.pace: Pace = query.run(con, "plan/pace").fetchall()
        keep_rest(con)
        noisy = [(host_key(host), own.noisy) for host, own in lake.settings.host.items() if own.noisy is not None]
        query.keep_rows(con, "noisy_host", "host_key UBIGINT, noisy BOOLEAN", noisy)

    def all(self, again: PlanFile | None) -> Found:
        """Look at every URL."""
        beliefs = self._beliefs() if again is None else again.beliefs
        beliefs = self._score(None, beliefs)
        self._rank(EVERYTHING)
        return Found(self.pace, EVERYTHING, beliefs)

    def short(self) -> Found:
        """Look at the URLs that are worth most, as many as a plan needs."""
        before = newest_admission(self.lake, self.cycle)
        beliefs = self._beliefs()
        listed = find_list(self.lake, self.state, self.cycle, beliefs, self.now) if beliefs else None
        is_surveyed = before is not None and is_large(self.lake, self.state) and not listed
        beliefs = self._score(listed, beliefs, horizon_days=HORIZON_DAYS if is_surveyed else 0)
        share = self._share(before)
        lowest = self._lowest(share, before)
        if listed and lowest < listed.floor:
            is_surveyed, listed = True, None
            self._score(None, beliefs, horizon_days=HORIZON_DAYS)
            lowest = self._lowest(share, before)
        if is_surveyed:
            beliefs = beliefs or keep_beliefs(
                self.lake, self.con, self.state.bucket, self.cycle, self.state.settled.last, self.now
            )
            self._survey(beliefs, lowest, share)
        self._rank(lowest)
        if lowest != EVERYTHING and not self._is_enough(share):
            lowest = EVERYTHING
            if listed:
                self._score(None, beliefs)
            self._look_at(None)
            self._rank(lowest)
        return Found(self.pace, lowest, beliefs)

    def _beliefs(self) -> str | None:
        """The name of the beliefs of the bucket that hold, if it has any."""
        is_kept = is_large(self.lake, self.state)
        return newest_beliefs(self.lake, self.state.bucket, self.cycle) if is_kept else None

    def _look_at(self, listed: Listed | None) -> None:
        """Make the view `ready_page`."""
        if listed:
            query.view_files(self.con, "listed_page", "page", [listed.path])
        query.view_query(self.con, "ready_page", "plan/ready" if listed else "plan/every_page")

    def _score(self, listed: Listed | None, beliefs: str | None, horizon_days: int = 0) -> str | None:
        """Score the pages of `listed`, or all; returns the beliefs that it started from, None if those are gone."""
        lake, con = self.lake, self.con
        self._look_at(listed)
        query.materialise(con, "reopened", "plan/reopened")
        open_steering(lake, con, self.state.bucket, self.now)
        crawl = open_beliefs(lake, con, beliefs) if beliefs else None
        keep_belief(con, crawl or crawl_belief(lake, self.cycle))
        score(con, self.parameters | {"horizon_days": horizon_days}, has_sums=crawl is not None)
        return beliefs if crawl is not None else None

    def _share(self, before: Admission | None) -> int:
        """The URLs that a plan needs at least for what will probably be its bucket's part of the budget."""
        budget = int(self.parameters["budget"])
        return budget if before is None else -(-budget // self.lake.buckets)

    def _lowest(self, share: int, before: Admission | None) -> int:
        """A priority above which what is admitted probably lies."""
        hint = before.cutoff_priority - MARGIN if before is not None else 2**31 - 1
        return short(self.con, self.parameters, share, hint)

    def _is_enough(self, share: int) -> bool:
        """Whether the short list, after caps, scope and traps, still holds the bucket's part."""
        ((taken, known),) = query.run(self.con, "plan/taken", self.parameters).fetchall()
        return bool(taken >= share and known >= share * (1 - self.parameters["new_limit"] / self.parameters["budget"]))

    def _survey(self, beliefs: str, lowest: int, share: int) -> None:
        """Leave a list for the days to come, unless it would hold most of the bucket; look at it from now on."""
        wanted = max(LISTED * DAYS * share, FEW)
        total, floor, listed = 0, None, 0
        for bin_, urls in query.run(self.con, "plan/latest").fetchall():
            total += urls
            if floor is None and total >= wanted and int(bin_) << 6 <= lowest - MARGIN:
                floor, listed = int(bin_) << 6, total
        if floor is not None and listed < total // 2:
            self._look_at(keep_list(self.lake, self.state, self.cycle, beliefs, self.now, floor))

    def _rank(self, lowest: int) -> None:
        """Judge and rank what is worth `lowest` at least."""
        lake, con = self.lake, self.con
        query.keep_rows(con, "shortest", "priority INTEGER", [(lowest,)])
        query.materialise(con, "candidate", "plan/candidate")
        judge(lake, con, open_scope(lake, con))
        _keep_caps(lake, con, self.state.bucket, self.pace, self.now)
        stop_known(lake, con)
        leave_renamed(lake, con)
        query.materialise(con, "ranked", "plan/ranked", self.parameters | {"lowest": lowest})


def score(con: duckdb.DuckDBPyConnection, parameters: dict[str, Any], *, has_sums: bool = False) -> None:
    """Make the tables host_sums, host_belief and scored.

    `con` has ready_page, state_page, rest, reopened, steering, forced, noisy_host and crawl_belief. has_sums: the sums
    of hosts are those of its view survey_host.
    """
    query.materialise(con, "host_sums", "plan/known_sums" if has_sums else "plan/host_sums", parameters)
    for table in ("host_belief", "scored"):
        query.materialise(con, table, f"plan/{table}", parameters)


def short(con: duckdb.DuckDBPyConnection, parameters: dict[str, Any], share: int, hint: int) -> int:
    """A priority above which lie `share` due URLs and some to spare, and all from `hint` on up to the budget.

    Scope and traps look at no more, and no more is written.
    """
    most_new = parameters["new_limit"] / parameters["budget"]
    wanted, least_known = max(SPARE * share, FEW), SPARE * share * (1 - most_new)
    most, most_known = SPARE * parameters["budget"], SPARE * parameters["budget"] * (1 - most_new)
    known = new = 0
    for bin_, more_known, more_new in query.run(con, "plan/level").fetchall():
        known, new = known + more_known, new + more_new
        lowest = int(bin_) << 6
        is_wanted = known + min(new, SPARE * share * most_new) >= wanted and known >= least_known
        is_full = known + min(new, most * most_new) >= max(most, FEW) and known >= most_known
        if is_full or (is_wanted and lowest <= hint):
            return lowest
    return EVERYTHING


def choice_parameters(lake: Lake, now: datetime, *, whole: bool = False) -> dict[str, Any]:
    """The parameters of `score`, `plan/ranked` and `plan/plan` that the settings decide."""
    plan = lake.settings.plan
    return {
        "now": now,
        "whole": whole,
        "objective": plan.objective,
        "min_interval_days": plan.min_interval_days,
        "sitemap_interval_days": lake.settings.sitemaps.interval_days,
        "sitemaps_per_host": lake.settings.sitemaps.max_per_host,
        "budget": plan.budget_urls,
        "new_limit": new_limit(plan.budget_urls, plan.new_share),
        "new_may_fill": plan.new_share > 0,
        "overdue_limit": max(1, int(OVERDUE_SHARE * plan.budget_urls / lake.buckets)),
        "other_cap": other_cap(lake),
        "horizon_days": 0,
        "lowest": EVERYTHING,
    }


def new_limit(budget: int, new_share: float) -> int:
    """URLs never asked for that a cycle takes before known ones are left out for them."""
    return int(budget * new_share)


def keep_belief(con: duckdb.DuckDBPyConnection, belief: dict[str, Any] | None) -> None:
    """Make the table `crawl_belief` of what an admission says; without one every change rate is as likely."""
    nothing = {"urls": 0, "sums": {f"k{rate}": 0 for rate in range(8)}, "asked": 0, "useful": 0}
    query.keep_rows(con, "crawl_belief", _BELIEF, [tuple((belief or nothing).values())])


def other_cap(lake: Lake) -> int:
    """URLs that a plan may hold of a host that is not in host_cap."""
    return _cap(lake, lake.settings.plan.max_urls_per_host, lake.settings.politeness.delay_seconds)


def keep_rest(con: duckdb.DuckDBPyConnection) -> None:
    """Make the table `rest`, one row: by outcome the days of each time in a row."""
    rest = {
        outcome.value: [days - _FORGIVEN_DAYS for days in consequence.rest_days]
        for outcome, consequence in CONSEQUENCES.items()
        if consequence.rest_days
    }
    query.keep_rows(con, "rest", "days MAP(VARCHAR, DOUBLE[])", [(list(rest.items()),)])


def _keep_caps(lake: Lake, con: duckdb.DuckDBPyConnection, bucket: int, pace: Pace, now: datetime) -> None:
    """Make the table `host_cap`: URLs of each host that was asked, has settings, brings nothing new, or is held."""
    general = lake.settings.plan.max_urls_per_host
    delays = {host: delay for host, delay, _, _ in pace}
    caps = {host: _cap(lake, general, delay) for host, delay in delays.items()}
    for host, own in lake.settings.host.items():
        floor = lake.settings.politeness.delay_seconds if own.delay_seconds is None else own.delay_seconds
        wanted = general if own.max_urls is None else own.max_urls
        share = open_share(lake.settings, host, now)
        caps[host] = _cap(lake, wanted, max(floor, delays.get(host, 0)), share) if share else 0
    for host, _, _, busy_at in pace:
        if caps[host] and is_busy_still(busy_at, now):
            caps[host] = max(caps[host] // 2, 1)  # as the fetch will do
    for host, worth in barren_hosts(lake, con).items():
        caps[host] = min(caps.get(host, other_cap(lake)), worth)
    caps |= dict.fromkeys(held_hosts(lake, bucket), 0)  # a held host would only use up the budget
    rows = [(host_key(host), host, cap) for host, cap in caps.items()]
    query.keep_rows(con, "host_cap", "host_key UBIGINT, host VARCHAR, cap BIGINT", rows)


def _cap(lake: Lake, wanted: int, delay_seconds: float, share: float = 1.0) -> int:
    """`wanted` URLs of a host, or as many as its delay leaves time for; one at least, unless none is wanted.

    share: of the window, in which it may be asked.
    """
    if delay_seconds <= 0:
        return wanted
    return min(wanted, max(1, int(share * lake.settings.fetch.window_hours * 3600 / delay_seconds)))
