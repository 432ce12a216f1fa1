"""Times of the day at which a host is asked for nothing: `22:00-06:00` in UTC, as an operator writes them.

Pure arithmetic on seconds since 1970, which has no leap seconds, so that a day always has 86,400 of them.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

DAY_SECONDS = 86_400
_SPAN = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)")


@dataclass(frozen=True, slots=True)
class Blackout:
    """Closed spans [from, to) in seconds of the day: ascending, apart, and none over midnight."""

    spans: tuple[tuple[int, int], ...] = ()

    @classmethod
    def parse(cls, texts: Iterable[str]) -> "Blackout":
        """The blackout that `texts` make together; one whose end is before its start goes over midnight.

        Raises ValueError for what is no span, an empty one, or spans that leave nothing of the day.
        """
        spans: list[tuple[int, int]] = []
        for text in texts:
            found = _SPAN.fullmatch(text)
            if found is None:
                raise ValueError(f"{text!r} is no time of the day; expected HH:MM-HH:MM in UTC, e.g. 22:00-06:00")
            hour, minute, end_hour, end_minute = map(int, found.groups())
            start, end = 3600 * hour + 60 * minute, 3600 * end_hour + 60 * end_minute
            if start == end:
                raise ValueError(f"{text!r} is empty; `recrawl hold HOST` stops a host altogether")
            spans += [(start, end)] if start < end else [(start, DAY_SECONDS), (0, end)]
        merged: list[tuple[int, int]] = []
        for start, end in sorted(span for span in spans if span[0] < span[1]):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        if merged == [(0, DAY_SECONDS)]:
            raise ValueError("leaves no minute of the day; `recrawl hold HOST` stops a host altogether")
        return cls(tuple(merged))

    def __bool__(self) -> bool:
        return bool(self.spans)

    def open_from(self, instant: float) -> float:
        """The first instant from `instant` on (seconds since 1970) at which the host may be asked."""
        second = instant % DAY_SECONDS
        for start, end in self.spans:
            if start <= second < end:
                is_over_midnight = end == DAY_SECONDS and self.spans[0][0] == 0
                return instant - second + end + (self.spans[0][1] if is_over_midnight else 0)
        return instant

    def open_seconds(self, start: float, end: float) -> float:
        """How much of [start, end), in seconds since 1970, the host may be asked in."""
        midnight = start - start % DAY_SECONDS
        closed = 0.0
        while midnight < end:
            closed += sum(
                max(0.0, min(end, midnight + until) - max(start, midnight + since)) for since, until in self.spans
            )
            midnight += DAY_SECONDS
        return end - start - closed
