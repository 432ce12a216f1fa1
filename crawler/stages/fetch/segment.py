"""The rows that wait to be written down.

Owns the buffer of one fetch task; its caller holds the lock. Bodies wait here and nowhere else, so its limits are the
task's memory.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from crawler.core.model import Row

MOST_BYTES = 64 << 20  # of bodies, after which a segment is written whatever the settings say


@dataclass(slots=True)
class Segment:
    """Rows by table since `since` (monotonic), and how much they are."""

    since: float = 0.0
    pages: int = 0
    body_bytes: int = 0
    rows: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))

    def add(self, rows: Mapping[str, Sequence[Row]], now: float) -> None:
        """Add rows; nothing of them is changed afterwards."""
        if not self.rows:
            self.since = now
        for table, found in rows.items():
            if found:
                self.rows[table].extend(found)
        self.pages += len(rows.get("observation", ()))
        self.body_bytes += sum(
            len(row["body"]) for table in ("capture", "robots") for row in rows.get(table, ()) if row["body"]
        )

    @property
    def is_empty(self) -> bool:
        return not self.rows

    def is_full(self, most_pages: int) -> bool:
        """Whether it should be written now."""
        return self.pages >= most_pages or self.body_bytes >= MOST_BYTES

    def is_overfull(self, most_pages: int) -> bool:
        """Whether nothing more should be fetched before it is written."""
        return self.pages >= 2 * most_pages or self.body_bytes >= 2 * MOST_BYTES
