"""The result as tables for people."""

from typing import Any

from rich.console import Console
from rich.table import Table

_ROWS = {
    "CPU a page, ms": "cpu_ms_per_page",
    "pages a second": "pages_per_second",
    "peak memory of a process, MB": "task_peak_mb",
    "nginx beside it, CPU a page, ms": "nginx_cpu_ms_per_page",
}
_LIMITS = {
    "cpu_ratio": ("CPU a page, ours / Scrapy's", "<= 0.65, goal 0.5"),
    "pages_ratio": ("pages a second, ours / Scrapy's", ">= 1.6, goal 2.0"),
    "makespan_ratio": ("first request to last answer / politeness bound, 1 s delay", "<= 1.05"),
    "fetch_ratio": ("whole fetch / politeness bound", ""),
    "peak_mb": ("peak memory with 100,000 planned URLs, MB", "<= 400"),
    "growth_mb": ("its growth over half of the pages, MB", "about 0"),
}


def show(result: dict[str, Any]) -> None:
    """Print what `result` has."""
    console = Console(width=100)
    if "cpu_ratio" in result:
        table = Table("two processes each", "Recrawl, whole fetch stage", "Scrapy, links only", title="Speed")
        for label, name in _ROWS.items():
            table.add_row(label, str(result[name]), str(result[f"scrapy_{name}"]))
        console.print(table)
    if "stages" in result:
        console.print(_stages(result["stages"], result.get("cpu_ms_per_page")))
    table = Table("limit", "measured", "wanted", title="Limits")
    for name, (label, wanted) in _LIMITS.items():
        if name in result:
            table.add_row(label, str(result[name]), wanted)
    console.print(table)
    console.print(f"{result['machine']}; load before: {result['load_before']}")


def _stages(stages: dict[str, float], whole: float | None) -> Table:
    table = Table("part", "CPU a page, ms", title="Recrawl's parts, each alone in one thread")
    for name, milliseconds in stages.items():
        table.add_row(name, f"{milliseconds:.3f}")
    if whole is not None:
        rest = whole - sum(stages.values())
        table.add_row("start, threads, passing between processes", f"{rest:.3f}")
        table.add_row("whole task", f"{whole:.3f}")
    return table
