"""Admissions: one file per cycle, created if absent: the cut-off that makes the buckets' plans one global choice."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from crawler.core.cycle import Cycle
from crawler.core.errors import CorruptLake
from crawler.core.model import Row
from crawler.store.lake import Lake


@dataclass(frozen=True, slots=True)
class Admission:
    """An admission that stands: the rows of table admitted, one per bucket, in order."""

    path: str
    rows: tuple[Row, ...]

    @property
    def cutoff_priority(self) -> int:
        return int(self.rows[0]["cutoff_priority"])

    @property
    def cutoff_url_key(self) -> int:
        return int(self.rows[0]["cutoff_url_key"])

    @property
    def new_cutoff_priority(self) -> int:
        return int(self.rows[0]["new_cutoff_priority"])

    @property
    def new_cutoff_url_key(self) -> int:
        return int(self.rows[0]["new_cutoff_url_key"])

    @property
    def cutoff_value(self) -> float | None:
        """What the last URL that was chosen by value is worth, in days of freshness; None if there was budget left."""
        value = self.rows[0]["cutoff_value"]
        return None if value is None else float(value)

    @property
    def admitted(self) -> int:
        return sum(int(row["admitted"]) for row in self.rows)

    def unspent(self, bucket: int) -> int:
        """How much of the budget is left for what the fetch of `bucket` finds."""
        return int(self.rows[bucket]["unspent"])

    def shared_addresses(self, bucket: int) -> dict[str, int]:
        """The addresses that hosts of `bucket` share with other buckets' hosts, with the number of those buckets."""
        return {shared["address"]: shared["buckets"] for shared in self.rows[bucket]["shared_addresses"]}


def admission_name(lake: Lake, cycle: Cycle) -> str:
    """The name of the admission of a cycle."""
    return f"{lake.layout}/admitted/cycle={cycle}/admitted.parquet"


def read_admission(lake: Lake, cycle: Cycle) -> Admission | None:
    """The admission that stands for a cycle, or None."""
    name = admission_name(lake, cycle)
    if not lake.files.exists(name):
        return None
    path = lake.files.path(name)
    rows = pq.read_table(path, partitioning=None).to_pylist()
    return Admission(path, tuple(sorted(rows, key=lambda row: int(row["bucket"]))))


def newest_admission(lake: Lake, before: Cycle | None = None) -> Admission | None:
    """The newest admission, of a cycle before `before`."""
    return next(_newest_first(lake, before), None)


def crawl_belief(lake: Lake, before: Cycle | None = None) -> Row | None:
    """What the newest admission, of a cycle before `before`, says of the whole crawl; see `admitted.belief`."""
    told = (admission.rows[0]["belief"] for admission in _newest_first(lake, before))
    return next((dict(belief) for belief in told if belief is not None), None)


def _newest_first(lake: Lake, before: Cycle | None) -> Iterator[Admission]:
    for folder in reversed(lake.files.folders(f"{lake.layout}/admitted")):
        cycle = Cycle.parse(folder.removeprefix("cycle="))
        if before is None or cycle.day < before.day:
            admission = read_admission(lake, cycle)
            if admission is not None:
                yield admission


def create_admission(lake: Lake, cycle: Cycle, staged: Path) -> Admission:
    """Make the staged file the admission, unless one stands; returns the one that stands."""
    lake.files.create(staged, admission_name(lake, cycle))
    admission = read_admission(lake, cycle)
    if admission is None:
        raise CorruptLake(lake.files.path(admission_name(lake, cycle)), "was deleted while its cycle is open")
    return admission
