"""The operator's steering as tables: weights and intervals of URLs by the rules of `[plan]`, and URLs that are forced.

Reads the settings, the forces and the state of a bucket. Makes temporary tables of its connection, writes nothing.
Which URLs these are is a question of SQL; which rules are for which host is decided here, as for scope.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import duckdb

from crawler.core.config import Settings
from crawler.core.patterns import is_host_of, path_regex
from crawler.core.plan_settings import UrlRule
from crawler.store import query
from crawler.store.forces import keep_forces
from crawler.store.lake import Lake

_ANY_DEPTH = 65_535
_WEIGHTS = (
    "host VARCHAR, ordinal INTEGER, pattern VARCHAR, weight DOUBLE, min_depth INTEGER, max_depth INTEGER, "
    "min_sitemap_priority DOUBLE, min_inlinks BIGINT"
)
_INTERVALS = "host VARCHAR, ordinal INTEGER, pattern VARCHAR, min_days DOUBLE, max_days DOUBLE"


def open_steering(lake: Lake, con: duckdb.DuckDBPyConnection, bucket: int, now: datetime) -> None:
    """Make the tables `steering` and `forced` of `con`, for the rows of its view state_page.

    steering (url_key, weight, min_interval_days, max_interval_days): the URLs that a rule matches, NULL where none
    says anything. forced (url_key, reason): what a plan takes before all others, whatever its interval or rest.
    """
    settings = lake.settings.plan
    weights = [
        (
            path_regex(rule.path),
            rule.weight,
            rule.min_depth,
            _ANY_DEPTH if rule.max_depth is None else rule.max_depth,
            rule.min_sitemap_priority,
            rule.min_inlinks,
        )
        for rule in settings.weights
    ]
    intervals = [(path_regex(rule.path), rule.min_days, rule.max_days) for rule in settings.intervals]
    rules = (*settings.weights, *settings.intervals)
    hosts = [host for (host,) in query.run(con, "steering/hosts").fetchall()] if rules else []
    query.keep_rows(con, "weight_rule", _WEIGHTS, _by_host(hosts, settings.weights, weights))
    query.keep_rows(con, "interval_rule", _INTERVALS, _by_host(hosts, settings.intervals, intervals))
    query.materialise(con, "steering", "steering/steering")
    keep_forces(lake, con, bucket)
    parameters = {"now": now, "recheck_seeds_days": settings.recheck_seeds_days}
    query.materialise(con, "forced", "steering/forced", parameters)


def open_share(settings: Settings, host: str, now: datetime) -> float:
    """How much of the window that begins now `host` may be asked in, between 0 and 1."""
    own = settings.host.get(host)
    window = settings.fetch.window_hours * 3600
    return own.closed.open_seconds(now.timestamp(), now.timestamp() + window) / window if own else 1.0


def _by_host(
    hosts: Iterable[str], rules: Sequence[UrlRule], columns: Sequence[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    """The rows of the rules of each host: host, place in the settings, and the rule's `columns`."""
    return [
        (host, ordinal, *columns[ordinal])
        for host in hosts
        for ordinal, rule in enumerate(rules)
        if is_host_of(rule.host, host)
    ]
