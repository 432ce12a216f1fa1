"""Near copies: which of the pages that a bucket knows lie near the pages that have just arrived anywhere.

Every shard answers for the pages of the bucket with its number and gets all that arrived, so the corpus is read once in
all, in parts, and the memory that a part needs follows what arrived. A page's own word for its SimHash is its state:
what changed, is gone or was purged is looked up no more. Reads the state of one bucket; writes temporary tables.
"""

from collections.abc import Mapping
from typing import Any

import duckdb

from crawler.store import query
from crawler.store.lake import Lake
from crawler.store.lease import Settled
from crawler.store.state import view_log

MOST_ALIKE = 10_000
"""SimHashes that arrive together and are looked up by one key. Only a site that answers everything with nearly one page
has more; beyond, they would be compared with each other in their square. Those left out are found by other keys."""


def open_arrived(con: duckdb.DuckDBPyConnection, shard: int) -> int:
    """Make the tables `arrived` and `arrived_here` from the views of the stage; returns how many pages arrived."""
    query.materialise(con, "arrived", "fingerprint/arrived")
    query.materialise(con, "arrived_here", "fingerprint/arrived_here", {"shard": shard})
    ((arrived,),) = con.sql("SELECT count(*) FROM arrived").fetchall()
    return int(arrived)


def open_comparable(lake: Lake, con: duckdb.DuckDBPyConnection, bucket: int, settled: Settled) -> None:
    """Make the views `near_known` and `comparable` of the bucket's pages as of `settled`."""
    view_log(lake, con, bucket, settled)
    view_known(con)
    query.view_query(con, "comparable", "fingerprint/comparable")


def view_known(con: duckdb.DuckDBPyConnection) -> None:
    """Make the view `near_known` from `arrived_here` and the views base_* and tail_*: the state without most of it."""
    query.materialise(con, "touched", "state/touched")
    query.materialise(con, "touched_page", "state/touched_text")
    query.materialise(con, "near_label", "state/near_label")
    query.materialise(con, "near_touched", "fingerprint/near_touched")
    query.view_query(con, "near_known", "fingerprint/near_known")


def find_pairs(con: duckdb.DuckDBPyConnection, max_distance: int, *, most_alike: int = MOST_ALIKE) -> None:
    """Make the table `pair` of all SimHashes of `arrived` and `comparable` that differ in at most `max_distance` bits.

    Exact, unless more than `most_alike` that arrived share a key; those that were not looked up by it lack it in
    `sought`. Both have a column `simhash`. After Manku, Jain, Das Sarma: Detecting near-duplicates for web crawling
    (WWW 2007), section 3, with the roles of table and query exchanged.
    """
    limits: Mapping[str, Any] = {"max_distance": max_distance, "most_alike": most_alike}
    query.materialise(con, "sought", "fingerprint/sought", limits)
    query.materialise(con, "pair", "fingerprint/pair", limits)
