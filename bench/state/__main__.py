"""`make bench-state`: what a cycle costs over a state of millions of URLs, beside a design that rewrites all of it.

Tables on stderr; the last line of stdout is one JSON object. Ends with 1 where a limit is missed. Without a part
everything is measured, at 1,000,000 and 10,000,000 URLs; with FULL=1 at 10,000,000 and 100,000,000, recorded in
bench/results/state.json.
"""

import argparse
import json
import os
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.state import run
from bench.state.generate import make_lake
from bench.state.report import failures, machine, show_limits, show_sizes, show_statements
from bench.state.web import Web

_BENCH = Path(__file__).resolve().parents[1]
_OUT = _BENCH / "out" / "state"
_RECORD = _BENCH / "results" / "state.json"
_PARTS = ("all", "cycle", "drift", "seen", "near", "views")
_SIZES = (1_000_000, 10_000_000)
_FULL_SIZES = (10_000_000, 100_000_000)
_MANY_URLS = 100_000_000
_SEEN_URLS = 10_000_000
_NEAR = (10_000_000, 100_000)
# Few buckets, since sixty cycles of sixty-four would take an hour; large ones, so that what is done weekly is.
_DRIFT_URLS, _DRIFT_BUCKETS, _DRIFT_SHARE = 1_000_000, 2, 1 / 250


def main() -> int:
    """Measure what the arguments name."""
    arguments = _arguments()
    is_full = os.environ.get("FULL") == "1"
    found: dict[str, Any] = {"machine": machine()}
    folder = (arguments.keep or _OUT).resolve()
    sizes = arguments.urls or (_FULL_SIZES if is_full else _SIZES)
    cycles = arguments.cycles or (5 if max(sizes) >= _MANY_URLS else 1)
    wanted = set(_PARTS) if arguments.part == "all" else {arguments.part}
    measured = []
    for urls in sorted(sizes) if wanted & {"cycle", "seen"} else ():
        web = Web(folder / str(urls), urls, arguments.fetched, arguments.links, arguments.buckets, arguments.threads)
        if "cycle" in wanted:
            measured.append(
                run.measure(web, cycles=cycles, processes=arguments.processes, say=say, is_profiled=arguments.profile)
            )
            show_sizes(measured[-1:])  # what is known is said at once: the whole takes minutes
        if "seen" in wanted and (urls == _SEEN_URLS or urls == max(sizes) < _SEEN_URLS):
            if "cycle" not in wanted:
                make_lake(web, processes=arguments.processes, say=say)
            say("the seen check")
            found |= run.measure_seen(web)
        if not arguments.keep:
            shutil.rmtree(web.folder, ignore_errors=True)
    if measured:
        found |= together(measured)
    if "near" in wanted:
        say("the near step")
        found |= run.measure_near(*(arguments.near or _NEAR))
    if "views" in wanted:
        say("opening the views")
        found |= run.measure_views(Web(folder / "views", 0, buckets=arguments.buckets))
    if "drift" in wanted:
        urls = min(_DRIFT_URLS, max(sizes))
        fetched = max(1, int(urls * _DRIFT_SHARE))
        web = Web(folder / "drift", urls, fetched, 10 * fetched, _DRIFT_BUCKETS, arguments.threads)
        found |= run.measure_drift(web, processes=arguments.processes, say=say, cycles=arguments.drift_cycles)
        shutil.rmtree(web.folder)
    return _tell(found, measured, is_recorded=arguments.record or (is_full and arguments.part == "all"))


def together(measured: list[dict[str, Any]]) -> dict[str, Any]:
    """The numbers of the largest lake, and its ratios to a tenth of it where that was measured."""
    largest = measured[-1]
    found = {name: value for name, value in largest.items() if name != "statements"}
    smaller = next((each for each in measured if each["n_urls"] * 10 == largest["n_urls"]), None)
    if smaller is not None:
        found["bytes_ratio"] = round(largest["cycle_bytes_written"] / smaller["cycle_bytes_written"], 3)
        found["time_ratio"] = round(largest["cycle_seconds"] / smaller["cycle_seconds"], 3)
        found["cpu_ratio"] = round(largest["cycle_cpu_seconds"] / smaller["cycle_cpu_seconds"], 3)
    sizes = [{name: value for name, value in each.items() if name != "statements"} for each in measured[:-1]]
    return found | {"smaller": sizes}


def _tell(found: dict[str, Any], measured: list[dict[str, Any]], *, is_recorded: bool) -> int:
    if len(measured) > 1:
        show_sizes(measured)
    if measured:
        show_statements(measured[-1]["statements"])
    show_limits(found)
    missed = failures(found)
    for sentence in missed:
        print(f"MISSED  {sentence}", file=sys.stderr)
    if is_recorded:
        stamped = {"measured_at": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC", **found}
        _RECORD.parent.mkdir(exist_ok=True)
        _RECORD.write_text(json.dumps(stamped, indent=1) + "\n")
    print(json.dumps(found))
    return 1 if missed else 0


def say(text: str) -> None:
    """What is being done, on one line of stderr that the next takes over."""
    end = "\n" if not sys.stderr.isatty() and "generated" not in text else ""
    if sys.stderr.isatty() or end:
        print(f"\r\033[K{text}" if sys.stderr.isatty() else text, end=end, file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench.state", description=__doc__)
    parser.add_argument("part", nargs="?", default="all", choices=_PARTS, help="only this")
    parser.add_argument("--urls", type=int, action="append", help="URLs of a lake; may be given again")
    parser.add_argument("--cycles", type=int, help="cycles that are measured, after two that are not")
    parser.add_argument("--fetched", type=int, default=100_000, help="URLs that a cycle fetches")
    parser.add_argument("--links", type=int, default=1_000_000, help="links that a cycle finds")
    parser.add_argument("--buckets", type=int, default=64, help="buckets of the lake")
    parser.add_argument("--threads", type=int, default=2, help="threads of a process's engine")
    parser.add_argument("--processes", type=int, default=2, help="parts of a stage that run beside each other")
    parser.add_argument("--near", type=int, nargs=2, metavar=("KNOWN", "ARRIVED"), help="pages of the near step")
    parser.add_argument("--drift-cycles", type=int, default=run.DRIFT_CYCLES, help="cycles of the part drift")
    parser.add_argument("--keep", type=Path, help="folder in which lakes are made, and stay")
    parser.add_argument("--profile", action="store_true", help="also show the dearest SQL statements")
    parser.add_argument("--record", action="store_true", help="write bench/results/state.json")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
