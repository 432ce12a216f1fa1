"""The design that rewrites everything, on the same data: what Nutch's generate and updatedb do with its CrawlDb.

Generate reads the whole state of a bucket and sorts what is due. Update reads the whole state again, folds in what the
cycle brought, and writes all of it anew, the lake's own codec, every column. Nothing is left out that it need not do,
and nothing that it must: exact copies, near copies, traps and evidence are ours alone and not in it.
"""

from pathlib import Path
from typing import Any

from bench.state import sql
from crawler.core.cycle import Cycle
from crawler.core.keys import key_range
from crawler.store import query
from crawler.store.lake import Lake
from crawler.store.state import checkpoint_epochs, checkpoint_name

FOLDER = "rewritten"


def generate(lake: Lake, cycle: Cycle, bucket: int) -> dict[str, Any]:
    """Select what a bucket fetches, the oldest first; returns how many rows that are."""
    con = _open(lake, bucket)
    parameters = {"now": lake.clock.now(), "budget": lake.settings.plan.budget_urls}
    return {"rows": _write(con, "generate", parameters, _path(lake, cycle, bucket, "generate"))}


def update(lake: Lake, cycle: Cycle, bucket: int) -> dict[str, Any]:
    """Write the state of a bucket anew with what `cycle` brought; returns its rows."""
    con = _open(lake, bucket)
    every = range(lake.buckets)
    for table, buckets in (("observation", [bucket]), ("link", list(every))):
        files = [
            path
            for number in buckets
            for path in lake.paths(lake.current(table, "bucket", number, lake.settled("bucket", number), cycle))
        ]
        query.view_files(con, f"cycle_{table}", table, files)
    low, high = key_range(bucket, lake.buckets)
    parameters = {"bucket": bucket, "low_key": low, "high_key": high}
    return {"rows": _write(con, "rewrite", parameters, _path(lake, cycle, bucket, "page"))}


def _open(lake: Lake, bucket: int) -> query.Connection:
    con = lake.connect()
    epochs = checkpoint_epochs(lake, bucket)
    query.view_files(con, "base_page", "page", [lake.files.path(checkpoint_name(lake, bucket, epochs[-1], "page"))])
    return con


def _path(lake: Lake, cycle: Cycle, bucket: int, name: str) -> Path:
    path = Path(lake.files.root, FOLDER, f"{cycle}-{bucket:04d}-{name}.parquet")
    path.parent.mkdir(exist_ok=True)
    return path


def _write(con: query.Connection, name: str, parameters: dict[str, Any], path: Path) -> int:
    """By DuckDB's own writer, on all its threads: faster than ours, which is to this design's advantage."""
    sql.run(con, name, parameters, f"COPY ({{}}) TO '{path}' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 2)")
    ((rows,),) = con.execute("SELECT count(*) FROM read_parquet($path)", {"path": str(path)}).fetchall()
    return int(rows)
