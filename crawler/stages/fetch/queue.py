"""The targets of an origin, best first, most of them not yet made."""

from collections import deque
from collections.abc import Sequence

from crawler.core.model import Target

_PART = 16  # targets made at once


class TargetQueue:
    """Part of the plan, with the operations of `deque` that an origin needs. places: of its targets in `plan`, rising.

    Targets that stand together in the plan are made together, when the first of them is looked at.
    """

    def __init__(self, plan: Sequence[Target], places: Sequence[int]) -> None:
        self._plan = plan
        self._places = places
        self._next = 0  # in `places`
        self._made: deque[Target] = deque()
        self._found: deque[Target] = deque()

    def append(self, target: Target) -> None:
        """Add a target that is not in the plan, after all others."""
        self._found.append(target)

    def appendleft(self, target: Target) -> None:
        """Give back the target that `popleft` gave last."""
        self._made.appendleft(target)

    def popleft(self) -> Target:
        """The best target. Raises IndexError if there is none."""
        self._make(1)
        return self._made.popleft() if self._made else self._found.popleft()

    def __getitem__(self, _first: int) -> Target:
        """What `popleft` would give; only [0] is asked for."""
        self._make(1)
        return self._made[0] if self._made else self._found[0]

    def __len__(self) -> int:
        return len(self._made) + len(self._places) - self._next + len(self._found)

    def _make(self, least: int) -> None:
        """See that at least so many targets are made, or all."""
        while len(self._made) < least and self._next < len(self._places):
            start = self._places[self._next]
            end = self._next + 1
            while (
                end < len(self._places) and end < self._next + _PART and self._places[end] == start + end - self._next
            ):
                end += 1
            self._made.extend(self._plan[start : start + end - self._next])
            self._next = end
