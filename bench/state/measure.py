"""What is measured: processes that run stages, the files that they leave, the statements that they run.

A worker runs one part of a stage at a time, as a worker of `recrawl run` does, so that the differences of its process's
counters are that part's. Bytes read are those that it asked the kernel for (rchar of /proc/self/io), cached or not.
"""

import os
import resource
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bench.state import checkpoint, profile, rewrite, seen, views
from crawler.core.clock import open_clock
from crawler.core.config import Settings
from crawler.core.cycle import Cycle
from crawler.stages import admit, check, fingerprint, merge, plan, publish
from crawler.store.lake import Lake
from crawler.store.state import State

PARTED: dict[str, Callable[[Lake, Cycle, int], dict[str, Any]]] = {
    "plan": plan.run,
    "fingerprint": fingerprint.run,
    "merge": merge.run,
    "checkpoint": checkpoint.run,
    "generate": rewrite.generate,
    "rewrite": rewrite.update,
}
WHOLE: dict[str, Callable[[Lake, Cycle], dict[str, Any]]] = {
    "admit": admit.run,
    "check": check.run,
    "publish": publish.run,
    "views": views.run,
    "seen": seen.run,
}


@dataclass(slots=True)
class Cost:
    """What a stage took. said: the sum of the numbers that its parts returned."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    bytes_read: int = 0
    bytes_written: dict[str, int] = field(default_factory=dict)
    said: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Part:
    """What one part of a stage took in its worker. statements: by name the number of runs and their CPU seconds."""

    process: int
    cpu_seconds: float
    bytes_read: int
    peak_kb: int
    said: dict[str, Any]
    statements: dict[str, tuple[int, float]]


class Workers:
    """The measured processes; a context manager. processes: how many, beside each other."""

    def __init__(self, settings: Settings, processes: int, *, is_profiled: bool = False) -> None:
        self._settings = settings
        self._is_profiled = is_profiled
        self._pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
        self._peaks: dict[int, int] = {}
        self.statements: dict[str, dict[str, tuple[int, float]]] = defaultdict(dict)
        self.stages: dict[str, tuple[int, float]] = {}
        """By stage how often it ran, and the CPU seconds of all that."""

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    @property
    def peak_mb(self) -> int:
        """Most memory of all workers: the sum of what each had at most."""
        return sum(self._peaks.values()) // 1024

    def run(self, stage: str, cycle: Cycle, numbers: Sequence[int] = ()) -> Cost:
        """Run a stage for every part, and measure it."""
        before = sizes(Path(self._settings.lake.root))
        began = time.monotonic()
        cost = Cost()
        said: dict[str, int] = defaultdict(int)
        for part in self._parts(stage, cycle, numbers):
            cost.cpu_seconds += part.cpu_seconds
            cost.bytes_read += part.bytes_read
            self._peaks[part.process] = max(self._peaks.get(part.process, 0), part.peak_kb)
            for name, value in part.said.items():
                if isinstance(value, int) and name not in ("bucket", "shard", "number"):
                    said[name] += value
            for name, (runs, seconds) in part.statements.items():
                more = self.statements[stage].get(name, (0, 0.0))
                self.statements[stage][name] = (more[0] + runs, more[1] + seconds)
        cost.seconds = time.monotonic() - began
        runs, cpu_seconds = self.stages.get(stage, (0, 0.0))
        self.stages[stage] = (runs + 1, cpu_seconds + cost.cpu_seconds)
        cost.said = dict(said)
        cost.bytes_written = _written(before, sizes(Path(self._settings.lake.root)))
        return cost

    def _parts(self, stage: str, cycle: Cycle, numbers: Sequence[int]) -> Iterator[Part]:
        running = [
            self._pool.submit(_run, stage, self._settings, cycle, number, self._is_profiled)
            for number in numbers or (None,)
        ]
        for future in running:
            yield future.result()


def _run(stage: str, settings: Settings, cycle: Cycle, number: int | None, is_profiled: bool) -> Part:
    """One part of a stage, in a worker."""
    _watch_checkpoints()
    if is_profiled:
        profile.watch()
    profile.STATEMENTS.clear()
    cpu, read = time.process_time(), _read_bytes()
    lake = Lake.open(settings, open_clock(settings.clock.simulated))
    _CHECKPOINTS.update(checkpoint_microseconds=0, checkpoint_cpu_microseconds=0)
    said = WHOLE[stage](lake, cycle) if number is None else PARTED[stage](lake, cycle, number)
    if stage == "merge":
        said |= _CHECKPOINTS
    return Part(
        os.getpid(),
        time.process_time() - cpu,
        _read_bytes() - read,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        said,
        dict(profile.STATEMENTS),
    )


_CHECKPOINTS: dict[str, int] = {}


def _watch_checkpoints() -> None:
    """Note what merges take for checkpoints, the fold before it included, since these come once in many cycles."""
    if _CHECKPOINTS:
        return
    decide = vars(merge)["_checkpoint_when_due"]

    def timed(state: State) -> int:
        began, worked = time.perf_counter(), time.process_time()
        rows: int = decide(state)
        if rows:
            _CHECKPOINTS["checkpoint_microseconds"] += int(1e6 * (time.perf_counter() - began))
            _CHECKPOINTS["checkpoint_cpu_microseconds"] += int(1e6 * (time.process_time() - worked))
        return rows

    vars(merge)["_checkpoint_when_due"] = timed


# Files


def sizes(root: Path) -> dict[str, int]:
    """The size of every file below `root`, by its path there."""
    found = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            found[os.path.relpath(path, root)] = os.stat(path).st_size
    return found


def _written(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    """By table the bytes of the files that are new."""
    total: dict[str, int] = defaultdict(int)
    for name, size in after.items():
        if before.get(name) != size:
            total[_table(name)] += size
    return dict(sorted(total.items()))


def _table(name: str) -> str:
    parts = name.split("/")
    return parts[1] if parts[0].startswith("layout=") else parts[0]


def _read_bytes() -> int:
    with open("/proc/self/io", encoding="ascii") as counters:
        return next(int(line.split()[1]) for line in counters if line.startswith("rchar"))
