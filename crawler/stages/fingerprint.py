"""Fingerprint: who brought a content first, over all hosts, before the copies' links count; and what is nearly equal.

The owner of a digest shard reads the digests of its range that observations of any bucket brought since the shard's
marks, and what the shard knows: exact copies. It compares the SimHashes of all that arrived with those of the pages of
the bucket with its number: near copies. Writes tables copy, with the new marks, and near.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crawler.core.cycle import Cycle
from crawler.store import query, tables
from crawler.store.bodies import held_since
from crawler.store.known_copies import Run, open_known, write_run_when_due
from crawler.store.lake import Lake
from crawler.store.lease import Owner, Settled
from crawler.store.marks import read_marks, spans_from, view_spans, write_marks
from crawler.store.near import find_near, open_arrived


def run(lake: Lake, cycle: Cycle, shard: int) -> dict[str, Any]:
    """Find the copies of `shard`; returns how many digests arrived and how many pages are near to one of its own.

    Raises BucketTaken, LeaseLost.
    """
    with lake.own("shard", shard, cycle) as owner:
        digests, near = _find(lake, cycle, shard, owner)
        return {"shard": shard, "digests": digests, "near": near}


def _find(lake: Lake, cycle: Cycle, shard: int, owner: Owner) -> tuple[int, int]:
    marks = read_marks(lake, "copy", "shard", shard, owner.settled)
    settled = {bucket: lake.settled("bucket", bucket) for bucket in range(lake.buckets)}
    upto = {bucket: each.last for bucket, each in settled.items()}
    spans = spans_from(marks, upto)
    if not spans:
        return 0, 0
    con = lake.connect()
    view_spans(lake, con, "observation_files", "observation", spans, settled)
    query.materialise(con, "came", "fingerprint/came")
    stamp = {"cycle": cycle.day, "shard": shard, "epoch": owner.epoch, "sequence": owner.sequence + 1}
    near, found = _near(lake, con, shard, settled[shard], stamp)
    copies, digests, runs = _exact(lake, con, shard, owner.settled, stamp, write_marks({**marks, **upto}))
    lake.commit(owner, "copy", {"copy": copies, **near})
    write_run_when_due(lake, con, shard, owner.settled, runs)
    return digests, found


def _exact(
    lake: Lake,
    con: query.Connection,
    shard: int,
    settled: Settled,
    stamp: Mapping[str, Any],
    marks: Mapping[str, str],
) -> tuple[Path, int, list[Run]]:
    """Stage the rows of copy; returns them with their number and the runs that were asked for what is known."""
    low, high = _digest_range(shard, lake.buckets)
    query.materialise(con, "arriving", "fingerprint/arriving", {"low": low, "high": high})
    runs = open_known(lake, con, shard, settled)
    since = held_since(lake.settings, lake.clock.now().date())
    return (*_stage(lake, con, "copy", {**stamp, "held_since": since}, marks), runs)


def _near(
    lake: Lake, con: query.Connection, shard: int, settled: Settled, stamp: Mapping[str, Any]
) -> tuple[dict[str, Path], int]:
    """Stage the rows of near if there are any; returns them by table, with their number."""
    max_distance = lake.settings.copies.max_distance
    if not max_distance or not open_arrived(con, shard):
        return {}, 0
    find_near(lake, con, shard, settled, max_distance)
    staged, rows = _stage(lake, con, "near", {**stamp, "max_distance": max_distance})
    if not rows:
        staged.unlink()
        return {}, 0
    return {"near": staged}, rows


def _stage(
    lake: Lake,
    con: query.Connection,
    table: str,
    stamp: Mapping[str, Any],
    metadata: Mapping[str, str] | None = None,
) -> tuple[Path, int]:
    staged = lake.files.staged(".parquet")
    rows = tables.write_result(staged, table, query.arrow(con, f"fingerprint/{table}", stamp), metadata)
    return staged, rows


def _digest_range(shard: int, shards: int) -> tuple[bytes, bytes]:
    """The smallest digest of the shard, and the smallest above it, as bytes to compare with."""
    width = (1 << 16) // shards
    high = (shard + 1) * width
    return (shard * width).to_bytes(2, "big"), high.to_bytes(2, "big") if high < 1 << 16 else b"\xff" * 33
