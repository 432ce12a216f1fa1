"""Plans: one file per bucket and cycle, created if absent, so the first plan stands for every run and retry.

Its metadata says what was read: the last settled epoch, the instant, the histogram of priorities, the addresses that
the bucket's hosts were last found at, and what the bucket adds to the crawl's belief in change rates.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from crawler.core.cycle import Cycle
from crawler.core.errors import CorruptLake
from crawler.store import tables
from crawler.store.lake import Lake, partition_name


class Bin(NamedTuple):
    """Rows of a plan with one priority >> 6. is_share: those that count against plan.new_share, else the others."""

    number: int
    is_share: bool
    urls: int
    expected_bytes: int


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan that stands. epoch: the last settled epoch that it read. histogram: its rows, best first.

    belief: what the bucket adds to `admitted.belief`; None in a plan of a schema before version 3.
    """

    path: str
    epoch: int
    planned_at: datetime
    histogram: tuple[Bin, ...]
    addresses: tuple[str, ...]
    belief: dict[str, Any] | None

    @property
    def candidates(self) -> int:
        return sum(bin_.urls for bin_ in self.histogram)


def plan_name(lake: Lake, cycle: Cycle, bucket: int) -> str:
    """The name of the plan of a bucket and cycle."""
    return f"{lake.layout}/plan/{partition_name('bucket', bucket)}/cycle={cycle}/plan.parquet"


def read_plan(lake: Lake, cycle: Cycle, bucket: int) -> PlanFile | None:
    """The plan that stands for a bucket and cycle, or None."""
    name = plan_name(lake, cycle, bucket)
    return open_plan(lake.files.path(name)) if lake.files.exists(name) else None


def open_plan(path: str) -> PlanFile:
    """The plan in the file at `path`."""
    metadata = tables.read_metadata(path)
    return PlanFile(
        path,
        int(metadata["epoch"]),
        datetime.fromisoformat(metadata["planned_at"]),
        tuple(_bin(*values) for values in json.loads(metadata["histogram"])),
        tuple(json.loads(metadata["addresses"])),
        json.loads(metadata["belief"]) if "belief" in metadata else None,
    )


def plan_metadata(
    epoch: int,
    planned_at: datetime,
    histogram: Sequence[tuple[int, bool, int, int]],
    addresses: Sequence[str],
    belief: dict[str, Any],
) -> dict[str, str]:
    """The metadata that `read_plan` reads."""
    return {
        "epoch": str(epoch),
        "planned_at": planned_at.isoformat(),
        "histogram": json.dumps(sorted(histogram, reverse=True)),
        "addresses": json.dumps(sorted(addresses)),
        "belief": json.dumps(belief),
    }


def create_plan(lake: Lake, cycle: Cycle, bucket: int, staged: Path) -> PlanFile:
    """Make the staged file the plan, unless one stands; returns the one that stands."""
    lake.files.create(staged, plan_name(lake, cycle, bucket))
    plan = read_plan(lake, cycle, bucket)
    if plan is None:
        raise CorruptLake(lake.files.path(plan_name(lake, cycle, bucket)), "was deleted while its cycle is open")
    return plan


def _bin(number: int, *rest: int) -> Bin:
    """A bin as it stands in a plan's metadata; before schema version 3 (number, urls)."""
    if len(rest) == 1:
        return Bin(number, is_share=False, urls=rest[0], expected_bytes=0)
    is_share, urls, expected_bytes = rest
    return Bin(number, bool(is_share), urls, expected_bytes)
