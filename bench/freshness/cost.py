"""What planning costs: `python -m bench.freshness.cost [URLS]` scores and ranks a bucket of generated state.

Writes a checkpoint of so many URLs as one Parquet file, then runs the statements of a plan on it in a fresh engine, as
`crawler.store.candidates` does, and says what each took. Scope and traps are other matters: every URL is let in.
"""

import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from crawler.core.config import EngineSettings
from crawler.store import query
from crawler.store.candidates import keep_belief, keep_rest, short

NOW = datetime(2026, 11, 1, tzinfo=UTC)
HOSTS_PER_URL = 1 / 500
BUDGET_SHARE = 1 / 30


def main(urls: int) -> int:
    """Print the cost of each step as a table, then as one JSON object."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "page.parquet")
        writer = multiprocessing.get_context("spawn").Process(target=_write_state, args=(path, urls))
        writer.start()  # elsewhere, so that the memory is that of the plan
        writer.join()
        con = query.connect(EngineSettings(threads=2, memory_limit="1GB"))
        _open(con, path)
        took = _plan(con, urls)
    total = {name: round(sum(step[name] for step in took.values()), 2) for name in ("seconds", "cpu_seconds")}
    for step, cost in took.items():
        sys.stdout.write(f"{step:14} {cost['seconds']:7.2f} s {cost['cpu_seconds']:7.2f} s CPU\n")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    sys.stdout.write(json.dumps({"urls": urls, **total, "peak_mb": peak, "steps": took}) + "\n")
    return 0


def _write_state(path: Path, urls: int) -> None:
    """A checkpoint as a crawl of years leaves it; state.sql says how."""
    con = query.connect(EngineSettings(threads=2, memory_limit="1GB"))
    text = (Path(__file__).parent / "state.sql").read_text(encoding="utf-8")
    query.keep_rows(con, "size", "urls BIGINT, hosts BIGINT", [(urls, max(1, int(urls * HOSTS_PER_URL)))])
    con.execute(f"COPY ({text}) TO '{path}' (FORMAT parquet, COMPRESSION zstd)")
    con.close()


def _open(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    """The tables that a plan finds, with nothing after the checkpoint and no steering."""
    query.view_files(con, "state_page", "page", [str(path)])
    keep_rest(con)
    keep_belief(con, None)
    query.keep_rows(con, "noisy_host", "host_key UBIGINT, noisy BOOLEAN", [])
    columns = "url_key UBIGINT, weight DOUBLE, min_interval_days DOUBLE, max_interval_days DOUBLE"
    query.keep_rows(con, "steering", columns, [])
    for table in ("reopened", "repeated_page"):
        query.keep_rows(con, table, "url_key UBIGINT", [])
    query.keep_rows(con, "forced", "url_key UBIGINT, reason VARCHAR", [])
    query.keep_rows(con, "host_cap", "host_key UBIGINT, host VARCHAR, cap BIGINT", [])


def _plan(con: duckdb.DuckDBPyConnection, urls: int) -> dict[str, dict[str, float]]:
    parameters = {
        "now": NOW,
        "whole": False,
        "objective": "freshness",
        "min_interval_days": 0.9,
        "sitemap_interval_days": 0.9,
        "sitemaps_per_host": 500,
        "budget": int(urls * BUDGET_SHARE),
        "new_limit": int(urls * BUDGET_SHARE * 0.6),
        "new_may_fill": True,
        "overdue_limit": 1,
        "other_cap": 10_000,
        "cycle": NOW.date(),
        "bucket": 0,
    }
    took: dict[str, dict[str, float]] = {}

    @contextmanager
    def timed(step: str) -> Iterator[None]:
        seconds, cpu = time.perf_counter(), time.process_time()
        yield
        took[step] = {
            "seconds": round(time.perf_counter() - seconds, 3),
            "cpu_seconds": round(time.process_time() - cpu, 3),
        }

    for table in ("host_sums", "host_belief", "scored"):
        with timed(table):
            query.materialise(con, table, f"plan/{table}", parameters)
    with timed("short list"):
        lowest = short(con, parameters)
    con.execute(
        f"CREATE TEMP VIEW verdict AS SELECT url_key, NULL AS rejected_by FROM scored WHERE priority >= {lowest}"
    )
    for table in ("ranked", "plan"):
        with timed(table):
            query.materialise(con, "planned" if table == "plan" else table, f"plan/{table}", parameters)
    with timed("histogram"):
        query.run(con, "plan/histogram").fetchall()
    return took


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000))
