"""The rows that wait to be written down.

Owns the buffer of one fetch task; its caller holds the lock. Bodies wait here or at the parser
and nowhere else, so its limits are the task's memory.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from crawler.core.columns import FoundLinks
from crawler.core.model import Row

MOST_BYTES = 16 << 20  # of rows in memory, after which a segment is written whatever the settings say
_BODIES = ("capture", "robots")
_ROW_BYTES = 1 << 10  # of a row without its body, roughly


@dataclass(slots=True)
class Segment:
    """Rows by table since `since` (monotonic), and links as columns.

    pages: observations among them; weight: bytes of memory, roughly.
    """

    since: float = 0.0
    pages: int = 0
    weight: int = 0
    rows: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    links: list[FoundLinks] = field(default_factory=list)

    def add(self, rows: Mapping[str, Sequence[Row]], now: float) -> None:
        """Add rows; nothing of them is changed afterwards."""
        if not self.rows:
            self.since = now
        for table, found in rows.items():
            if found:
                self.rows[table].extend(found)
        self.pages += len(rows.get("observation", ()))
        self.weight += sum(map(len, rows.values())) * _ROW_BYTES
        self.weight += sum(len(row["body"] or b"") for table in _BODIES for row in rows.get(table, ()))

    @property
    def is_empty(self) -> bool:
        return not self.rows

    def add_links(self, found: FoundLinks) -> None:
        """Add the links of pages whose observations are added under the same lock."""
        if len(found.links):
            self.links.append(found)
            self.weight += found.weight

    def is_full(self, most_pages: int) -> bool:
        """Whether it should be written now."""
        return self.pages >= most_pages or self.weight >= MOST_BYTES

    def is_overfull(self, most_pages: int, *, pages: int = 0, weight: int = 0) -> bool:
        """Whether nothing more should be fetched before it is written; `pages` of `weight` bytes will join it."""
        return self.pages + pages >= 2 * most_pages or self.weight + weight >= 2 * MOST_BYTES
