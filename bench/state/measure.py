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

from crawler.core.clock import open_clock
from crawler.core.config import Settings
from crawler.core.cycle import Cycle
from crawler.stages import admit, check, fingerprint, merge, plan, publish
from crawler.store import query
from crawler.store.lake import Lake

PARTED: dict[str, Callable[[Lake, Cycle, int], dict[str, Any]]] = {
    "plan": plan.run,
    "fingerprint": fingerprint.run,
    "merge": merge.run,
}
WHOLE: dict[str, Callable[[Lake, Cycle], dict[str, Any]]] = {
    "admit": admit.run,
    "check": check.run,
    "publish": publish.run,
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

    def __init__(self, settings: Settings, processes: int, *, profile: bool = False) -> None:
        self._settings = settings
        self._profile = profile
        self._pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
        self._peaks: dict[int, int] = {}
        self.statements: dict[str, dict[str, tuple[int, float]]] = defaultdict(dict)

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
        cost.said = dict(said)
        cost.bytes_written = _written(before, sizes(Path(self._settings.lake.root)))
        return cost

    def _parts(self, stage: str, cycle: Cycle, numbers: Sequence[int]) -> Iterator[Part]:
        running = [
            self._pool.submit(_run, stage, self._settings, cycle, number, self._profile) for number in numbers or (None,)
        ]
        for future in running:
            yield future.result()


def _run(stage: str, settings: Settings, cycle: Cycle, number: int | None, profile: bool) -> Part:
    """One part of a stage, in a worker."""
    if profile and not _STATEMENTS:
        _watch()
    _STATEMENTS.clear()
    cpu, read = time.process_time(), _read_bytes()
    lake = Lake.open(settings, open_clock(settings.clock.simulated))
    said = WHOLE[stage](lake, cycle) if number is None else PARTED[stage](lake, cycle, number)
    return Part(
        os.getpid(),
        time.process_time() - cpu,
        _read_bytes() - read,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        said,
        dict(_STATEMENTS),
    )


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


# Statements

_STATEMENTS: dict[str, tuple[int, float]] = {}
_watched: list[bool] = []


def _watch() -> None:
    """Note the CPU seconds of every statement by its name, from now on in this process."""
    if _watched:
        return
    _watched.append(True)
    for name, place in (("run", 1), ("arrow", 1), ("materialise", 2), ("view_query", 2), ("keep_rows", 1), ("view_files", 1)):
        setattr(query, name, _timed(getattr(query, name), name, place))


def _timed(function: Callable[..., Any], kind: str, place: int) -> Callable[..., Any]:
    def timed(*arguments: Any, **named: Any) -> Any:
        name = arguments[place]
        if kind in ("keep_rows", "view_files"):
            name = f"({kind})"
        began = time.process_time()
        result = function(*arguments, **named)
        _note(name, time.process_time() - began)
        return _TimedReader(result, name) if kind == "arrow" else result

    return timed


def _note(name: str, seconds: float, runs: int = 1) -> None:
    before = _STATEMENTS.get(name, (0, 0.0))
    _STATEMENTS[name] = (before[0] + runs, before[1] + seconds)


class _TimedReader:
    """A stream of batches whose making counts as its statement's."""

    def __init__(self, reader: Any, name: str) -> None:
        self._reader = reader
        self._name = name

    def __iter__(self) -> Iterator[Any]:
        while True:
            began = time.process_time()
            try:
                batch = self._reader.read_next_batch()
            except StopIteration:
                return
            finally:
                _note(self._name, time.process_time() - began, 0)
            yield batch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)
