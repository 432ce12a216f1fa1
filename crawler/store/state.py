"""The state of a bucket: its newest checkpoint with the rest of the settled log folded over it.

Reads the checkpoint and the log of one bucket; writes checkpoints. A checkpoint of epoch N is a pure function of the
rows of epochs below N, which are settled, so it needs no lease and whoever writes it writes the same.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import duckdb

from crawler.store import query, tables
from crawler.store.lake import Lake, partition_name
from crawler.store.lease import Settled

CHECKPOINTS = "checkpoint"
PARTS = ("page", "host", "robots", "tally")
FOLD = {
    "touched": "state/touched",
    "touched_page": "state/touched_page",
    "found": "state/found",
    "near_label": "state/near_label",
    "mentioned": "state/mentioned",
    "asked": "state/asked",
    "streak": "state/streak",
    "checked": "state/checked",
    "evidence": "state/evidence",
    "folded": "state/fold_touched",
}
"""The tables of the fold, in their order, and the statement that makes each."""
_KNOWN = {
    "touched": "state/touched",
    "touched_page": "state/touched_text",
    "found": "state/found",
    "near_label": "state/near_label",
    "mentioned": "state/mentioned",
    "overlay": "state/overlay",
}
"""Those of the fold in narrow columns."""
_PART = re.compile(r"e(\d{8})-(page|host|robots|tally)(?:-r(\d+))?\.parquet")


@dataclass(frozen=True, slots=True)
class State:
    """An open state. The temporary views state_page, tail_* and base_* of its connection belong to it.

    from_epoch: the checkpoint's epoch, 0 without one; the tail begins there. settled: up to where the log was read.
    """

    lake: Lake
    con: duckdb.DuckDBPyConnection
    bucket: int
    settled: Settled
    from_epoch: int

    def checkpoint_rows(self) -> int:
        """The number of rows in the checkpoint."""
        return self.counts()[0]

    def counts(self) -> tuple[int, int]:
        """The number of rows in the checkpoint and of URLs that the tail touches."""
        (found,) = query.run(self.con, "state/counts").fetchall()
        return int(found[0]), int(found[1])


def checkpoint_epochs(lake: Lake, bucket: int) -> list[int]:
    """The epochs that the bucket has a complete checkpoint of, ascending."""
    return sorted({epoch for epoch, part, _ in _checkpoint_files(lake, bucket) if part == "page"})


def checkpoint_name(lake: Lake, bucket: int, epoch: int, part: str) -> str:
    """The name of one file of a checkpoint, of its newest revision; part is one of PARTS."""
    revisions = [revision for *place, revision in _checkpoint_files(lake, bucket) if place == [epoch, part]]
    return revised_checkpoint_name(lake, bucket, epoch, part, max(revisions, default=0))


def revised_checkpoint_name(lake: Lake, bucket: int, epoch: int, part: str, revision: int) -> str:
    """The name of one revision of one file of a checkpoint; 0 is as it was first written."""
    suffix = f"-r{revision}" if revision else ""
    return f"{_folder(lake, bucket)}/e{epoch:08d}-{part}{suffix}.parquet"


def checkpoint_revisions(lake: Lake, bucket: int, part: str) -> dict[int, list[int]]:
    """By epoch the revisions that there are of one part of the bucket's checkpoints, ascending."""
    found: dict[int, list[int]] = {}
    for epoch, named, revision in sorted(_checkpoint_files(lake, bucket)):
        if named == part:
            found.setdefault(epoch, []).append(revision)
    return found


def _folder(lake: Lake, bucket: int) -> str:
    return f"{lake.layout}/{CHECKPOINTS}/{partition_name('bucket', bucket)}"


def _checkpoint_files(lake: Lake, bucket: int) -> list[tuple[int, str, int]]:
    matches = map(_PART.fullmatch, lake.files.names(_folder(lake, bucket)))
    return [(int(match[1]), match[2], int(match[3] or 0)) for match in matches if match]


