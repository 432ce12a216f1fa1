"""Fetches of a scripted site into a ledger in memory, and what their robots.txt rows say."""

from datetime import UTC, datetime, timedelta
from typing import Any

from crawler.core.clock import SystemClock
from crawler.core.config import Settings
from crawler.core.cycle import Cycle
from crawler.core.model import Row
from crawler.stages import fetch
from tests.stages.memory_ledger import MemoryLedger, make_settings
from tests.web.server import ScriptedServer

TOLERANCE_SECONDS = 0.005
DENY_ALL = "User-agent: *\nDisallow: /\n"


def run(ledger: MemoryLedger, server: ScriptedServer, settings: Settings | None = None, **more: Any) -> dict[str, int]:
    bucket, buckets = more.pop("bucket", 0), more.pop("buckets", 1)
    cycle = Cycle(datetime.now(UTC).date())
    with server.intercept():
        return fetch.fetch(ledger, settings or make_settings(), SystemClock(), cycle, bucket, buckets, **more)


def urls(count: int, host: str = "a.test") -> list[str]:
    return [f"http://{host}/{number}" for number in range(count)]


def final(ledger: MemoryLedger) -> list[Row]:
    """The decisions about robots.txt, oldest first."""
    return [row for row in ledger.rows["robots"] if row["final"]]


def age_robots(ledger: MemoryLedger, seconds: float) -> None:
    """Let the robots.txt rows have been written that long ago, and be valid no more."""
    for row in ledger.rows["robots"]:
        for name in ("fetched_at", "ended_at", "read_at", "unreachable_since"):
            row[name] = row[name] and row[name] - timedelta(seconds=seconds)
        row["valid_until"] = min(row["valid_until"], datetime.now(UTC) - timedelta(seconds=1))
    ledger.rows["observation"].clear()
