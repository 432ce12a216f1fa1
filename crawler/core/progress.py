"""How far a fetch is: what its task's log, the CLI's bar, `recrawl status` and the page in Airflow show of it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from crawler.core.outcomes import Outcome

OUTCOMES = frozenset(outcome.value for outcome in Outcome)


@dataclass(frozen=True, slots=True)
class Progress:
    """A fetch task at one moment. Counts are of this task, not of what others did for the cycle before it.

    planned: URLs that it was to ask for; observed: those with an outcome; discovered: further URLs with one, which it
    found itself; outcomes: how many of each, of both. ready: hosts that are asked or may be; waiting: those whose delay
    or robots.txt is waited for; held: those that an operator holds. parser_restarts: parse workers that a page ended.
    seconds: since the task began to fetch.
    """

    planned: int
    observed: int = 0
    discovered: int = 0
    requests: int = 0
    wire_bytes: int = 0
    ready: int = 0
    waiting: int = 0
    held: int = 0
    parser_restarts: int = 0
    seconds: float = 0.0
    outcomes: Mapping[str, int] = field(default_factory=dict)

    @property
    def pages_per_second(self) -> float:
        """URLs with an outcome per second since the task began to fetch."""
        return (self.observed + self.discovered) / self.seconds if self.seconds > 0 else 0.0

    @classmethod
    def from_dict(cls, said: Mapping[str, Any]) -> "Progress":
        """What `to_dict` gave. Raises ValueError, TypeError or KeyError for anything else."""
        counts = {each.name: int(said[each.name]) for each in fields(cls) if each.type is int}
        outcomes = {name: int(count) for name, count in dict(said["outcomes"]).items() if name in OUTCOMES}
        return cls(**counts, seconds=float(said["seconds"]), outcomes=outcomes)

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON knows it."""
        return {**asdict(self), "pages_per_second": round(self.pages_per_second, 2)}

    @classmethod
    def total(cls, parts: Iterable["Progress"], *, seconds: float | None = None) -> "Progress":
        """All of `parts` together. seconds: since the first of them began; None: the longest of theirs."""
        found = list(parts)
        outcomes: Counter[str] = Counter()
        for part in found:
            outcomes.update(part.outcomes)
        counts = {
            each.name: sum(getattr(part, each.name) for part in found) for each in fields(cls) if each.type is int
        }
        longest = max((part.seconds for part in found), default=0.0)
        return cls(**counts, seconds=longest if seconds is None else seconds, outcomes=dict(outcomes))

    @property
    def detail(self) -> str:
        """Speed, bytes, hosts and outcomes, the most frequent first."""
        often = sorted(self.outcomes.items(), key=lambda each: (-each[1], each[0]))
        outcomes = ", ".join(f"{count:,} {name}" for name, count in often if count)
        restarts = f"parse workers lost: {self.parser_restarts:,}" if self.parser_restarts else ""
        return (
            f"{self.pages_per_second:.1f} pages/s, {self.wire_bytes / 1e6:,.1f} MB; "
            f"hosts: {self.ready:,} ready, {self.waiting:,} waiting, {self.held:,} held"
        ) + "".join(f"; {more}" for more in (outcomes, restarts) if more)

    def __str__(self) -> str:
        found = f" and {self.discovered:,} found" if self.discovered else ""
        return f"{self.observed:,} of {self.planned:,} URLs{found}; {self.detail}"
