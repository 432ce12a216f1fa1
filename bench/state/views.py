"""How long it takes to open what readers see, over so many published cycles of as many buckets as the lake has.

A lake that publishes each day would have these files; here all of a table are one empty file under many names, since
to open a view only looks at names and at the columns of the first.
"""

import os
import time
from pathlib import Path
from typing import Any

from bench.state.web import START, Web
from crawler.core.cycle import Cycle
from crawler.store import tables
from crawler.store.admission import admission_name
from crawler.store.lake import Lake
from crawler.store.log import LogFile
from crawler.store.manifest import CYCLE_TABLES, PUBLICATIONS, TAIL_TABLES, BucketFiles, Manifest, create
from crawler.store.plans import plan_name
from crawler.store.reader import open_reader
from crawler.store.state import checkpoint_name

CYCLES = 60
CHECKPOINT_CYCLES = 20
_OF_FETCH = ("observation", "link", "capture", "robots", "host_state")
_PARTS = {"page": "page", "host": "host_state", "robots": "robots", "tally": "tally"}


def run(lake: Lake, _cycle: Cycle) -> dict[str, Any]:
    """Open a reader, and ask it how many cycles there are; returns the time until it was open."""
    began, worked = time.perf_counter(), time.process_time()
    con = open_reader(lake)
    spent = {
        "microseconds": int(1e6 * (time.perf_counter() - began)),
        "cpu_microseconds": int(1e6 * (time.process_time() - worked)),
    }
    (found,) = con.execute("SELECT count(DISTINCT cycle), count(*) FROM publication").fetchall()
    return {"cycles": found[0], "rows": found[1], **spent}


def make_lake(web: Web, cycles: int = CYCLES) -> None:
    """Make the lake of `web`, without a row, as so many cycles would have published it."""
    web.folder.mkdir(parents=True)
    web.set_clock(cycles)
    lake = Lake.create(web.settings, web.clock)
    templates = _Templates(lake)
    tails: dict[int, dict[str, list[str]]] = {bucket: {} for bucket in range(web.buckets)}
    checkpoint = 0
    for number in range(1, cycles + 1):
        cycle = web.cycle(number)
        fetched, merged = 2 * number - 1, 2 * number  # two epochs of a bucket, one of a shard
        if number % CHECKPOINT_CYCLES == 0:
            checkpoint = merged
            tails = {bucket: {} for bucket in tails}
        buckets, copies, plans = {}, [], []
        for bucket in range(web.buckets):
            partition = f"bucket={bucket:04d}"
            files = {}
            for table in CYCLE_TABLES:
                is_fetched = table in _OF_FETCH
                file = LogFile(table, partition, str(cycle), fetched if is_fetched else merged, 1, is_fetched)
                files[table] = [templates.link(table, f"{lake.layout}/{file.name}")]
            for table in TAIL_TABLES:
                tails[bucket].setdefault(table, []).extend(files[table])
            if checkpoint == merged:
                for part, table in _PARTS.items():
                    templates.link(table, checkpoint_name(lake, bucket, checkpoint, part))
            tail = {table: list(names) for table, names in tails[bucket].items()}
            buckets[bucket] = BucketFiles(merged, checkpoint, files, tail)
            copy = LogFile("copy", f"shard={bucket:04d}", str(cycle), number, 1, whole=False)
            copies.append(templates.link("copy", f"{lake.layout}/{copy.name}"))
            plans.append(templates.link("plan", plan_name(lake, cycle, bucket)))
        admitted = templates.link("admitted", admission_name(lake, cycle))
        create(lake, PUBLICATIONS, Manifest(str(cycle), START.isoformat(), buckets, copies, plans, admitted), 1)


class _Templates:
    """An empty file of each table, linked to under many names."""

    def __init__(self, lake: Lake) -> None:
        self._root = Path(lake.files.root)
        self._layout = lake.layout
        self._made: dict[str, Path] = {}

    def link(self, table: str, name: str) -> str:
        """Give the table's file the name below the lake's root; returns it relative to the layout."""
        if table not in self._made:
            self._made[table] = self._root / f"empty-{table}.parquet"
            tables.write_rows(self._made[table], table, [])
        path = self._root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        os.link(self._made[table], path)
        return name.removeprefix(f"{self._layout}/")
