"""Admissions: one file per cycle, created if absent: the cut-off that makes the buckets' plans one global choice."""

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
    def admitted(self) -> int:
        return sum(int(row["admitted"]) for row in self.rows)

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


def create_admission(lake: Lake, cycle: Cycle, staged: Path) -> Admission:
    """Make the staged file the admission, unless one stands; returns the one that stands."""
    lake.files.create(staged, admission_name(lake, cycle))
    admission = read_admission(lake, cycle)
    if admission is None:
        raise CorruptLake(lake.files.path(admission_name(lake, cycle)), "was deleted while its cycle is open")
    return admission
