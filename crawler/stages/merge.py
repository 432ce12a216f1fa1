"""Merge: the links to a bucket become known URLs, its copies are marked, its checkpoint is written when due.

The owner of a bucket reads every link file of every bucket beyond its marks, of whatever cycle, up to what all digest
shards have seen; so links of late, cleared or backfilled fetches are found by the next merge, and links of copies
never count. An exact anti-join with the seen set decides what is new; what links and sitemaps say of what is known is
kept as well. Writes tables url (with the new marks), mention, duplicate, rejected and capture.
"""

from typing import Any

from crawler.core.cycle import Cycle
from crawler.core.keys import key_range
from crawler.store import query, tables
from crawler.store.given import keep_given_sitemaps
from crawler.store.lake import Lake
from crawler.store.lease import Owner
from crawler.store.marks import Span, parse_marks, read_marks, spans_from, view_spans, write_marks
from crawler.store.scoping import judge, open_scope
from crawler.store.state import State, open_known, open_state, write_checkpoint
from crawler.store.traps import count_held, open_pages, size_arriving, size_sources

FEW_ROWS = 100_000
"""URLs of a bucket in which every merge counts what traps keep out of plans."""

_GOLDEN = 0.6180339887498949  # whose multiples lie far apart modulo 1

COUNTING_DAYS = 7
"""Of a larger bucket one cycle in so many counts it: no decision needs it."""


def run(lake: Lake, cycle: Cycle, bucket: int) -> dict[str, Any]:
    """Merge what `bucket` has not read; returns how many URLs are new. Raises BucketTaken, LeaseLost."""
    with lake.own("bucket", bucket, cycle) as owner:
        return {"bucket": bucket, **_merge(lake, cycle, bucket, owner)}


def _merge(lake: Lake, cycle: Cycle, bucket: int, owner: Owner) -> dict[str, Any]:
    marks = read_marks(lake, "url", "bucket", bucket, owner.settled)
    seen_by_shards = _seen_by_shards(lake)
    spans = spans_from(marks, seen_by_shards)
    if not spans:
        return {"new": 0, "rejected": 0, "checkpoint": 0}
    con = lake.connect()
    state = open_known(lake, con, bucket, owner.settled)
    new, rejected = _arrive(lake, state, spans, marks)
    counts_held = _count_held(lake, state, cycle)
    stamp = {"cycle": cycle.day, "bucket": bucket, "epoch": owner.epoch, "sequence": owner.sequence + 1}
    staged = {}
    whole = []
    if _own_span(spans, bucket):
        staged["duplicate"] = _stage(state, "duplicate", stamp)
        if _has_spare_bodies(lake, state, cycle):
            staged["capture"] = _stage(state, "capture", stamp)
            whole.append("capture")
    if rejected or query.has_rows(con, "kept_out"):
        staged["rejected"] = _stage(state, "rejected", {**stamp, "counts_held": counts_held})
    staged["mention"] = _stage(state, "mention", stamp)
    staged["url"] = lake.files.staged(".parquet")
    reader = query.arrow(con, "merge/url", stamp)
    tables.write_result(staged["url"], "url", reader, write_marks({**marks, **seen_by_shards}))
    lake.commit(owner, "url", staged, whole=whole)
    return {"new": new, "rejected": rejected, "checkpoint": _checkpoint_when_due(state)}


def _seen_by_shards(lake: Lake) -> dict[int, int]:
    """By bucket the last epoch whose digests every shard has seen: whose copies are known."""
    seen: dict[int, int] = {}
    for shard in range(lake.buckets):
        marks = read_marks(lake, "copy", "shard", shard, lake.settled("shard", shard))
        for bucket in range(lake.buckets):
            seen[bucket] = min(seen.get(bucket, 2**63), marks.get(bucket, 0))
    return seen


