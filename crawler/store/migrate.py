"""Migrations: what turns a lake of one schema version into the next.

Reads and writes the metadata; each migration rewrites what it must before the new version is announced, and may be
run again after a crash. The version is announced by a create-if-absent of the next metadata file.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from crawler.core.errors import CorruptLake, SchemaMismatch
from crawler.store.columns import NewColumn, add_columns
from crawler.store.files import Files
from crawler.store.lake import SCHEMA_VERSION, Metadata, partition_name, read_metadata
from crawler.store.lease import KernelLock, this_process

_PACED = (
    NewColumn("connections", pa.uint8(), 1),
    NewColumn("address_delay_seconds", pa.float64(), 0.0),  # what was in force is not known: not to be judged by it
    NewColumn("address_buckets", pa.uint16(), 1),
)
_NAMED = (NewColumn("is_sitemap", pa.bool_(), value=False), NewColumn("announced_by", pa.list_(pa.string()), None))


def _links_by(name: str) -> pa.DataType:
    """The type of a column that counts links by `name`."""
    return pa.list_(pa.struct([(name, pa.string()), ("links", pa.uint32())]))


def _to_2(files: Files) -> None:
    """Several requests at once, address gates, audits of validators, the slow lane, suspect robots.txt."""
    add_columns(
        files,
        {
            "observation": (*_PACED, NewColumn("audit", pa.bool_(), value=False)),
            "robots": (
                *_PACED,
                NewColumn("suspect", pa.bool_(), value=False),
                NewColumn("read_at", pa.timestamp("us", "UTC"), None),
                NewColumn("unreachable_since", pa.timestamp("us", "UTC"), None),
            ),
            "host_state": (
                NewColumn("busy_at", pa.timestamp("us", "UTC"), None),
                NewColumn("slow", pa.bool_(), value=False),
                NewColumn("validator_audits", pa.uint32(), 0),
                NewColumn("validator_lies", pa.uint32(), 0),
            ),
        },
    )


_RATES = [f"k{rate}" for rate in range(8)]
# Evidence is of checks from now on: what a page was before is not known by intervals.
_CHECKED = (
    NewColumn("is_alias", pa.bool_(), value=False),
    NewColumn("checked_at", pa.timestamp("us", "UTC"), None),
    NewColumn("is_live", pa.bool_(), None),
    NewColumn("checks", pa.uint32(), 0),
    NewColumn("evidence", pa.struct([(rate, pa.int32()) for rate in _RATES]), None),
    NewColumn("evidence_generation", pa.int32(), None),
    NewColumn(
        "hints",
        pa.struct(
            [
                (name, pa.uint32())
                for name in ("modified", "modified_true", "signalled", "signalled_true", "rapid", "rapid_changed")
            ]
        ),
        None,
    ),
)
_CHOSEN = (
    NewColumn("reason", pa.string(), "priority"),
    NewColumn("expected_bytes", pa.uint64(), 0),
    NewColumn("signalled", pa.bool_(), value=False),
    NewColumn("modified_trusted", pa.bool_(), value=False),
    NewColumn("noisy", pa.bool_(), value=False),
)
_CUT = (
    NewColumn("cutoff_value", pa.float64(), None),
    NewColumn("new_cutoff_priority", pa.int32(), -(2**31)),  # below every row: admissions of before knew no such limit
    NewColumn("new_cutoff_url_key", pa.uint64(), 2**64 - 1),
    NewColumn("expected_bytes", pa.uint64(), 0),
    NewColumn(
        "belief",
        pa.struct(
            [
                ("urls", pa.uint64()),
                ("sums", pa.struct([(rate, pa.int64()) for rate in _RATES])),
                ("asked", pa.uint64()),
                ("useful", pa.uint64()),
            ]
        ),
        None,
    ),
)


def _to_3(files: Files) -> None:
    """What a page's URLs, language and links were found to be; the evidence of how often it changes."""
    add_columns(
        files,
        {
            "observation": (
                NewColumn("charset_reason", pa.string(), None),
                NewColumn("language", pa.string(), None),
                NewColumn("nofollow", pa.bool_(), value=False),
                NewColumn("noarchive", pa.bool_(), value=False),
                NewColumn("nofollow_links", pa.uint32(), 0),
                NewColumn("rejected_links", _links_by("reason"), None),
                NewColumn("dropped_parameters", _links_by("name"), None),
                NewColumn("sitemap", pa.string(), None),
                NewColumn("counts_as_changed", pa.bool_(), None),
                NewColumn("modified_at", pa.timestamp("us", "UTC"), None),
                NewColumn("modified_trusted", pa.bool_(), value=False),
                NewColumn("signalled", pa.bool_(), value=False),
            ),
            "page": (
                NewColumn("robots_digest", pa.binary(), None),
                NewColumn("language", pa.string(), None),
                *_NAMED,
                NewColumn("near_of", pa.string(), None),
                NewColumn("inlinks", pa.uint32(), 0),
                NewColumn("lastmod", pa.timestamp("us", "UTC"), None),
                NewColumn("sitemap_priority", pa.float64(), None),
                *_CHECKED,
            ),
            "duplicate": (
                NewColumn("simhash", pa.uint64(), None),
                NewColumn("near_of", pa.string(), None),
                NewColumn("near_skipped", pa.uint8(), None),
            ),
            "plan": (*_NAMED, *_CHOSEN),
            "admitted": _CUT,
            "rejected": (
                NewColumn("host", pa.string(), None),
                NewColumn("pattern", pa.string(), None),
                NewColumn("held", pa.uint64(), 0),
            ),
            "link": (
                NewColumn("is_first", pa.bool_(), value=False),  # in-links count from now on
                NewColumn("lastmod", pa.timestamp("us", "UTC"), None),
                NewColumn("priority", pa.float64(), None),
                NewColumn("announced_by", pa.list_(pa.string()), None),
            ),
        },
    )


