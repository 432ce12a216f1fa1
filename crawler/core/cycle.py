"""A cycle: one daily run, named by the UTC day in which it fetches."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from crawler.core.errors import BadCycle

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, order=True, slots=True)
class Cycle:
    """The cycle of `day`. Its window is [start, end), both aware, in UTC."""

    day: date

    @classmethod
    def parse(cls, text: str) -> "Cycle":
        """The cycle that `text` (YYYY-MM-DD) names. Raises BadCycle."""
        if not _DAY.fullmatch(text):
            raise BadCycle(text, "is no day")
        try:
            return cls(date.fromisoformat(text))
        except ValueError as error:
            raise BadCycle(text, str(error)) from error

    @property
    def start(self) -> datetime:
        return datetime(self.day.year, self.day.month, self.day.day, tzinfo=UTC)

    @property
    def end(self) -> datetime:
        return self.start + timedelta(days=1)

    def __str__(self) -> str:
        return self.day.isoformat()


def resolve_cycle(text: str, *, first: date, now: datetime) -> Cycle:
    """The cycle to run for `text`.

    Raises BadCycle for what is no day, a day before the lake's `first` cycle, or a day after `now`.
    """
    cycle = Cycle.parse(text)
    if cycle.day < first:
        raise BadCycle(text, f"is before the lake's first cycle {first}")
    if cycle.start > now:
        raise BadCycle(text, f"is in the future (it is {now:%Y-%m-%d %H:%M} UTC)")
    return cycle


def is_busy_still(busy_at: datetime | None, now: datetime) -> bool:
    """Whether a host that asked for less at `busy_at` gets less: on that day (UTC) and the next."""
    return busy_at is not None and (now.astimezone(UTC).date() - busy_at.astimezone(UTC).date()).days <= 1
