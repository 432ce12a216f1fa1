"""How far a fetch is: what its task's log, the CLI's bar, `recrawl status` and the page in Airflow show of it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from crawler.core.outcomes import Outcome
from crawler.stages.fetch.hosts import Host, State

_OUTCOMES = frozenset(outcome.value for outcome in Outcome)


@dataclass(frozen=True, slots=True)
class Progress:
    """A fetch task at one moment. Counts are of this task, not of what others did for the cycle before it.

    planned: URLs that it was to ask for; observed: those with an outcome; outcomes: how many of each. ready: hosts that
    are asked or may be; waiting: those whose delay or robots.txt is waited for; held: those that an operator holds.
    seconds: since the task began to fetch.
    """

    planned: int
    observed: int = 0
    requests: int = 0
    wire_bytes: int = 0
    ready: int = 0
    waiting: int = 0
    held: int = 0
    seconds: float = 0.0
    outcomes: Mapping[str, int] = field(default_factory=dict)

    @property
    def pages_per_second(self) -> float:
        """Observed URLs per second since the task began to fetch."""
        return self.observed / self.seconds if self.seconds > 0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON knows it."""
        return {**asdict(self), "pages_per_second": round(self.pages_per_second, 2)}

    def __str__(self) -> str:
        often = sorted(self.outcomes.items(), key=lambda each: (-each[1], each[0]))
        return (
            f"{self.observed:,} of {self.planned:,} URLs"
            f" ({', '.join(f'{count:,} {name}' for name, count in often) or 'none yet'})"
            f", {self.pages_per_second:.1f} pages/s, {self.wire_bytes / 1e6:,.1f} MB"
            f"; hosts: {self.ready:,} ready, {self.waiting:,} waiting, {self.held:,} held"
        )


def progress_of(counts: Counter[str], hosts: Iterable[Host], *, planned: int, seconds: float, now: float) -> Progress:
    """The progress by an engine's counts and hosts at the monotonic instant `now`."""
    where: Counter[str] = Counter()
    for host in hosts:
        if host.is_held:
            where["held"] += 1
        elif host.state is State.HELD or (host.state is State.QUEUED and host.pace.allowed <= now):
            where["ready"] += 1
        elif host.state is not State.IDLE:
            where["waiting"] += 1
    return Progress(
        planned,
        observed=counts["observed"],
        requests=counts["requests"],
        wire_bytes=counts["wire_bytes"],
        ready=where["ready"],
        waiting=where["waiting"],
        held=where["held"],
        seconds=round(seconds, 3),
        outcomes={name: count for name, count in counts.items() if name in _OUTCOMES},
    )