# Nothing was fetched before it was planned.
_DISCOVERED = NewColumn(
    "discovered",
    pa.struct(
        [
            ("pattern_key", pa.uint64()),
            ("depth", pa.uint16()),
            ("hops", pa.uint16()),
            ("discovered_at", pa.timestamp("us", "UTC")),
        ]
    ),
    None,
)


def _to_4(files: Files) -> None:
    """What keeps the cost of a cycle with what it fetches and finds."""
    add_columns(files, {"observation": (_DISCOVERED,)})


# By the version that it starts from.
MIGRATIONS: dict[int, Callable[[Files], None]] = {1: _to_2, 2: _to_3, 3: _to_4}


def migrate(root: str, *, to_version: int = SCHEMA_VERSION) -> tuple[int, int]:
    """Bring the lake at `root` to `to_version`; returns the versions before and after.

    Owns all partitions meanwhile. Raises NoLake, BucketTaken while a task of the older version runs, SchemaMismatch for
    a lake that is newer, CorruptLake for a version that there never was.
    """
    files = Files(root)
    metadata = read_metadata(files)
    before = metadata.schema_version
    if before > to_version:
        raise SchemaMismatch(files.root, before, to_version)
    while metadata.schema_version < to_version:
        if metadata.schema_version not in MIGRATIONS:
            raise CorruptLake(files.root, f"has schema version {metadata.schema_version}, which no Recrawl wrote")
        with _nobody_writes(files, metadata):
            MIGRATIONS[metadata.schema_version](files)
        metadata = replace(metadata, schema_version=metadata.schema_version + 1)
        number = len(files.names("meta")) + 1
        files.create_bytes(metadata.to_json(), f"meta/{number:04d}.json")
    return before, metadata.schema_version


@contextmanager
def _nobody_writes(files: Files, metadata: Metadata) -> Iterator[None]:
    guard, holder = KernelLock(Path(files.root, "locks")), this_process()
    with ExitStack() as held:
        for kind in ("bucket", "shard"):
            for number in range(metadata.buckets):
                held.callback(guard.hold(partition_name(kind, number), holder))
        yield
