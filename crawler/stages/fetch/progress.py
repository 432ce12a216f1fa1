"""How far a fetch is, by its engine's counts and hosts."""

from collections import Counter
from collections.abc import Iterable

from crawler.core.progress import OUTCOMES, Progress
from crawler.stages.fetch.hosts import Host, State


def progress_of(
    counts: Counter[str], hosts: Iterable[Host], *, planned: int, restarts: int, seconds: float, now: float
) -> Progress:
    """The progress by an engine's counts and hosts at the monotonic instant `now`. restarts: of parse workers."""
    where: Counter[str] = Counter()
    for host in hosts:
        if host.is_held:
            where["held"] += 1
        elif host.state in (State.HELD, State.ASKED) or (host.state is State.QUEUED and host.pace.allowed <= now):
            where["ready"] += 1
        elif host.state is not State.IDLE:
            where["waiting"] += 1
    return Progress(
        planned,
        observed=counts["observed"],
        discovered=counts["discovered"],
        requests=counts["requests"],
        wire_bytes=counts["wire_bytes"],
        ready=where["ready"],
        waiting=where["waiting"],
        held=where["held"],
        parser_restarts=restarts,
        seconds=round(seconds, 3),
        outcomes={name: count for name, count in counts.items() if name in OUTCOMES},
    )
