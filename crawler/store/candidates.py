"""The candidates of a bucket: which of its URLs a plan may choose from at an instant, what they are worth, their ranks.

Reads the bucket's state, the newest admission, the scope, the holds and the operator's steering. Makes temporary tables
of its connection, writes nothing. `plan` writes what is chosen; `explain` says by the same tables why a URL was or was
not chosen. docs/recrawl-policy.md says the rule in words.
"""

from datetime import datetime
from typing import Any

import duckdb

from crawler.core.cycle import Cycle, is_busy_still
from crawler.core.keys import host_key
from crawler.core.outcomes import CONSEQUENCES
from crawler.store import query
from crawler.store.admission import crawl_belief
from crawler.store.holds import held_hosts
from crawler.store.lake import Lake
from crawler.store.lease import Settled
from crawler.store.renamed import leave_renamed
from crawler.store.scoping import judge, open_scope
from crawler.store.state import open_state
from crawler.store.steering import open_share, open_steering
from crawler.store.traps import barren_hosts, stop_known

OVERDUE_SHARE = 0.05
"""Share of the budget that URLs may take whose longest interval is over, whatever they are worth."""

EVERYTHING = -(2**31)
"""A priority that no URL is below."""

SPARE = 1.5  # of the budget on a short list, for what caps, scope and traps leave out
FEW = 20_000  # URLs that are not worth a short list

_FORGIVEN_DAYS = 0.1  # of a rest, so that a plan that is a little earlier than the last does not lose a day
_BELIEF = (
    "urls BIGINT, sums STRUCT(" + ", ".join(f"k{rate} BIGINT" for rate in range(8)) + "), asked BIGINT, useful BIGINT"
)

Pace = list[tuple[str, float, str | None, datetime | None]]
"""By host: its delay in seconds, the address that it was last found at, and when it last answered 429 or 503."""


def find_candidates(
    lake: Lake,
    con: duckdb.DuckDBPyConnection,
    bucket: int,
    settled: Settled,
    now: datetime,
    *,
    before: Cycle | None = None,
    whole: bool = False,
) -> Pace:
    """Make the tables state_page, scored, candidate, verdict, ranked and those they read, for `bucket` as of `settled`.

    before: the cycle that is planned; its prior is that of the newest admission before it. whole: score what is not due
    as well, which a plan does not need.
    """
    open_state(lake, con, bucket, settled)
    pace: Pace = query.run(con, "plan/pace").fetchall()
    keep_rest(con)
    query.materialise(con, "reopened", "plan/reopened")
    open_steering(lake, con, bucket, now)
    noisy = [(host_key(host), own.noisy) for host, own in lake.settings.host.items() if own.noisy is not None]
    query.keep_rows(con, "noisy_host", "host_key UBIGINT, noisy BOOLEAN", noisy)
    keep_belief(con, crawl_belief(lake, before))
    parameters = choice_parameters(lake, now, whole=whole)
    score(con, parameters)
    scope = open_scope(lake, con)
    for lowest in (EVERYTHING,) if whole else (short(con, parameters), EVERYTHING):
        _keep_lowest(con, lowest)
        judge(lake, con, scope)
        _keep_caps(lake, con, bucket, pace, now)
        stop_known(lake, con)
        leave_renamed(lake, con)
        query.materialise(con, "ranked", "plan/ranked", parameters)
        if lowest == EVERYTHING or _is_enough(con, parameters):
            break
    return pace


def score(con: duckdb.DuckDBPyConnection, parameters: dict[str, Any]) -> None:
    """Make the tables host_sums, host_belief and scored, and the view candidate.

    `con` has state_page, rest, reopened, steering, forced, noisy_host and crawl_belief.
    """
    for table in ("host_sums", "host_belief", "scored"):
        query.materialise(con, table, f"plan/{table}", parameters)
    _keep_lowest(con, EVERYTHING)
    query.view_query(con, "candidate", "plan/candidate")


def short(con: duckdb.DuckDBPyConnection, parameters: dict[str, Any]) -> int:
    """A priority above which the plan of a large bucket probably lies, so that scope and traps look at no more."""
    wanted = SPARE * parameters["budget"]
    least_known = SPARE * (parameters["budget"] - parameters["new_limit"])
    known = new = 0
    for bin_, more_known, more_new in query.run(con, "plan/level").fetchall():
        known, new = known + more_known, new + more_new
        if known + min(new, SPARE * parameters["new_limit"]) >= max(wanted, FEW) and known >= least_known:
            return int(bin_) << 6
    return EVERYTHING


def _is_enough(con: duckdb.DuckDBPyConnection, parameters: dict[str, Any]) -> bool:
    """Whether no URL below the short list can be in the plan: it is full, and new URLs have but their share of it."""
    taken, known = query.run(con, "plan/taken", parameters).fetchone()
    budget = parameters["budget"]
    return bool(taken >= budget and known >= budget - parameters["new_limit"])


def _keep_lowest(con: duckdb.DuckDBPyConnection, priority: int) -> None:
    query.keep_rows(con, "shortest", "priority INTEGER", [(priority,)])


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
