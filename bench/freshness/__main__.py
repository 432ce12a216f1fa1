"""Measures how fresh the product's SQL keeps simulated webs, beside its peers and against an oracle's bound.

Prints the table and, last, one JSON object: by scenario and policy the share of the bound. Ends with 1 where a gate is
missed. `--record` writes bench/freshness.json and docs/images/freshness.png, which are in version control.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.freshness.report import failures, plot, show
from bench.freshness.run import Result, run_all
from bench.freshness.scenarios import BUDGETS, GATES, PRODUCT

_BENCH = Path(__file__).resolve().parents[1]
_OUT = _BENCH / "out"
_RECORD = _BENCH / "freshness.json"
_IMAGE = _BENCH.parent / "docs" / "images" / "freshness.png"
_COST_URLS = 10_000_000


def main() -> int:
    """Run what the arguments name."""
    arguments = _arguments()
    match arguments.part:
        case "mutations":
            from bench.freshness.mutations import main as mutations  # only what is asked for

            return mutations()
        case "web":
            from bench.freshness.demo_web import main as web

            return web(record=arguments.record)
        case "cost":
            from bench.freshness.cost import main as cost

            return cost(_COST_URLS)
        case _:
            return _freshness(record=arguments.record, whole=arguments.whole)


def _freshness(*, record: bool, whole: bool) -> int:
    began = time.monotonic()
    results, is_stable = run_all((*GATES, *BUDGETS), os.cpu_count() or 1, whole=whole)
    shares = {result.scenario.name: result.shares for result in results}
    show(shares)
    _show_runs(results)
    missed = failures(shares)
    if not is_stable:
        missed.append("the same web was planned otherwise by two threads than by one")
    for sentence in missed:
        print(f"MISSED  {sentence}")
    plot(shares, _OUT / "freshness.png")
    if record:
        plot(shares, _IMAGE)
        measured = {"measured_at": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC", "shares": shares}
        recorded = json.loads(_RECORD.read_text()) if _RECORD.exists() else {}
        _RECORD.write_text(json.dumps(recorded | measured, indent=1) + "\n")
    print(f"{time.monotonic() - began:.0f} s; the plot is {_OUT / 'freshness.png'}")
    print(json.dumps(shares))
    return 1 if missed else 0


def _show_runs(results: Sequence[Result]) -> None:
    print("The product: freshness, that of the first 60 cycles (uniform's beside it), the share of the budget it used,")
    print("and over how many cycles its SQL was played and chose the very pages of the same rule in numpy:")
    for result in results:
        print(
            f"  {result.scenario.title:22} bound {result.bound:.4f}  steady {result.product.steady:.4f}  "
            f"first 60 {result.product.cold:.4f} ({result.uniform.cold:.4f})  used {result.product.used:.3f}  "
            f"{_agreement(result)}"
        )


def _agreement(result: Result) -> str:
    if result.compared:
        return f"same over {result.compared} cycles"
    return f"NOT THE SAME: numpy {100 * result.numpy:.2f} %, SQL {100 * result.shares[PRODUCT]:.2f} %"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench.freshness", description=__doc__)
    parser.add_argument("part", nargs="?", default="all", choices=("all", "mutations", "web", "cost"))
    parser.add_argument("--whole", action="store_true", help="play the SQL to the end in every scenario")
    parser.add_argument("--record", action="store_true", help="write bench/freshness.json and the plot in docs/images")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
