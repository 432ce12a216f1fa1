"""Fingerprint: who brought a content first, over all hosts, before the copies' links count.

The owner of a digest shard reads the digests of its range that observations of any bucket brought since the shard's
marks, and what the shard knows. Writes table copy with the new marks.
"""

from typing import Any

from crawler.core.cycle import Cycle
from crawler.store import query, tables
from crawler.store.lake import Lake
from crawler.store.lease import Owner
from crawler.store.marks import read_marks, spans_from, view_spans, write_marks


def run(lake: Lake, cycle: Cycle, shard: int) -> dict[str, Any]:
    """Find the copies of `shard`; returns how many digests arrived. Raises BucketTaken, LeaseLost."""
    with lake.own("shard", shard, cycle) as owner:
        return {"shard": shard, "digests": _find(lake, cycle, shard, owner)}


def _find(lake: Lake, cycle: Cycle, shard: int, owner: Owner) -> int:
    marks = read_marks(lake, "copy", "shard", shard, owner.settled)
    upto = {bucket: lake.settled("bucket", bucket).last for bucket in range(lake.buckets)}
    spans = spans_from(marks, upto)
    if not spans:
        return 0
    con = lake.connect()
    view_spans(lake, con, "observation_files", "observation", spans)
    known = lake.current("copy", "shard", shard, owner.settled)
    query.view_files(con, "copy_files", "copy", lake.paths(known))
    low, high = _digest_range(shard, lake.buckets)
    query.materialise(con, "arriving", "fingerprint/arriving", {"low": low, "high": high})
    staged = lake.files.staged(".parquet")
    reader = query.arrow(
        con,
        "fingerprint/copy",
        {"cycle": cycle.day, "shard": shard, "epoch": owner.epoch, "sequence": owner.sequence + 1},
    )
    digests = tables.write_result(staged, "copy", reader, write_marks({**marks, **upto}))
    lake.commit(owner, "copy", {"copy": staged})
    return digests


def _digest_range(shard: int, shards: int) -> tuple[bytes, bytes]:
    """The smallest digest of the shard, and the smallest above it, as bytes to compare with."""
    width = (1 << 16) // shards
    high = (shard + 1) * width
    return (shard * width).to_bytes(2, "big"), high.to_bytes(2, "big") if high < 1 << 16 else b"\xff" * 33
