"""What limits how many URLs of a host a plan may take, as a reader's views know it: settings and holds.

Reads the settings and the operator's holds at an instant; writes nothing. The rule itself is a plan's
(`crawler.store.candidates`) and stands in sql/views/01_host_budget.sql; what a plan knows besides, that a host brings
nothing new, is told by `recrawl explain`.
"""

from collections.abc import Sequence
from datetime import datetime

from crawler.store.holds import all_held
from crawler.store.lake import Lake
from crawler.store.steering import open_share

_GENERAL = "max_urls BIGINT, floor_seconds DOUBLE, window_seconds DOUBLE, seen_at TIMESTAMPTZ"
_OWN = "host VARCHAR, max_urls BIGINT, floor_seconds DOUBLE, open_share DOUBLE"
_HELD = "host VARCHAR, bucket USMALLINT, held_at TIMESTAMPTZ, reason VARCHAR"


def rule_queries(lake: Lake, at: datetime) -> dict[str, str]:
    """The queries of the views general_rule (one row), host_rule (hosts with settings) and held, for a plan at `at`."""
    settings = lake.settings
    general = [
        (
            settings.plan.max_urls_per_host,
            settings.politeness.delay_seconds,
            settings.fetch.window_hours * 3600,
            at.isoformat(),
        )
    ]
    own = [
        (host, each.max_urls, each.delay_seconds, open_share(settings, host, at))
        for host, each in sorted(settings.host.items())
    ]
    held = [(each.host, each.bucket, each.at, each.reason) for each in all_held(lake)]
    return {"general_rule": _rows(_GENERAL, general), "host_rule": _rows(_OWN, own), "held": _rows(_HELD, held)}


def _rows(columns: str, rows: Sequence[tuple[object, ...]]) -> str:
    """The query that gives `rows`: a view over values, as CREATE VIEW takes no parameters."""
    names = [column.split()[0] for column in columns.split(", ")]
    listed = ", ".join(
        "{" + ", ".join(f"'{name}': {_literal(value)}" for name, value in zip(names, row, strict=True)) + "}"
        for row in rows
    )
    return f"SELECT unnest([{listed}]::STRUCT({columns})[], recursive := true)"


def _literal(value: object) -> str:
    if value is None:
        return "NULL"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