def open_state(lake: Lake, con: duckdb.DuckDBPyConnection, bucket: int, settled: Settled) -> State:
    """Make the views of the bucket's state as of `settled` on `con`."""
    from_epoch = view_log(lake, con, bucket, settled)
    fold(con)
    return State(lake, con, bucket, settled, from_epoch)


def open_known(lake: Lake, con: duckdb.DuckDBPyConnection, bucket: int, settled: Settled) -> State:
    """Like `open_state`, but state_page has the columns of `state/known` only: no wide column is read for them.

    What a merge asks of a bucket each cycle; a wide row of the checkpoint costs forty times a key, and DuckDB reads all
    of them to find a few.
    """
    from_epoch = view_log(lake, con, bucket, settled)
    for table, statement in _KNOWN.items():
        query.materialise(con, table, statement)
    query.view_query(con, "state_page", "state/known")
    return State(lake, con, bucket, settled, from_epoch)


def view_log(lake: Lake, con: duckdb.DuckDBPyConnection, bucket: int, settled: Settled) -> int:
    """Make views base_* of the newest checkpoint up to `settled` and tail_* of the log after it; returns its epoch."""
    epochs = [epoch for epoch in checkpoint_epochs(lake, bucket) if epoch <= settled.last + 1]
    from_epoch = epochs[-1] if epochs else 0
    for part, table in (("page", "page"), ("host", "host_state"), ("robots", "robots")):
        names = [checkpoint_name(lake, bucket, from_epoch, part)] if epochs else []
        query.view_files(con, f"base_{part}", table, [lake.files.path(name) for name in names])
    for view, table in (
        ("tail_url", "url"),
        ("tail_observation", "observation"),
        ("tail_duplicate", "duplicate"),
        ("tail_mention", "mention"),
        ("tail_host", "host_state"),
        ("tail_robots", "robots"),
    ):
        files = lake.current(table, "bucket", bucket, settled)
        paths = lake.paths(file for file in files if file.epoch >= from_epoch)
        query.view_files(con, view, table, paths, from_epoch=from_epoch)
    return from_epoch


def view_counted(lake: Lake, con: duckdb.DuckDBPyConnection, bucket: int, settled: Settled) -> None:
    """Make views base_tally, of the newest checkpoint with one, and counted_observation of what was observed since."""
    epochs = [epoch for epoch in checkpoint_revisions(lake, bucket, "tally") if epoch <= settled.last + 1]
    from_epoch = max(epochs, default=0)
    names = [checkpoint_name(lake, bucket, from_epoch, "tally")] if epochs else []
    query.view_files(con, "base_tally", "tally", [lake.files.path(name) for name in names])
    files = lake.current("observation", "bucket", bucket, settled)
    paths = lake.paths(file for file in files if file.epoch >= from_epoch)
    query.view_files(con, "counted_observation", "observation", paths, from_epoch=from_epoch)


def fold(con: duckdb.DuckDBPyConnection) -> None:
    """Fold the views tail_* of `con` over base_page: makes its view state_page."""
    for table, statement in FOLD.items():
        query.materialise(con, table, statement)
    query.view_query(con, "state_page", "state/page")


def write_checkpoint(state: State) -> int:
    """Materialise the state as the checkpoint of epoch settled + 1; returns its number of rows.

    The page file comes last: a checkpoint without it does not exist for anyone.
    """
    lake, epoch = state.lake, state.settled.last + 1
    view_counted(lake, state.con, state.bucket, state.settled)
    rows = 0
    for part, table, name in (
        ("host", "host_state", "state/host"),
        ("robots", "robots", "state/robots"),
        ("tally", "tally", "state/tally"),
        ("page", "page", "state/checkpoint_page"),
    ):
        staged: Path = lake.files.staged(".parquet")
        reader = query.arrow(state.con, name)
        rows = tables.write_result(staged, table, reader)
        lake.files.create(staged, checkpoint_name(lake, state.bucket, epoch, part))
    return rows
