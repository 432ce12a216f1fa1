"""Plans: one file per bucket and cycle, created if absent, so the first plan stands for every run and retry.

Its metadata says what was read: the last settled epoch, the instant, the histogram of priorities and the addresses
that the bucket's hosts were last found at.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from crawler.core.cycle import Cycle
from crawler.core.errors import CorruptLake
from crawler.store import tables
from crawler.store.lake import Lake, partition_name


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan that stands. epoch: the last settled epoch that it read. histogram: rows by priority >> 6."""

    path: str
    epoch: int
    planned_at: datetime
    histogram: dict[int, int]
    addresses: tuple[str, ...]

    @property
    def candidates(self) -> int:
        return sum(self.histogram.values())


def plan_name(lake: Lake, cycle: Cycle, bucket: int) -> str:
    """The name of the plan of a bucket and cycle."""
    return f"{lake.layout}/plan/{partition_name('bucket', bucket)}/cycle={cycle}/plan.parquet"


def read_plan(lake: Lake, cycle: Cycle, bucket: int) -> PlanFile | None:
    """The plan that stands for a bucket and cycle, or None."""
    name = plan_name(lake, cycle, bucket)
    if not lake.files.exists(name):
        return None
    path = lake.files.path(name)
    metadata = tables.read_metadata(path)
    return PlanFile(
        path,
        int(metadata["epoch"]),
        datetime.fromisoformat(metadata["planned_at"]),
        {int(bin_): count for bin_, count in json.loads(metadata["histogram"])},
        tuple(json.loads(metadata["addresses"])),
    )


def plan_metadata(
    epoch: int, planned_at: datetime, histogram: Mapping[int, int], addresses: Sequence[str]
) -> dict[str, str]:
    """The metadata that `read_plan` reads."""
    return {
        "epoch": str(epoch),
        "planned_at": planned_at.isoformat(),
        "histogram": json.dumps(sorted(histogram.items(), reverse=True)),
        "addresses": json.dumps(sorted(addresses)),
    }


def create_plan(lake: Lake, cycle: Cycle, bucket: int, staged: Path) -> PlanFile:
    """Make the staged file the plan, unless one stands; returns the one that stands."""
    lake.files.create(staged, plan_name(lake, cycle, bucket))
    plan = read_plan(lake, cycle, bucket)
    if plan is None:
        raise CorruptLake(lake.files.path(plan_name(lake, cycle, bucket)), "was deleted while its cycle is open")
    return plan
