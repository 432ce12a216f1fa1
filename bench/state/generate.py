"""Makes a lake that knows so many URLs: a checkpoint of each bucket, the copies that the shards know, the leases.

Goes through the functions that write a lake, so it has the parts and the layout that the product gives it today. Every
bucket begins with one epoch, in which all that is known became known; the shards and merges have read it.
"""

import shutil
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bench.state import sql
from bench.state.web import Web
from crawler.store import query, tables
from crawler.store.known_copies import write_run_when_due
from crawler.store.lake import Lake
from crawler.store.marks import write_marks
from crawler.store.state import State, fold, write_checkpoint

_TAILS = ("url", "observation", "duplicate", "mention", "robots")


def make_lake(web: Web, *, processes: int = 2, say: Callable[[str], None] = lambda _: None) -> float:
    """Make the lake of `web` in place of what is there; returns the seconds that it took."""
    began = time.monotonic()
    shutil.rmtree(web.folder, ignore_errors=True)
    web.folder.mkdir(parents=True)
    web.set_clock(0)
    Lake.create(web.settings, web.clock)
    parts = web.folder / "parts"
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for number, _ in enumerate(pool.map(_make_bucket, *_each(web, parts)), 1):
            say(f"generated bucket {number} of {web.buckets}")
        for number, _ in enumerate(pool.map(_make_shard, *_each(web, parts)), 1):
            say(f"generated shard {number} of {web.buckets}")
    shutil.rmtree(parts)
    (web.folder / "web.json").write_text(web.to_json() + "\n")
    return time.monotonic() - began


def _each(web: Web, parts: Path) -> tuple[list[Web], list[Path], range]:
    return [web] * web.buckets, [parts] * web.buckets, range(web.buckets)


def _make_bucket(web: Web, parts: Path, bucket: int) -> None:
    """The first epoch of a bucket, in which its links were read, and the checkpoint of all that it knows after it."""
    lake = web.open()
    con = web.connect()
    cycle = web.cycle(0)
    with lake.own("bucket", bucket, cycle) as owner:
        staged = lake.files.staged(".parquet")
        tables.write_rows(staged, "url", [], write_marks(dict.fromkeys(range(web.buckets), 1)))
        lake.commit(owner, "url", {"url": staged})
    parameters = web.parameters | {"bucket": bucket, "cycle": cycle.day}
    sql.keep_rows_of(con, "pages", "page", "page", parameters)
    sql.keep_rows_of(con, "hosts", "host", "host_state", parameters)
    con.execute("CREATE OR REPLACE TEMP VIEW base_page AS FROM pages")
    con.execute("CREATE OR REPLACE TEMP VIEW base_host AS FROM hosts")
    query.view_files(con, "base_robots", "robots", [])
    for table in _TAILS:
        query.view_files(con, f"tail_{table}", table, [])
    query.view_files(con, "tail_host", "host_state", [])
    fold(con)
    write_checkpoint(State(lake, con, bucket, lake.settled("bucket", bucket), 0))
    _keep_copies(con, parts / f"{bucket:04d}", parameters)


def _keep_copies(con: query.Connection, folder: Path, parameters: dict[str, Any]) -> None:
    """Write what shards know of a bucket's pages, a file for each shard."""
    folder.mkdir(parents=True)
    found = sql.arrow(con, "copy", parameters).read_all()
    shards = found["shard"].to_numpy()
    ends = shards.searchsorted(range(parameters["buckets"]), "right").tolist()
    start = 0
    for shard, end in enumerate(ends):
        rows = found.slice(start, end - start).drop_columns("shard").combine_chunks()
        tables.write_table(folder / f"{shard:04d}.parquet", rows)
        start = end


def _make_shard(web: Web, parts: Path, shard: int) -> None:
    """The first epoch of a shard, in which all copies became known: a run, whose log is long gone, or a short log."""
    lake = web.open()
    con = web.connect()
    files = [parts / f"{bucket:04d}" / f"{shard:04d}.parquet" for bucket in range(web.buckets)]
    query.view_files(con, "copy_files", "copy", list(map(str, files)))
    ((rows,),) = con.sql("SELECT count(*) FROM copy_files").fetchall()
    is_short = rows < lake.settings.lake.checkpoint_min_rows
    with lake.own("shard", shard, web.cycle(0)) as owner:
        staged = lake.files.staged(".parquet")
        log = sql.arrow(con, "copy_log", {"shard": shard}) if is_short else []
        tables.write_result(staged, "copy", log, write_marks(dict.fromkeys(range(web.buckets), 1)))
        lake.commit(owner, "copy", {"copy": staged})
    if not is_short:
        write_run_when_due(lake, con, shard, lake.settled("shard", shard), [])
    for file in files:
        file.unlink()
