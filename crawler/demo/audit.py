"""The demo web's own judgement on politeness, from its request log; knows nothing of the crawler's.

Reads the log that `web.py` writes.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

# A delay may look shorter here than it was: a client has an answer's last byte before the server's process comes to
# stamp the end, by milliseconds on a busy machine. So a gap is measured from `monotonic_last_write`, stamped before
# the kernel got the last byte and hence before any client had it: such a gap is never shorter than the client's own.
# What is left is the grain of timers.
TOLERANCE_SECONDS = 0.001


@dataclass(frozen=True, slots=True)
class Violation:
    """A request that came too soon after the one before it to the same host; negative gap: while it was answered."""

    host: str
    path: str
    instant: str
    gap_seconds: float
    delay_seconds: float


def server_audit(
    log: str | os.PathLike[str] | Iterable[Mapping[str, object]], delays: Mapping[str, float], default: float = 0.0
) -> list[Violation]:
    """The requests that came before their host's delay, from the end of the one before, was over.

    log: path of a request log, or its lines read. delays: seconds by host; `default` for hosts not named.
    """
    ended: dict[str, float] = {}
    violations = []
    for line in sorted(_lines(log), key=lambda line: _number(line, "monotonic_start")):
        host = str(line["host"])
        start = _number(line, "monotonic_start")
        if host in ended:
            gap, delay = start - ended[host], delays.get(host, default)
            if gap < delay - TOLERANCE_SECONDS:
                violations.append(Violation(host, str(line["path"]), str(line["instant_start"]), gap, delay))
        ended[host] = max(ended.get(host, 0.0), _number(line, "monotonic_last_write"))
    return violations


def _lines(log: str | os.PathLike[str] | Iterable[Mapping[str, object]]) -> Iterator[Mapping[str, object]]:
    if isinstance(log, str | os.PathLike):
        with Path(log).open(encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)
    else:
        yield from log


def _number(line: Mapping[str, object], name: str) -> float:
    return float(str(line[name]))
