"""A calendar for one task that never runs backwards and agrees with the monotonic clock.

Delays are waited for on the monotonic clock and proved from calendar instants. A calendar that is set back between
two requests would make a kept delay look broken, so a task reads the time through this one.
"""

import threading
from datetime import datetime, timedelta

from crawler.core.clock import Clock

_JUMP = timedelta(seconds=0.5)


class SteadyClock:
    """`clock`, advanced by monotonic seconds.

    A clock that has jumped ahead is followed at once; one that was set back is ignored until the task ends.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._anchor = (clock.now(), clock.monotonic())

    def now(self) -> datetime:
        calendar, mono = self._clock.now(), self._clock.monotonic()
        with self._lock:
            then, at = self._anchor
            steady = then + timedelta(seconds=mono - at)
            if calendar - steady > _JUMP:
                self._anchor = (calendar, mono)
                return calendar
            return steady

    def monotonic(self) -> float:
        return self._clock.monotonic()
