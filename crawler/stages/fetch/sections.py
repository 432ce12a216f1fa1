"""The targets of a large host by path prefix, so that each of its sections goes on every day.

Best first within a section; the sections take turns in proportion to their shares. Behind the host's one gate, so its
rate is what it would be without them.
"""

from collections import deque
from collections.abc import Mapping

from crawler.core.model import Target


class Sections:
    """A queue of targets with the operations of `deque` that an origin needs.

    shares: turns of a section relative to the others', by path prefix; the longest prefix of a path counts, and paths
    without one are a section with a share of 1.
    """

    def __init__(self, shares: Mapping[str, int]) -> None:
        self._prefixes = sorted(shares, key=lambda prefix: (-len(prefix), prefix))
        self._shares = {**shares, "": shares.get("", 1)}
        self._queues: dict[str, deque[Target]] = {prefix: deque() for prefix in [*self._prefixes, ""]}
        self._passed = dict.fromkeys(self._queues, 0.0)

    def append(self, target: Target) -> None:
        """Add a target that is worse than those of its section."""
        self._queues[self._section(target)].append(target)

    def appendleft(self, target: Target) -> None:
        """Give back the target that `popleft` gave last, before any other."""
        section = self._section(target)
        self._queues[section].appendleft(target)
        self._passed[section] -= 1 / self._shares[section]

    def popleft(self) -> Target:
        """The next target. Raises IndexError if there is none."""
        section = self._next()
        self._passed[section] += 1 / self._shares[section]
        return self._queues[section].popleft()

    def __getitem__(self, _first: int) -> Target:
        """What `popleft` would give; only [0] is asked for."""
        return self._queues[self._next()][0]

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def __bool__(self) -> bool:
        return any(self._queues.values())

    def _section(self, target: Target) -> str:
        path = "/" + target.url.partition("://")[2].partition("/")[2]
        return next((prefix for prefix in self._prefixes if path.startswith(prefix)), "")

    def _next(self) -> str:
        ready = [section for section, queue in self._queues.items() if queue]
        if not ready:
            raise IndexError("no target is left")
        return min(ready, key=lambda section: self._passed[section] + 1 / self._shares[section])
