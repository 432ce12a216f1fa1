"""Near copies: which of the pages that a bucket knows lie near the pages that have just arrived anywhere.

Every shard answers for the pages of the bucket with its number and gets all that arrived, so the corpus is read once in
all, in parts, and the memory that a part needs follows what arrived. Of the corpus only the SimHashes are read, and a
sieve lets few of them pass; URLs are read only of pages that a pair was found with. A page's own word for its SimHash
is its state: what changed, is gone or was purged is looked up no more. Reads the state of one bucket; writes temporary
tables.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa

from crawler.store import query
from crawler.store.lake import Lake
from crawler.store.lease import Settled
from crawler.store.state import checkpoint_epochs, checkpoint_name

if TYPE_CHECKING:
    import numpy.typing as npt

    SimHashes = npt.NDArray[np.uint64]

MOST_ALIKE = 10_000
"""SimHashes that arrive together and are looked up by one key. Only a site that answers everything with nearly one page
has more; beyond, they would be compared with each other in their square. Those left out are found by other keys."""

_BITS = 64
_MOST_PIECE_BITS = 25  # 32 MB for each piece; more take longer to fill than they save
_ROOM_BITS = 8  # the slots of a table are so many times those wanted; fewer let more pass
_SIEVED_ROWS = 1 << 16


def open_arrived(con: duckdb.DuckDBPyConnection, shard: int) -> int:
    """Make the tables `arrived` and `arrived_here` from `came`; returns how many pages arrived."""
    query.materialise(con, "arrived", "fingerprint/arrived")
    query.materialise(con, "arrived_here", "fingerprint/arrived_here", {"shard": shard})
    ((arrived,),) = con.sql("SELECT count(*) FROM arrived").fetchall()
    return int(arrived)


def find_near(lake: Lake, con: duckdb.DuckDBPyConnection, bucket: int, settled: Settled, max_distance: int) -> None:
    """Make the tables `pair` and `near_known` of what arrived and the bucket's pages as of `settled`."""
    _view_log(lake, con, bucket, settled)
    find_in_log(con, max_distance)


def find_in_log(con: duckdb.DuckDBPyConnection, max_distance: int) -> None:
    """`find_near` in the views base_page, tail_observation and tail_duplicate."""
    for table in ("touched", "touched_page"):
        query.materialise(con, table, f"fingerprint/{table}")
    query.materialise(con, "near_label", "state/near_label")
    query.materialise(con, "near_touched", "fingerprint/near_touched")
    query.view_query(con, "comparable", "fingerprint/comparable")
    find_pairs(con, max_distance)
    query.materialise(con, "near_known", "fingerprint/near_known")


def find_pairs(con: duckdb.DuckDBPyConnection, max_distance: int, *, most_alike: int = MOST_ALIKE) -> None:
    """Make the table `pair` of all SimHashes of `arrived` and `comparable` that differ in at most `max_distance` bits.

    Exact, unless more than `most_alike` that arrived share a key; those that were not looked up by it lack it in
    `sought`. Both have a column `simhash`. After Manku, Jain, Das Sarma: Detecting near-duplicates for web crawling
    (WWW 2007), section 3, with the roles of table and query exchanged, of what passes a sieve.
    """
    limits: Mapping[str, Any] = {"max_distance": max_distance, "most_alike": most_alike}
    query.materialise(con, "sought", "fingerprint/sought", limits)
    likely = _sieve(con, max_distance)
    con.register("likely", pa.table({"simhash": likely}))
    query.materialise(con, "pair", "fingerprint/pair", limits)
    con.unregister("likely")


class Sieve:
    """Lets every value pass that lies within `max_distance` bits of one of `wanted`, and few others.

    Cut into k // 2 + 1 pieces, two values that differ in at most k bits differ in at most one bit of some piece. So for
    each piece there is a table of what the wanted have there and all that differs from it in one bit. Of 100,000 wanted
    and k = 3 a sixth of random values pass; from k = 4 on the pieces are short, and nearly all do.
    """

    def __init__(self, wanted: "SimHashes", max_distance: int) -> None:
        pieces = max_distance // 2 + 1
        bits = min(_BITS // pieces, _MOST_PIECE_BITS, wanted.size.bit_length() + _ROOM_BITS)
        self._mask = np.uint64((1 << bits) - 1)
        self._tables = []
        for number in range(pieces):
            shift = np.uint64(_BITS * number // pieces)
            table = np.zeros(1 << bits, np.bool_)
            # In their order and without repetition, so that near ones are written one after another.
            values = np.unique((wanted >> shift) & self._mask).view(np.int64)
            table[values] = True
            for bit in range(bits):
                table[values ^ (1 << bit)] = True
            self._tables.append((shift, table))

    def passes(self, values: "SimHashes") -> "npt.NDArray[np.bool_]":
        """Which of `values` pass."""
        passed = np.zeros(values.size, np.bool_)
        for shift, table in self._tables:
            passed |= table[((values >> shift) & self._mask).view(np.int64)]
        return passed


def _sieve(con: duckdb.DuckDBPyConnection, max_distance: int) -> "SimHashes":
    """The SimHashes of `comparable` that pass the sieve of those of `arrived`."""
    wanted = con.sql("SELECT simhash FROM arrived").to_arrow_table()["simhash"].to_numpy()
    sieve = Sieve(wanted, max_distance)
    passed = [np.empty(0, np.uint64)]
    for batch in con.sql("SELECT simhash FROM comparable").to_arrow_reader(_SIEVED_ROWS):
        values = batch.column(0).to_numpy()
        passed.append(values[sieve.passes(values)])
    return np.concatenate(passed)


def _view_log(lake: Lake, con: duckdb.DuckDBPyConnection, bucket: int, settled: Settled) -> None:
    """The views of the state's log that speak of texts and groups."""
    from_epoch = max((epoch for epoch in checkpoint_epochs(lake, bucket) if epoch <= settled.last + 1), default=0)
    base = [lake.files.path(checkpoint_name(lake, bucket, from_epoch, "page"))] if from_epoch else []
    query.view_files(con, "base_page", "page", base)
    for table in ("observation", "duplicate"):
        files = lake.current(table, "bucket", bucket, settled)
        paths = lake.paths(file for file in files if file.epoch >= from_epoch)
        query.view_files(con, f"tail_{table}", table, paths, from_epoch=from_epoch)
