"""A lake of the generated web: how large it is, where it is, what its settings are, which day it is there."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.state import sql
from crawler.core.clock import SimulatedClock
from crawler.core.config import Settings, parse_settings
from crawler.core.cycle import Cycle
from crawler.core.keys import KEY_BITS
from crawler.store import query
from crawler.store.lake import Lake

START = datetime(2026, 11, 1, 1, tzinfo=UTC)
"""When the first cycle is planned; what the lake knows before it was fetched on the days before."""

URLS_PER_HOST = 500
COPY_SHARE = 1 / 100


@dataclass(frozen=True, slots=True)
class Web:
    """urls: known at the start, over all buckets. fetched: admitted in a cycle. links: found in a cycle."""

    folder: Path
    urls: int
    fetched: int = 100_000
    links: int = 1_000_000
    buckets: int = 64
    threads: int = 2
    memory_limit: str = "4GB"

    @property
    def settings(self) -> Settings:
        tables: dict[str, dict[str, Any]] = {
            "crawl": {"user_agent": "bench/1.0 (+https://example.org/bench)"},
            "lake": {"root": str(self.folder / "lake"), "buckets": self.buckets},
            "scope": {"hosts": ["*.example.org"]},
            "plan": {"budget_urls": self.fetched},
            "engine": {"threads": self.threads, "memory_limit": self.memory_limit},
            "clock": {"simulated": str(self.clock.path)},
        }
        return parse_settings(tables)

    @property
    def clock(self) -> SimulatedClock:
        return SimulatedClock(self.folder / "clock.json")

    @property
    def width(self) -> int:
        """How many keys of hosts a bucket has."""
        return min((1 << KEY_BITS) // self.buckets, (1 << KEY_BITS) - 1)

    @property
    def parameters(self) -> dict[str, Any]:
        """Those of the statements that are the same in every bucket."""
        urls = self.urls // self.buckets
        return {
            "buckets": self.buckets,
            "width": self.width,
            "urls": urls,
            "hosts": max(1, urls // URLS_PER_HOST),
            "links": round(self.links / self.fetched),
            "copies": max(1, round(self.urls * COPY_SHARE)),
            "days": max(1.0, self.urls / 100_000),
            "now": START,
        }

    def open(self) -> Lake:
        """The lake."""
        return Lake.open(self.settings, self.clock)

    def connect(self) -> query.Connection:
        """A connection that knows the web's names and the table layout."""
        con = sql.open_web(query.connect(self.settings.engine))
        sql.keep(con, "layout", "layout", self.parameters)
        return con

    def cycle(self, number: int) -> Cycle:
        """The cycle with that number, from 1."""
        return Cycle((START + timedelta(days=number)).date())

    def set_clock(self, number: int) -> None:
        """Make it the morning of a cycle."""
        self.clock.set(START + timedelta(days=number))

    def to_json(self) -> str:
        return json.dumps({name: getattr(self, name) for name in self.__slots__ if name != "folder"})
