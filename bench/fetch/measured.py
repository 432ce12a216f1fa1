"""Processes, measured: CPU, wall time and memory of each and of all that it starts.

CPU is what the kernel counted for a process and its children until they ended. Memory is the proportional set size
(PSS), read twice a second, so that what processes share counts once.
"""

import json
import os
import resource
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_SAMPLE_SECONDS = 0.5
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Task:
    """What a process took. said: the JSON object that it printed last; memory: bytes by monotonic instant."""

    cpu_seconds: float = 0.0
    seconds: float = 0.0
    said: dict[str, Any] = field(default_factory=dict)
    memory: list[tuple[float, int]] = field(default_factory=list)

    @property
    def peak_bytes(self) -> int:
        return max((size for _, size in self.memory), default=0)


def run_all(commands: Sequence[Sequence[str]], environment: Mapping[str, str]) -> list[Task]:
    """Run `commands` beside each other. Raises SystemExit if one fails."""
    started = time.monotonic()
    running = [
        (subprocess.Popen(command, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True), Task())
        for command in commands
    ]
    tasks = [task for _, task in running]
    while running:
        time.sleep(_SAMPLE_SECONDS)
        now = time.monotonic()
        for process, task in list(running):
            task.memory.append((now, memory_of_tree(process.pid)))
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid == 0:
                continue
            process.returncode = os.waitstatus_to_exitcode(status)
            running.remove((process, task))
            _ended(process, task, usage)
            task.seconds = task.said.pop("ended_at", now) - started
    return tasks


def _ended(process: "subprocess.Popen[str]", task: Task, usage: resource.struct_rusage) -> None:
    if process.stdout is None:
        raise ValueError("the process has no output")
    lines = process.stdout.read().splitlines()
    process.stdout.close()
    if process.returncode != 0 or not lines:
        raise SystemExit(f"{process.args!r} ended with {process.returncode}")
    task.cpu_seconds = usage.ru_utime + usage.ru_stime
    task.said = json.loads(lines[-1])


def cpu_of_tree(pid: int) -> float:
    """User and system seconds of a process and its children so far."""
    total = 0.0
    for member in _tree(pid):
        fields = _read(f"/proc/{member}/stat").rpartition(")")[2].split()
        total += sum(map(int, fields[11:13])) / _TICKS if fields else 0.0
    return total


def memory_of_tree(pid: int) -> int:
    """PSS in bytes of a process and its children."""
    total = 0
    for member in _tree(pid):
        for line in _read(f"/proc/{member}/smaps_rollup").splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1]) << 10
    return total


def _tree(pid: int) -> list[int]:
    found = [pid]
    for member in found:  # grows while it is walked
        for thread in Path(f"/proc/{member}/task").glob("*/children"):
            found += map(int, _read(str(thread)).split())
    return found


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:  # it has ended since
        return ""
