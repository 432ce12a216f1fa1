"""The rows that wait to be written down.

Owns the buffer of one fetch task; its caller holds the lock. Bodies wait here and nowhere else, so its limits are the
task's memory.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from crawler.core.model import Row

MOST_BYTES = 64 << 20  # of rows in memory, after which a segment is written whatever the settings say
_BODIES = ("capture", "robots")
_ROW_BYTES = 1 << 10  # of a row without its body, roughly


@dataclass(slots=True)
class Segment:
    """Rows by table since `since` (monotonic). pages: observations among them; weight: bytes of memory, roughly."""

    since: float = 0.0
    pages: int = 0
    weight: int = 0
    rows: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))

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

    def is_full(self, most_pages: int) -> bool:
        """Whether it should be written now."""
        return self.pages >= most_pages or self.weight >= MOST_BYTES

    def is_overfull(self, most_pages: int) -> bool:
        """Whether nothing more should be fetched before it is written."""
        return self.pages >= 2 * most_pages or self.weight >= 2 * MOST_BYTES
