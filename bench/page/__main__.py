"""Runs the bench: CPU of a page by step, URLs a second, peers. Prints a table and, last, one JSON object.

`--record` also writes `bench/page.json`, which is in version control. `features` compares features of SimHash on two
releases of real documentation instead, see docs/near-duplicates.md.
"""

import argparse
import json
import os
import platform
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.page.features import main as compare_features
from bench.page.pages import bench_pages
from bench.page.steps import measure_fingerprint, measure_steps
from bench.page.urls import measure_urls

_RECORD = Path(__file__).parents[1] / "page.json"
_MOST = {"fingerprint_ms_per_7000_words": 1.2}
_LEAST = {"relative_urls_per_second": 250_000, "urls_per_second": 80_000}


def main() -> None:
    """Run the part that the arguments name."""
    parser = argparse.ArgumentParser("python -m bench.page", description=__doc__)
    parser.add_argument("part", nargs="?", choices=["speed", "features"], default="speed")
    parser.add_argument("--record", action="store_true", help="write bench/page.json, or the report of the features")
    arguments = parser.parse_args()
    if arguments.part == "features":
        compare_features(record=arguments.record)
        return
    load = round(os.getloadavg()[0], 1)
    pages = bench_pages()
    measured = measure_steps(pages) | measure_fingerprint(pages) | measure_urls(pages)
    result: dict[str, float | str] = {name: _rounded(value) for name, value in measured.items()}
    result["pages"] = len(pages)
    result["page_kb"] = round(sum(len(body) for _, body in pages) / len(pages) / 1000, 1)
    result["machine"] = f"{os.cpu_count()} cores {platform.machine()}, Python {platform.python_version()}"
    result["load_before"] = load
    result["measured_at"] = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    _show(result)
    if arguments.record:
        _RECORD.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result))


def _show(result: dict[str, float | str]) -> None:
    console = Console(width=100)
    steps = Table("step", "CPU a page, ms", title=f"Reading a page of {result['page_kb']} KB in one thread")
    others = Table("number", "measured", "wanted", title="Speed, and ours through a peer's")
    for name, value in result.items():
        if name.endswith("_ms"):
            steps.add_row("whole read" if name == "page_ms" else name[:-3], str(value))
        elif isinstance(value, float | int) and name not in {"pages", "page_kb", "load_before"}:
            others.add_row(name, f"{value:,}", f"<= {_MOST[name]}" if name in _MOST else _wanted(name))
    console.print(steps)
    console.print(others)
    console.print(f"{result['machine']}; load before: {result['load_before']}")


def _wanted(name: str) -> str:
    return f">= {_LEAST[name]:,}" if name in _LEAST else ""


def _rounded(value: float) -> float:
    return round(value) if value >= 1000 else round(value, 3)


if __name__ == "__main__":
    main()
