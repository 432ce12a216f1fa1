"""Plans: one file per bucket and cycle, created if absent, so the first plan stands for every run and retry.

Its metadata says what was read: the last settled epoch, the instant, the histogram of priorities, the addresses that
the bucket's hosts were last found at, and what the bucket adds to the crawl's belief in change rates. A plan may end at
a floor, below which it leaves out what will hardly be admitted. If an admission reaches it after all, a second file
has the remainder; it, too, is created if absent, and the rows of the first stay as they are.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from crawler.core.cycle import Cycle
from crawler.core.errors import CorruptLake
from crawler.store import tables
from crawler.store.lake import Lake, partition_name

EVERYTHING = -(2**31)
"""A priority that no URL is below."""


class Bin(NamedTuple):
    """Rows of a plan with one priority >> 6. is_share: those that count against plan.new_share, else the others."""

    number: int
    is_share: bool
    urls: int
    expected_bytes: int


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan that stands. epoch: the last settled epoch that it read. histogram: its rows.

    belief: what the bucket adds to `admitted.belief`; None in a plan of a schema before version 3. floor: rows of a
    lower priority may be missing. beliefs: the name of those that it started from. remainder_path: of its second file.
    """

    path: str
    epoch: int
    planned_at: datetime
    histogram: tuple[Bin, ...]
    addresses: tuple[str, ...]
    belief: dict[str, Any] | None
    floor: int = EVERYTHING
    beliefs: str | None = None
    remainder_path: str | None = None

    @property
    def paths(self) -> list[str]:
        """The files with its rows."""
        return [self.path] if self.remainder_path is None else [self.path, self.remainder_path]

    @property
    def candidates(self) -> int:
        return sum(bin_.urls for bin_ in self.histogram)


def plan_name(lake: Lake, cycle: Cycle, bucket: int) -> str:
    """The name of the plan of a bucket and cycle."""
    return f"{lake.layout}/plan/{partition_name('bucket', bucket)}/cycle={cycle}/plan.parquet"


def remainder_name(lake: Lake, cycle: Cycle, bucket: int) -> str:
    """The name of the remainder of the plan of a bucket and cycle, which few plans have."""
    return plan_name(lake, cycle, bucket).replace("plan.parquet", "remainder.parquet")


def plan_names(lake: Lake, cycle: Cycle, bucket: int) -> list[str]:
    """The names of the files that the plan of a bucket and cycle has."""
    names = (plan_name(lake, cycle, bucket), remainder_name(lake, cycle, bucket))
    return [name for name in names if lake.files.exists(name)]


def read_plan(lake: Lake, cycle: Cycle, bucket: int) -> PlanFile | None:
    """The plan that stands for a bucket and cycle, with its remainder if it has one; or None."""
    names = plan_names(lake, cycle, bucket)
    if not names:
        return None
    plan, *more = (open_plan(lake.files.path(name)) for name in names)
    if not more:
        return plan
    histogram = plan.histogram + more[0].histogram
    return replace(plan, histogram=histogram, floor=EVERYTHING, remainder_path=more[0].path)


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
        int(metadata.get("floor", EVERYTHING)),
        metadata.get("beliefs"),
    )


def plan_metadata(
    epoch: int,
    planned_at: datetime,
    histogram: Sequence[tuple[int, bool, int, int]],
    addresses: Sequence[str],
    belief: dict[str, Any],
    floor: int = EVERYTHING,
    beliefs: str | None = None,
) -> dict[str, str]:
    """The metadata that `read_plan` reads."""
    started = {} if beliefs is None else {"beliefs": beliefs}
    return started | {
        "epoch": str(epoch),
        "planned_at": planned_at.isoformat(),
        "histogram": json.dumps(sorted(histogram, reverse=True)),
        "addresses": json.dumps(sorted(addresses)),
        "belief": json.dumps(belief),
        "floor": str(floor),
    }


def create_plan(lake: Lake, cycle: Cycle, bucket: int, staged: Path) -> PlanFile:
    """Make the staged file the plan, unless one stands; returns the one that stands."""
    return _create(lake, cycle, bucket, staged, plan_name(lake, cycle, bucket))


def create_remainder(lake: Lake, cycle: Cycle, bucket: int, staged: Path) -> PlanFile:
    """Make the staged file the remainder of the plan, unless it has one; returns the plan with the one that stands."""
    return _create(lake, cycle, bucket, staged, remainder_name(lake, cycle, bucket))


def _create(lake: Lake, cycle: Cycle, bucket: int, staged: Path, name: str) -> PlanFile:
    lake.files.create(staged, name)
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
