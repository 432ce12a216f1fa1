"""Random-looking numbers that follow from a key, and Poisson processes made of them.

Owns all chance in the demo web: equal keys give equal numbers on every machine and Python version. No I/O.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from xxhash import xxh3_64_intdigest

T = TypeVar("T")
DAY_SECONDS = 86400


class Dice:
    """An endless row of numbers that depends on nothing but its key."""

    def __init__(self, *key: object) -> None:
        self._key = "|".join(map(str, key))
        self._drawn = 0

    def random(self) -> float:
        """The next number, uniform in [0, 1)."""
        self._drawn += 1
        return (xxh3_64_intdigest(f"{self._key}|{self._drawn}".encode()) >> 11) / (1 << 53)

    def below(self, limit: int) -> int:
        """The next whole number in 0 .. limit - 1."""
        return int(self.random() * limit)

    def pick(self, choices: Sequence[T]) -> T:
        return choices[self.below(len(choices))]

    def weighted(self, choices: Sequence[tuple[T, float]]) -> T:
        """One of `choices`, each a value and its share; the shares sum to 1."""
        left = self.random()
        for value, share in choices:
            left -= share
            if left < 0:
                return value
        return choices[-1][0]


class PoissonProcess:
    """The instants at which something happens, at random with a fixed rate, from `start` on.

    They are whole seconds and distinct, so that an HTTP date tells any two states of a page apart. They are drawn
    as far as they are asked for; asking further never changes earlier ones.
    """

    def __init__(self, key: str, per_day: float, start: datetime) -> None:
        self._dice = Dice(key, "poisson")
        self._per_day = per_day
        self._start = start
        self._exact = 0.0  # seconds after start, before rounding
        self._seconds: list[int] = []

    def count(self, instant: datetime) -> int:
        """How many happened until `instant`, that second included."""
        elapsed = (instant - self._start).total_seconds()
        self._draw_until(elapsed)
        return bisect_right(self._seconds, elapsed)

    def between(self, after: datetime, until: datetime) -> list[datetime]:
        """The instants in (after, until]."""
        first, last = self.count(after), self.count(until)
        return [self._start + timedelta(seconds=second) for second in self._seconds[first:last]]

    def latest(self, count: int) -> datetime | None:
        """The instant of number `count` (from 1); None for 0. It must have been counted before."""
        return self._start + timedelta(seconds=self._seconds[count - 1]) if count else None

    def _draw_until(self, elapsed: float) -> None:
        if self._per_day <= 0:
            return
        while not self._seconds or self._seconds[-1] <= elapsed:
            self._exact -= math.log(1 - self._dice.random()) * DAY_SECONDS / self._per_day
            second = math.ceil(self._exact)
            if not self._seconds or second > self._seconds[-1]:
                self._seconds.append(second)
