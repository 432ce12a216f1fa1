"""A lake with a planned cycle, made by the stages that make one: seed, plan, admit."""

import json
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from crawler.core.clock import SystemClock
from crawler.core.config import load_settings
from crawler.stages import admit, plan, seed
from crawler.store.lake import Lake

USER_AGENT = "bench/1.0 (+https://example.org/bench)"


@dataclass(frozen=True, slots=True)
class Planned:
    """A lake in which nothing is left to do before fetch."""

    settings: Path
    day: str
    buckets: int

    def open(self) -> Lake:
        """The lake."""
        return Lake.open(load_settings(self.settings), SystemClock())


def make_planned(
    folder: Path, urls: list[str], addresses: dict[str, str], *, buckets: int, politeness: dict[str, float]
) -> Planned:
    """Make a lake under `folder`, in place of what is there, whose cycle of today fetches all of `urls`."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tables: dict[str, dict[str, object]] = {
        "crawl": {"user_agent": USER_AGENT},
        "lake": {"buckets": buckets},
        "fetch": {"allow_private": ["127.0.0.0/8"]},
        "politeness": dict(politeness),
        "plan": {"budget_urls": len(urls)},
        "fetch.resolve": dict(addresses),
    }
    lines = [
        line
        for name, values in tables.items()
        for line in (f"[{name}]", *(f"{json.dumps(key)} = {json.dumps(value)}" for key, value in values.items()))
    ]
    settings = folder / "recrawl.toml"
    settings.write_text("\n".join(lines) + "\n")
    lake = Lake.create(load_settings(settings), SystemClock())
    planned = Planned(settings, f"{datetime.now(UTC):%Y-%m-%d}", buckets)
    seed.run(lake, urls)
    cycle = lake.cycle(planned.day)
    for bucket in range(buckets):
        plan.run(lake, cycle, bucket)
    admitted = admit.run(lake, cycle)["admitted"]
    if admitted != len(urls):
        raise SystemExit(f"{admitted} of {len(urls)} URLs are planned")
    return planned
