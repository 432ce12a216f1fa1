"""The result for people, and what it owes: limits that must hold, and what we want beyond."""

import os
import platform
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
from rich.console import Console
from rich.table import Table

Found = Mapping[str, Any]


class Limit(NamedTuple):
    """What a number of the result may be. is_most: at most, else at least. urls: only from so many on."""

    name: str
    title: str
    must: float
    goal: float | None = None
    is_most: bool = True
    urls: int = 0

    def is_met(self, value: float) -> bool:
        return value <= self.must if self.is_most else value >= self.must

    @property
    def wanted(self) -> str:
        sign = "<=" if self.is_most else ">="
        return f"{sign} {self.must:,g}" + (f", goal {self.goal:,g}" if self.goal is not None else "")


LIMITS = (
    Limit("bytes_ratio", "bytes written a cycle, largest lake / a tenth of it", 1.3, 1.1, urls=100_000_000),
    Limit("time_ratio", "seconds of a cycle, largest lake / a tenth of it", 6, 3, urls=100_000_000),
    Limit("cycle_seconds", "seconds of a cycle at 100,000,000 URLs", 120, 60, urls=100_000_000),
    Limit("peak_mb", "most memory of the stages' processes together, MB", 4096),
    Limit("seen_links_per_second", "seen check, links a second", 4_000_000, is_most=False),
    Limit("checkpoint_seconds", "checkpoint of 10,000,000 rows, seconds", 8, urls=10_000_000),
    Limit("near_seconds", "near step, 100,000 against 10,000,000, seconds", 20),
    Limit("views_seconds", "opening the views over 60 cycles x 64 buckets, seconds", 2),
    Limit("drift_ratio", "last week of 60 cycles / first, CPU seconds", 1.5),
)

_ROWS = {
    "cycle, seconds": "cycle_seconds",
    "cycle, CPU seconds": "cycle_cpu_seconds",
    "bytes written a cycle": "cycle_bytes_written",
    "bytes written a fetched page": "bytes_written_per_page",
    "bytes read a cycle": "cycle_bytes_read",
    "a checkpoint every so many cycles": "checkpoint_every_cycles",
    "all checkpoints, seconds": "all_checkpoints_seconds",
    "all checkpoints, bytes": "checkpoint_bytes",
    "peak memory, MB": "peak_mb",
    "rewriting everything, seconds a cycle": "rewrite_seconds",
    "rewriting everything, bytes a cycle": "rewrite_bytes_written",
    "rewriting / ours, seconds": "rewrite_ratio",
    "rewriting / ours, bytes": "rewrite_bytes_ratio",
}


def failures(found: Found) -> list[str]:
    """A sentence for each limit that the result misses."""
    return [
        f"{limit.title}: {found[limit.name]:,g}, must be {limit.wanted}"
        for limit in LIMITS
        if limit.name in found and found.get("n_urls", 0) >= limit.urls and not limit.is_met(found[limit.name])
    ]


def show_sizes(sizes: Sequence[Found]) -> None:
    """Print what was measured of each size, on stderr."""
    table = Table(title="A cycle with its share of checkpoints")
    table.add_column("")
    for size in sizes:
        table.add_column(f"{size['n_urls']:,} URLs", justify="right")
    for title, name in _ROWS.items():
        table.add_row(title, *(f"{size[name]:,}" for size in sizes))
    table.add_section()
    for stage in sizes[-1]["stages"]:
        for unit in ("seconds", "cpu_seconds"):
            cells = (str(size["stages"].get(stage, {}).get(unit, "")) for size in sizes)
            table.add_row(f"{stage}, {unit.replace('cpu_', 'CPU ')}", *cells)
    table.add_section()
    for name in sizes[-1]["bytes_written_by_table"]:
        cells = (f"{size['bytes_written_by_table'].get(name, 0):,}" for size in sizes)
        table.add_row(f"bytes of {name}", *cells)
    _console().print(table)


def show_statements(statements: Mapping[str, list[tuple[str, float, int]]]) -> None:
    """Print the dearest statements of each stage, on stderr."""
    for stage, rows in statements.items():
        table = Table("statement", "CPU s a cycle", "runs a cycle", title=stage)
        for name, seconds, runs in rows:
            table.add_row(name, f"{seconds:.2f}", str(runs))
        _console().print(table)


def show_limits(found: Found) -> None:
    """Print the limits beside what was measured, on stderr."""
    table = Table("limit", "measured", "wanted", title="Limits")
    for limit in LIMITS:
        if limit.name in found and found.get("n_urls", 0) >= limit.urls:
            mark = "" if limit.is_met(found[limit.name]) else " MISSED"
            table.add_row(limit.title, f"{found[limit.name]:,}{mark}", limit.wanted)
    _console().print(table)


def machine() -> dict[str, Any]:
    """What it was measured on."""
    return {
        "cores": os.cpu_count(),
        "model": _line("/proc/cpuinfo", "model name") or platform.machine(),
        "memory_gb": round(int(_line("/proc/meminfo", "MemTotal").split()[0]) / 1e6, 1),
        "load_before": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "duckdb": duckdb.__version__,
        "pyarrow": pa.__version__,
    }


def _line(path: str, name: str) -> str:
    with open(path, encoding="utf-8") as lines:
        return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "")


def _console() -> Console:
    return Console(file=sys.stderr, width=110, highlight=False)
