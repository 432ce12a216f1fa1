"""Runs the bench: speed beside Scrapy, the politeness bound, memory. Prints a table and, last, one JSON object.

Everything that it makes is under `bench/out`; `--record` also writes `bench/fetch.json`, which is in version control.
"""

import argparse
import json
import os
import platform
import shutil
from datetime import UTC, datetime
from typing import Any

from bench.fetch.limits import makespan, memory
from bench.fetch.report import show
from bench.fetch.runs import FOLDER, OUT, SCRAPY
from bench.fetch.server import serve
from bench.fetch.speed import speed, stages
from bench.fetch.web import make_web

_HOSTS = 500
_PARTS = ("speed", "stages", "makespan", "memory")


def main() -> None:
    """Run the parts that the arguments name."""
    arguments = _arguments()
    if not SCRAPY.exists():
        raise SystemExit(f"{SCRAPY} is missing: run `make bench-fetch`, which installs Scrapy there")
    load = round(os.getloadavg()[0], 1)
    web = make_web(OUT / "web", _HOSTS, arguments.pages)
    result: dict[str, Any] = {}
    with serve(web.root, OUT / "nginx") as nginx:
        if "speed" in arguments.parts:
            result |= speed(web, nginx, arguments.rounds)
        if "stages" in arguments.parts:
            result["stages"] = stages(web, nginx) | result.get("stages", {})
        if "makespan" in arguments.parts:
            result |= makespan(web, nginx)
        if "memory" in arguments.parts:
            result |= memory(web, nginx)
    for folder in OUT.glob("lake-*"):
        shutil.rmtree(folder)
    result["machine"] = f"{os.cpu_count()} cores {platform.machine()}, Python {platform.python_version()}"
    result["load_before"] = load
    result["measured_at"] = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    show(result)
    (OUT / "fetch.json").write_text(json.dumps(result) + "\n")
    if arguments.record:
        (FOLDER.parent / "fetch.json").write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench.fetch", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(_PARTS)}; default: all")
    parser.add_argument("--pages", type=int, default=40, help="pages of each of the 500 hosts")
    parser.add_argument("--rounds", type=int, default=2, help="runs of each side in turn; that of least CPU counts")
    parser.add_argument("--record", action="store_true", help="write bench/fetch.json")
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - set(_PARTS):
        parser.error(f"{', '.join(unknown)} is none of {', '.join(_PARTS)}")
    arguments.parts = arguments.parts or _PARTS
    return arguments


if __name__ == "__main__":
    main()
