"""A calendar for one task that never runs backwards and agrees with the monotonic clock.

Delays are waited for on the monotonic clock and proved from calendar instants. A calendar that is set back between
two requests would make a kept delay look broken, so a task reads the time through this one.
"""

import threading
from datetime import datetime, timedelta

from crawler.core.clock import Clock

_TOGETHER_SECONDS = 1e-4
_JUMP = timedelta(seconds=0.5)


class SteadyClock:
    """`clock`, advanced by monotonic seconds.

    A clock that has jumped ahead is followed at once; one that was set back is ignored until the task ends.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._anchor = _read_together(clock)

    def now(self) -> datetime:
        """The calendar instant of this moment: a function of `monotonic()` alone, unless the calendar jumps ahead."""
        calendar, mono = self._clock.now(), self._clock.monotonic()
        with self._lock:
            then, at = self._anchor
            steady = then + timedelta(seconds=mono - at)
            if calendar - steady <= _JUMP:
                return steady
            self._anchor = _read_together(self._clock)
            return self._anchor[0]

    def monotonic(self) -> float:
        return self._clock.monotonic()


def _read_together(clock: Clock) -> tuple[datetime, float]:
    """Calendar and monotonic time of one moment.

    A busy machine may stop a thread between the two, so of several readings the quickest counts.
    """
    readings = []
    for _ in range(20):
        before = clock.monotonic()
        calendar = clock.now()
        took = clock.monotonic() - before
        readings.append((took, calendar, before))
        if took < _TOGETHER_SECONDS:
            break
    _, calendar, mono = min(readings)
    return calendar, mono