def _arrive(lake: Lake, state: State, spans: list[Span], marks: dict[int, int]) -> tuple[int, int]:
    """Make the table `judged` of the arriving URLs; returns how many of them are new, and how many a rule stops."""
    con = state.con
    _view_copies(lake, state, marks)
    view_spans(lake, con, "link_files", "link", spans)
    keep_given_sitemaps(lake, con, state.bucket)
    low, high = key_range(state.bucket, lake.buckets)
    query.materialise(con, "followed_link", "merge/followed", {"low_key": low, "high_key": high})
    query.materialise(con, "seen", "merge/seen")
    open_pages(con)
    query.materialise(con, "watched", "merge/source")
    size_sources(lake, con)
    query.materialise(con, "candidate", "merge/arriving")
    judge(lake, con, open_scope(lake, con))
    size_arriving(lake, con)
    query.materialise(con, "judged", "merge/judged", lake.settings.traps.model_dump())
    ((new, rejected),) = query.run(con, "merge/counts").fetchall()
    return int(new), int(rejected)


def _count_held(lake: Lake, state: State, cycle: Cycle) -> bool:
    """Make the table `kept_out` of the known URLs that traps keep out of plans; says whether they were counted."""
    rows = state.checkpoint_rows()
    if rows > FEW_ROWS and (cycle.day.toordinal() + state.bucket) % COUNTING_DAYS:
        query.keep_rows(
            state.con, "kept_out", "rule VARCHAR, host VARCHAR, pattern_key UBIGINT, held BIGINT, example VARCHAR", []
        )
        return False
    count_held(lake, state.con)
    return True


def _view_copies(lake: Lake, state: State, marks: dict[int, int]) -> None:
    """Make the views `copy_files` and `near_files` of each shard's files that can speak of observations beyond `marks`.

    A shard's files are read from the newest back to the first whose own marks do not pass ours: it and all older ones
    speak of what we have read.
    """
    paths, near_paths = [], []
    for shard in range(lake.buckets):
        settled = lake.settled("shard", shard)
        near = {(file.epoch, file.sequence): file for file in lake.current("near", "shard", shard, settled)}
        for file in reversed(lake.current("copy", "shard", shard, settled)):
            path = lake.path(file)
            file_marks = parse_marks(tables.read_metadata(path))
            if all(epoch <= marks.get(bucket, 0) for bucket, epoch in file_marks.items()):
                break
            paths.append(path)
            if (file.epoch, file.sequence) in near:
                near_paths.append(lake.path(near[file.epoch, file.sequence]))
    query.view_files(state.con, "copy_files", "copy", paths)
    query.view_files(state.con, "near_files", "near", near_paths)


def _own_span(spans: list[Span], bucket: int) -> bool:
    return any(span.bucket == bucket for span in spans)


def _has_spare_bodies(lake: Lake, state: State, cycle: Cycle) -> bool:
    files = lake.current("capture", "bucket", state.bucket, state.settled, cycle)
    query.view_files(state.con, "capture_files", "capture", lake.paths(files))
    ((bodies,),) = query.run(state.con, "merge/spare_bodies").fetchall()
    return bool(bodies)


def _stage(state: State, table: str, stamp: dict[str, Any]) -> Any:
    staged = state.lake.files.staged(".parquet")
    tables.write_result(staged, table, query.arrow(state.con, f"merge/{table}", stamp))
    return staged


def _checkpoint_when_due(state: State) -> int:
    """Write a checkpoint if the tail has grown past its share; returns its rows, 0 if none was due.

    The share differs by up to a quarter from bucket to bucket, so that buckets that grow alike do not write theirs in
    one cycle.
    """
    settings = state.lake.settings.lake
    checkpoint_rows, touched_rows = state.counts()
    share = settings.checkpoint_share * (0.75 + 0.5 * ((0.5 + state.bucket * _GOLDEN) % 1))
    if touched_rows < max(settings.checkpoint_min_rows, share * checkpoint_rows):
        return 0
    return write_checkpoint(open_state(state.lake, state.lake.connect(), state.bucket, state.settled))
