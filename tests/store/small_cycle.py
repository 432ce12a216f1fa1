"""Cycles of the small web from plan to publish, without a network."""

import itertools
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

from crawler.core.cycle import Cycle
from crawler.stages import admit, check, fingerprint, merge, plan, publish, seed
from crawler.store.lake import Lake
from tests.store.small_web import FIRST_DAY, A, B, ManualClock, fetch, small_settings

CYCLES = [Cycle((FIRST_DAY + timedelta(days=day)).date()) for day in range(4)]


def seeded_lake(root: Path, **lake: Any) -> Lake:
    """A lake that knows the two front pages, in the morning of the first cycle."""
    made = Lake.create(small_settings(str(root), **lake), ManualClock(FIRST_DAY + timedelta(hours=1)))
    seed.run(made, [f"{A}/", f"{B}/"])
    return made


def prepare(lake: Lake, cycle: Cycle) -> None:
    """Plan and admit, in the morning of the cycle or later."""
    lake.clock.instant = max(lake.clock.instant, cycle.start + timedelta(hours=1))
    for bucket in range(lake.buckets):
        plan.run(lake, cycle, bucket)
    admit.run(lake, cycle)


def fetch_all(lake: Lake, cycle: Cycle, buckets: Iterable[int] | None = None) -> list[str]:
    """Fetch what is left of the plans; returns the URLs that were asked for."""
    asked: list[str] = []
    for bucket in range(lake.buckets) if buckets is None else buckets:
        fetch(lake, cycle, bucket, tokens=itertools.count(), asked=lambda url, *_: asked.append(url))
    return asked


def fold(lake: Lake, cycle: Cycle) -> None:
    """Fingerprint and merge."""
    for shard in range(lake.buckets):
        fingerprint.run(lake, cycle, shard)
    for bucket in range(lake.buckets):
        merge.run(lake, cycle, bucket)


def run_whole(lake: Lake, cycle: Cycle, buckets: Iterable[int] | None = None) -> dict[str, Any]:
    """All stages of a cycle; only `buckets` are fetched. Returns what publish does."""
    prepare(lake, cycle)
    fetch_all(lake, cycle, buckets)
    fold(lake, cycle)
    check.run(lake, cycle)
    return publish.run(lake, cycle)
