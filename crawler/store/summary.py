"""Summaries: what a cycle did and how the crawl stood when it was published, so that a page has nothing to compute.

Publish writes `summary/cycle=D/NNNN.json`, numbered like the publication that it describes. Whoever shows the crawl
reads these few small files and never asks the corpus. A number lasts: what one reads of a file may be kept.
"""

import json
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from crawler.core.cycle import Cycle
from crawler.core.errors import CorruptLake
from crawler.store import query
from crawler.store.lake import Lake
from crawler.store.reader import open_reader

SUMMARIES = "summary"
HOSTS = 200


@dataclass(frozen=True, slots=True)
class Summary:
    """One publication in numbers; the columns are those of `sql/publish`.

    did: what the cycle did; outcomes: the same by outcome; changed: its newest changes; politeness: the audit of its
    requests. crawl: how all that is known stood; hosts: the same for the largest hosts.
    """

    cycle: str
    number: int
    created_at: str
    did: dict[str, Any]
    outcomes: list[dict[str, Any]]
    changed: list[dict[str, Any]]
    politeness: dict[str, Any]
    crawl: dict[str, Any]
    hosts: list[dict[str, Any]]

    def to_json(self) -> bytes:
        return json.dumps({name: getattr(self, name) for name in self.__slots__}, default=_plain).encode()

    @classmethod
    def from_json(cls, content: bytes, path: str) -> "Summary":
        try:
            return cls(**json.loads(content))
        except (ValueError, TypeError) as error:
            raise CorruptLake(path, f"is no summary: {error}") from error


def write_summary(lake: Lake, cycle: Cycle, number: int) -> None:
    """Summarise publication `number` of `cycle`, unless that was done."""
    now = lake.clock.now()
    parameters = {"cycle": str(cycle), "now": now, "hosts": HOSTS, "since": cycle.start - timedelta(days=1)}
    with open_reader(lake) as con:

        def rows(name: str) -> list[dict[str, Any]]:
            return query.rows(query.run(con, name, parameters))

        query.materialise(con, "lately", "publish/lately")
        query.view_query(con, "standing", "publish/standing")
        query.materialise(con, "total", "publish/total", parameters)
        query.materialise(con, "largest", "publish/largest", parameters)
        summary = Summary(
            cycle=str(cycle),
            number=number,
            created_at=now.isoformat(),
            did=rows("publish/cycle")[0],
            outcomes=rows("publish/outcome"),
            changed=rows("publish/changed"),
            politeness=rows("publish/politeness")[0],
            crawl=rows("publish/crawl")[0],
            hosts=rows("publish/host"),
        )
    lake.files.create_bytes(summary.to_json(), f"{SUMMARIES}/cycle={cycle}/{number:04d}.json")


def summaries(lake: Lake, last: int) -> list[Summary]:
    """The newest summary of each of the `last` cycles that have one, by cycle."""
    found = []
    for folder in lake.files.folders(SUMMARIES)[-last:]:
        names = lake.files.names(f"{SUMMARIES}/{folder}")
        if names:
            path = f"{SUMMARIES}/{folder}/{names[-1]}"
            found.append(Summary.from_json(lake.files.read(path), lake.files.path(path)))
    return found


def _plain(value: object) -> object:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, date | datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} in a summary")
