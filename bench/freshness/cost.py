"""What planning costs: `python -m bench.freshness.cost [URLS]` plans and admits a lake of one large bucket.

Makes a lake whose bucket has a checkpoint of so many URLs as a crawl of years leaves it, then plans and admits three
cycles by the product's own functions, in an engine of 2 threads and 1 GB: the first has no admission before it, the
second leaves a survey, the third starts from that as six of seven plans do. Says what each took, and its statements.
BUDGET in the environment is the budget of a cycle, a thirtieth of the URLs without.
"""

import json
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from crawler.core.clock import Clock
from crawler.core.config import EngineSettings, parse_settings
from crawler.core.cycle import Cycle
from crawler.stages import admit, plan
from crawler.store import query, survey, tables
from crawler.store.lake import Lake
from crawler.store.state import checkpoint_name

NOW = datetime(2026, 11, 1, tzinfo=UTC)
HOSTS_PER_URL = 1 / 500
PLANS = ("first", "survey", "list")


class _SetClock(Clock):
    """Shows the instant that it is set to."""

    instant = NOW

    def now(self) -> datetime:
        return self.instant

    def monotonic(self) -> float:
        return time.monotonic()


def main(urls: int) -> int:
    """Print the cost of each plan and its dearest statements, then all of it as one JSON object."""
    budget = int(os.environ.get("BUDGET", urls // 30))
    with tempfile.TemporaryDirectory() as folder:
        lake = _lake(Path(folder), urls, budget)
        took = {name: _cycle(lake, NOW + timedelta(days=day)) for day, name in enumerate(PLANS)}
    for name, cost in took.items():
        sys.stdout.write(
            f"{name}: {cost['seconds']:.2f} s, {cost['cpu_seconds']:.2f} s CPU, {cost['rows']} rows planned\n"
        )
        for statement, seconds in cost["statements"].items():
            sys.stdout.write(f"    {statement:28} {seconds:7.3f} s CPU\n")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    sys.stdout.write(json.dumps({"urls": urls, "budget": budget, "peak_mb": peak, "plans": took}) + "\n")
    return 0


def _lake(folder: Path, urls: int, budget: int) -> Lake:
    settings = {
        "lake": {"root": str(folder / "lake"), "buckets": 1},
        "scope": {"hosts": ["*.example.org"]},
        "plan": {"budget_urls": budget},
        "politeness": {"delay_seconds": 0.0},
        "engine": {"threads": 2, "memory_limit": "1GB"},
    }
    lake = Lake.create(parse_settings(settings), _SetClock())
    names = [checkpoint_name(lake, 0, 1, part) for part in ("host", "robots", "page")]
    Path(lake.files.path(names[-1])).parent.mkdir(parents=True)
    for name, table in zip(names, ("host_state", "robots"), strict=False):
        tables.write_rows(Path(lake.files.path(name)), table, [])
    writer = multiprocessing.get_context("spawn").Process(target=_write_state, args=(lake.files.path(names[-1]), urls))
    writer.start()  # elsewhere, so that the memory is that of the plans
    writer.join()
    return lake


def _write_state(path: str, urls: int) -> None:
    """A checkpoint as a crawl of years leaves it; state.sql says how."""
    con = query.connect(EngineSettings(threads=2, memory_limit="1GB"))
    text = (Path(__file__).parent / "state.sql").read_text(encoding="utf-8")
    query.keep_rows(con, "size", "urls BIGINT, hosts BIGINT", [(urls, max(1, int(urls * HOSTS_PER_URL)))])
    reader = con.sql(text).to_arrow_reader()
    kinds = dict(query.columns_of("page"))
    missing = [column for column in kinds if column not in reader.schema.names]
    nothing = "".join(
        f", {'0' if column in ('changes', 'last_epoch') else 'NULL'}::{kinds[column]} AS {column}" for column in missing
    )
    del reader
    con.execute(f"COPY (SELECT *{nothing} FROM ({text})) TO '{path}' (FORMAT parquet, COMPRESSION zstd)")
    con.close()


def _cycle(lake: Lake, now: datetime) -> dict[str, Any]:
    """Plan and admit the cycle of `now`; what that took, in all and by statement."""
    lake.clock.instant = now  # type: ignore[attr-defined]
    cycle = Cycle(now.date())
    seconds, cpu = time.perf_counter(), time.process_time()
    with _timed() as statements:
        rows = plan.run(lake, cycle, 0)["candidates"]
        planned = time.process_time()
        admit.run(lake, cycle)
    return {
        "seconds": round(time.perf_counter() - seconds, 2),
        "cpu_seconds": round(time.process_time() - cpu, 2),
        "admit_cpu_seconds": round(time.process_time() - planned, 2),
        "rows": rows,
        "written_mb": round(_written(lake, cycle) / 1e6, 1),
        "statements": {name: round(spent, 3) for name, spent in statements.most_common(12)},
    }


def _written(lake: Lake, cycle: Cycle) -> int:
    tables_ = ("plan", survey.SURVEYS)
    folders = [Path(lake.files.path(f"{lake.layout}/{table}/bucket=0000/cycle={cycle}")) for table in tables_]
    return sum(path.stat().st_size for folder in folders if folder.is_dir() for path in folder.iterdir())


@contextmanager
def _timed() -> Iterator[Any]:
    """Count the CPU seconds of each statement that makes a table, and of what is written."""
    spent: Any = Counter()
    materialise, write_result = query.materialise, tables.write_result

    def timed(label: str, work: Any, *arguments: Any) -> Any:
        cpu = time.process_time()
        found = work(*arguments)
        spent[label] += time.process_time() - cpu
        return found

    query.materialise = lambda con, table, name, parameters=None: timed(name, materialise, con, table, name, parameters)
    tables.write_result = lambda path, table, *more: timed(f"write {table}", write_result, path, table, *more)
    try:
        yield spent
    finally:
        query.materialise, tables.write_result = materialise, write_result


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000))
