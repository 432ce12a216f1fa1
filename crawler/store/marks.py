"""Marks: how far a partition has read every bucket's settled log.

They stand in the metadata of the file that the reading produced, so reading and remembering is one write.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import duckdb

from crawler.store import query, tables
from crawler.store.lake import Lake
from crawler.store.lease import Settled


def read_marks(lake: Lake, table: str, kind: str, number: int, settled: Settled) -> dict[int, int]:
    """By source bucket the last epoch that the partition has read, from its newest file of `table`."""
    files = lake.current(table, kind, number, settled)
    return parse_marks(tables.read_metadata(lake.path(files[-1]))) if files else {}


def parse_marks(metadata: Mapping[str, str]) -> dict[int, int]:
    """The marks in a file's metadata."""
    return {int(bucket): int(epoch) for bucket, epoch in json.loads(metadata["marks"]).items()}


def write_marks(marks: Mapping[int, int]) -> dict[str, str]:
    """The metadata that `parse_marks` reads."""
    return {"marks": json.dumps({str(bucket): epoch for bucket, epoch in sorted(marks.items())})}


@dataclass(frozen=True, slots=True)
class Span:
    """The epochs of one source bucket that are read now: after < epoch <= upto."""

    bucket: int
    after: int
    upto: int


def spans_from(marks: Mapping[int, int], upto: Mapping[int, int]) -> list[Span]:
    """What lies between `marks` and `upto`, for every bucket where something does."""
    return [
        Span(bucket, marks.get(bucket, 0), last) for bucket, last in sorted(upto.items()) if last > marks.get(bucket, 0)
    ]


def view_spans(
    lake: Lake,
    con: duckdb.DuckDBPyConnection,
    view: str,
    table: str,
    spans: list[Span],
    settled: Mapping[int, Settled] | None = None,
) -> None:
    """Make `view` of all files of `table` that can hold rows of `spans`, and the table `span` to join them with.

    settled: of each bucket, if the caller has them.
    """
    paths = []
    for span in spans:
        known = (settled or {}).get(span.bucket) or lake.settled("bucket", span.bucket)
        files = lake.current(table, "bucket", span.bucket, known)
        paths += lake.paths(file for file in files if file.epoch > span.after)
    query.view_files(con, view, table, paths)
    rows = [(span.bucket, span.after, span.upto) for span in spans]
    query.keep_rows(con, "span", "bucket USMALLINT, after_epoch UBIGINT, upto_epoch UBIGINT", rows)
