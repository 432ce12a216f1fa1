"""The candidates of a bucket: which of its URLs a plan may choose from at an instant, and what limits the choice.

Reads the bucket's state, the scope and the holds. Makes temporary tables of its connection, writes nothing. `plan`
chooses among them; `explain` says by the same tables why a URL was or was not chosen.
"""

from datetime import datetime

import duckdb

from crawler.core.cycle import is_busy_still
from crawler.core.outcomes import CONSEQUENCES
from crawler.store import query
from crawler.store.holds import held_hosts
from crawler.store.lake import Lake
from crawler.store.lease import Settled
from crawler.store.scoping import judge, open_scope
from crawler.store.state import open_state
from crawler.store.steering import open_share, open_steering
from crawler.store.traps import barren_hosts, stop_known

# A URL that was never asked for ranks as one that was last asked for so many days ago.
NEW_DAYS = 30

Pace = list[tuple[str, float, str | None, datetime | None]]
"""By host: its delay in seconds, the address that it was last found at, and when it last answered 429 or 503."""


def find_candidates(lake: Lake, con: duckdb.DuckDBPyConnection, bucket: int, settled: Settled, now: datetime) -> Pace:
    """Make the tables state_page, candidate, verdict, rest and host_cap of `con`, for `bucket` as of `settled`."""
    open_state(lake, con, bucket, settled)
    pace: Pace = query.run(con, "plan/pace").fetchall()
    _keep_rest(con)
    open_steering(lake, con, bucket, now)
    _keep_caps(lake, con, bucket, pace, now)
    parameters = {"now": now, "min_interval_days": lake.settings.plan.min_interval_days, "new_days": NEW_DAYS}
    query.materialise(con, "candidate", "plan/candidate", parameters)
    judge(lake, con, open_scope(lake, con))
    stop_known(lake, con)
    return pace


def other_cap(lake: Lake) -> int:
    """URLs that a plan may hold of a host that is not in host_cap."""
    return _cap(lake, lake.settings.plan.max_urls_per_host, lake.settings.politeness.delay_seconds)


def _keep_rest(con: duckdb.DuckDBPyConnection) -> None:
    """Make the table `rest`: days by outcome and streak."""
    rest = [
        (outcome.value, streak + 1, len(consequence.rest_days), float(days))
        for outcome, consequence in CONSEQUENCES.items()
        for streak, days in enumerate(consequence.rest_days)
    ]
    query.keep_rows(con, "rest", "outcome VARCHAR, streak INTEGER, longest INTEGER, days DOUBLE", rest)


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
    query.keep_rows(con, "host_cap", "host VARCHAR, cap BIGINT", list(caps.items()))


def _cap(lake: Lake, wanted: int, delay_seconds: float, share: float = 1.0) -> int:
    """`wanted` URLs of a host, or as many as its delay leaves time for; one at least, unless none is wanted.

    share: of the window, in which it may be asked.
    """
    if delay_seconds <= 0:
        return wanted
    return min(wanted, max(1, int(share * lake.settings.fetch.window_hours * 3600 / delay_seconds)))
