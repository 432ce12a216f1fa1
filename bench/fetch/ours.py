"""One fetch task of Recrawl, as Airflow would run it: `crawler.stages.fetch.run` on one bucket of a planned lake.

Arguments: settings file, cycle, bucket, and after how many pages to stop (0: never). Prints what it did as one JSON
object; also what writing took of the CPU, and how long the fetch was.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from crawler.core.clock import SystemClock
from crawler.core.config import load_settings
from crawler.core.progress import Progress
from crawler.stages import fetch
from crawler.store.lake import Lake
from crawler.store.ledger import FetchLedger


def main() -> None:
    """Fetch one bucket and print what came of it."""
    path, day, bucket, most = sys.argv[1:]
    observed = 0
    progress: list[tuple[float, int]] = []

    def told(reached: Progress) -> None:
        nonlocal observed
        observed = reached.observed
        progress.append((time.monotonic(), observed))

    writing = _Timed(FetchLedger, "append", time.thread_time), _Timed(FetchLedger, "finish", time.process_time)
    lake = Lake.open(load_settings(path), SystemClock())
    began = time.monotonic()
    counts = fetch.run(lake, lake.cycle(day), int(bucket), progress=told, stop=lambda: 0 < int(most) <= observed)
    ended = time.monotonic()
    said = {
        "pages": counts.get("ok", 0),
        "counts": counts,
        "write_cpu_seconds": sum(timed.seconds for timed in writing),
        "fetch_seconds": ended - began,
        "progress": progress,
        "ended_at": ended,
    }
    print(json.dumps(said))


class _Timed:
    """Sums up what a method takes by `clock`."""

    def __init__(self, owner: type, name: str, clock: Callable[[], float]) -> None:
        self.seconds = 0.0
        method = getattr(owner, name)

        def timed(*arguments: Any, **named: Any) -> Any:
            began = clock()
            try:
                return method(*arguments, **named)
            finally:
                self.seconds += clock() - began

        setattr(owner, name, timed)


if __name__ == "__main__":
    main()
