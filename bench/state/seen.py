"""The seen check alone: how many links a second a merge's own statements hold against the keys of the whole lake."""

import time
from typing import Any

from bench.state import sql
from crawler.core.cycle import Cycle
from crawler.store import query
from crawler.store.lake import Lake
from crawler.store.state import checkpoint_epochs, checkpoint_name

LINKS = 10_000_000


def run(lake: Lake, _cycle: Cycle) -> dict[str, Any]:
    """Check as many links as the lake has keys, at most LINKS, nine tenths of them known."""
    con = sql.open_web(lake.connect())
    names = [
        checkpoint_name(lake, bucket, checkpoint_epochs(lake, bucket)[-1], "page") for bucket in range(lake.buckets)
    ]
    query.view_files(con, "state_page", "page", [lake.files.path(name) for name in names])
    ((keys,),) = con.execute("SELECT count(*) FROM state_page").fetchall()
    sql.keep(con, "followed_link", "aimed", {"links": min(LINKS, keys), "keys": keys})
    ((links,),) = con.execute("SELECT count(*) FROM followed_link").fetchall()
    began, worked = time.perf_counter(), time.process_time()
    query.materialise(con, "seen", "merge/seen")
    ((unseen,),) = sql.run(con, "unseen", {}).fetchall()
    return {
        "keys": keys,
        "links": links,
        "unseen": unseen,
        "microseconds": int(1e6 * (time.perf_counter() - began)),
        "cpu_microseconds": int(1e6 * (time.process_time() - worked)),
    }
