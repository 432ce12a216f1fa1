"""Near copies: which of the pages that a bucket knows lie near the pages that have just arrived anywhere.

Every shard answers for the pages of the bucket with its number and gets all that arrived, so the corpus is read once in
all, in parts, and the memory that a part needs follows what arrived. Of the corpus only the SimHashes are read, and a
sieve lets few of them pass; URLs are read only of pages that a pair was found with. A page's own word for its SimHash
is its state: what changed, is gone or was purged is looked up no more. Reads the state of one bucket; writes temporary
tables.
"""

from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Literal

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
_KEY_TABLE_BITS = 22
_ODD = np.uint64(0x9E3779B97F4A7C15)
_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")
_COMPARED = 1 << 22  # pairs at a time: how much memory a crowd may take


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

    Both have a column `simhash`. Exact, unless more than `most_alike` that arrived share a key; of those that were not
    looked up by it the table `skipped` says by how many keys. After Manku, Jain, Das Sarma: Detecting near-duplicates
    for web crawling (WWW 2007), section 3, with the roles of table and query exchanged, of what passes a sieve.
    """
    wanted = _distinct(con.sql("SELECT simhash FROM arrived").to_arrow_table()["simhash"].to_numpy())
    likely = _distinct(_sieve(con, Sieve(wanted, max_distance)))
    skipped = np.zeros(wanted.size, np.uint8)
    found = [
        pair for key in keys(max_distance) for pair in _search(wanted, likely, key, max_distance, most_alike, skipped)
    ]
    left, right = (
        np.concatenate([np.empty(0, np.uint64), *side]) for side in (zip(*found, strict=True) if found else ((), ()))
    )
    con.register("found_pair", pa.table({"simhash": left, "near_simhash": right}))
    query.materialise(con, "pair", "fingerprint/pair")
    con.unregister("found_pair")
    some = skipped > 0
    con.register("skipped", pa.table({"simhash": wanted[some], "keys": skipped[some]}))


def keys(max_distance: int) -> "SimHashes":
    """The bits of a SimHash to look it up by, as masks.

    Cut into k + 2 blocks, two values that differ in at most k bits are equal in at least two blocks, whichever the bits
    are; so each pair of blocks is a key, and some key of near values is equal.
    """
    ends = [_BITS * number // (max_distance + 2) for number in range(max_distance + 3)]
    blocks = [(1 << high) - (1 << low) for low, high in pairwise(ends)]
    return np.array([one | other for one, other in combinations(blocks, 2)], np.uint64)


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
            # In their order, so that near ones are written one after another.
            values = np.sort((wanted >> shift) & self._mask).view(np.int64)
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


def _sieve(con: duckdb.DuckDBPyConnection, sieve: Sieve) -> "SimHashes":
    """The SimHashes of `comparable` that pass."""
    passed = [np.empty(0, np.uint64)]
    for batch in con.sql("SELECT simhash FROM comparable").to_arrow_reader(_SIEVED_ROWS):
        values = batch.column(0).to_numpy()
        passed.append(values[sieve.passes(values)])
    return np.concatenate(passed)


def _search(
    wanted: "SimHashes",
    likely: "SimHashes",
    key: np.uint64,
    max_distance: int,
    most_alike: int,
    skipped: "npt.NDArray[np.uint8]",
) -> "Iterator[tuple[SimHashes, SimHashes]]":
    """The pairs of `wanted` and `likely`, which are sorted, that are near and have one key; counts up `skipped`."""
    order = np.argsort(wanted & key, kind="stable")
    shared = wanted[order] & key
    rank = np.arange(order.size) - shared.searchsorted(shared)
    skipped[order[rank >= most_alike]] += 1
    order, shared = order[rank < most_alike], shared[rank < most_alike]
    # A small table of hashes first: it stays in the cache, and few keys need the binary search.
    present = np.zeros(1 << _KEY_TABLE_BITS, np.bool_)
    present[_slots(shared)] = True
    likely = likely[present[_slots(likely & key)]]
    low, high = (shared.searchsorted(likely & key, side) for side in _SIDES)
    counts = high - low
    ends = counts.cumsum()
    start = 0
    while start < likely.size:
        done = ends[start - 1] if start else 0
        stop = max(start + 1, int(ends.searchsorted(done + _COMPARED, "right")))
        times = counts[start:stop]
        places = np.arange(times.sum()) + np.repeat(low[start:stop] - (times.cumsum() - times), times)
        left, right = wanted[order[places]], np.repeat(likely[start:stop], times)
        near = np.bitwise_count(left ^ right) <= max_distance
        yield left[near], right[near]
        start = stop


def _distinct(values: "SimHashes") -> "SimHashes":
    """`values` in their order, each once; by sorting, which takes a fifth of the time of `np.unique`."""
    values = np.sort(values)
    is_new = np.ones(values.size, np.bool_)
    is_new[1:] = values[1:] != values[:-1]
    return values[is_new]


def _slots(shared: "SimHashes") -> "npt.NDArray[np.int64]":
    return ((shared * _ODD) >> np.uint64(_BITS - _KEY_TABLE_BITS)).view(np.int64)


def _view_log(lake: Lake, con: duckdb.DuckDBPyConnection, bucket: int, settled: Settled) -> None:
    """The views of the state's log that speak of texts and groups."""
    from_epoch = max((epoch for epoch in checkpoint_epochs(lake, bucket) if epoch <= settled.last + 1), default=0)
    base = [lake.files.path(checkpoint_name(lake, bucket, from_epoch, "page"))] if from_epoch else []
    query.view_files(con, "base_page", "page", base)
    for table in ("observation", "duplicate"):
        files = lake.current(table, "bucket", bucket, settled)
        paths = lake.paths(file for file in files if file.epoch >= from_epoch)
        query.view_files(con, f"tail_{table}", table, paths, from_epoch=from_epoch)
