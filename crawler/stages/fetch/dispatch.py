"""Which thread gets the next turn, and who is woken for what: the waiting of a fetch task's threads.

Owns the conditions on the engine's lock. One thread waits for the next instant, the others for a word; nobody polls.
"""

import math
import threading
from collections.abc import Callable

from crawler.core.clock import Clock
from crawler.stages.fetch.schedule import Schedule, Turn


class Dispatch:
    """Hands out the turns of `schedule`. room: waits until a segment was written; news: the supervising thread's.

    is_overfull: whether nothing more should be fetched before that. is_busy: whether there is, or may yet be, something
    to do. Call everything with the lock held.
    """

    def __init__(
        self,
        lock: threading.RLock,
        schedule: Schedule,
        clock: Clock,
        *,
        is_overfull: Callable[[], bool],
        is_busy: Callable[[], bool],
    ) -> None:
        self.room = threading.Condition(lock)
        self.news = threading.Condition(lock)
        self._turn = threading.Condition(lock)
        self._schedule = schedule
        self._clock = clock
        self._is_overfull = is_overfull
        self._is_busy = is_busy
        self._leader: int | None = None  # the thread that waits for the next turn, at `_leader_at`
        self._leader_at = math.inf
        self._parked_seen = math.inf

    def take(self) -> Turn | None:
        """Wait for a host's turn; None at the end."""
        me = threading.get_ident()
        while True:
            while self._is_overfull() and not self._schedule.is_closed:
                self.room.wait()
            if self._schedule.is_closed or not self._is_busy():
                self._turn.notify_all()
                return None
            now = self._clock.monotonic()
            turn = self._schedule.take(now)
            self._tell_news()
            at = self._schedule.next_turn()
            if turn is not None:
                self._tell_turn(at)
                return turn
            if at is None or (self._leader is not None and self._leader_at <= at):
                if self._is_busy():
                    self._turn.wait()
                continue
            self._leader, self._leader_at = me, at
            self._turn.wait(at - now)
            if self._leader == me:
                self._leader, self._leader_at = None, math.inf

    def tell(self) -> None:
        """Wake those who wait for what has changed in the schedule."""
        self._tell_news()
        self._tell_turn(self._schedule.next_turn())

    def tell_all(self) -> None:
        """Wake all who wait for a turn or for room."""
        self._turn.notify_all()
        self.room.notify_all()

    def _tell_turn(self, at: float | None) -> None:
        """See to it that somebody waits for the next turn, at the instant `at`."""
        if at is not None and at < self._leader_at:
            self._leader, self._leader_at = None, math.inf
            self._turn.notify()

    def _tell_news(self) -> None:
        if self._schedule.parked_since != self._parked_seen:
            self._parked_seen = self._schedule.parked_since
            self.news.notify()
        if not self._is_busy():
            self.news.notify()
            self._turn.notify_all()
