"""Erase: take what a purge names out of every file of the lake.

A file is never changed: one that holds something to erase gets a revision without it, then the publications are made
to name the revisions, then the older ones are deleted. So a reader sees whole cycles at every moment; one that opened
its views before ends with a missing file, never with a wrong answer.

What goes: the URL's captures, its links, its place in the state, and from its observations all that its page said;
that we asked, when, and what came of it stays, since it proves politeness. Its content goes wherever else it was
found: other URLs with an equal body forget theirs and are fetched anew. Whoever was called its copy becomes first.
May be run again after a crash at any point.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from crawler.core.cycle import Cycle
from crawler.core.keys import bucket_of, host_key
from crawler.store import log, tables
from crawler.store.files import LEFTOVER_SECONDS
from crawler.store.known_copies import forget_runs
from crawler.store.lake import Lake, partition_name
from crawler.store.log import LogFile
from crawler.store.manifest import renew_publications
from crawler.store.purges import Purge, keep_digests, mark_erased
from crawler.store.reader import write_views_file
from crawler.store.state import checkpoint_revisions, revised_checkpoint_name
from crawler.store.survey import drop_lists

Column: TypeAlias = pa.ChunkedArray | pa.Array
Heirs: TypeAlias = dict[tuple[str, bytes], str]
"""By kind and digest the URL that is first once the purged first is gone."""

# Of those without NULL.
_EMPTY: dict[str, object] = {"example": "", "saved_bytes": 0, "stored": False, "links": 0, "nofollow_links": 0}
_EMPTY |= dict.fromkeys(("noindex", "nofollow", "noarchive"), False)
_SAID = (
    "etag", "last_modified", "sitemap", "content_type", "charset", "charset_reason", "body_bytes", "saved_bytes",
    "stored", "body_digest", "text_digest", "copy_digest", "text_bytes", "simhash", "content_changed", "title",
    "language", "noindex", "nofollow", "noarchive", "redirect_url", "canonical_url", "links", "nofollow_links",
    "rejected_links", "dropped_parameters", "error",
)  # fmt: skip
_VERSION = (
    "etag", "last_modified", "body_digest", "text_digest", "copy_digest", "simhash", "text_bytes", "body_bytes",
    "title", "language", "duplicate_of", "near_of",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Rule:
    """How rows of one table are cleaned.

    url, digest: the columns that say whether a row is about something purged; without `forgets` it goes as a whole.
    others: columns with URLs of other pages, which a row loses if they are purged.
    forgets: what the rows of other URLs with a purged body lose, and those of purged URLs unless `drops_urls`.
    heir: whether another becomes first. columns: that decide whether a file holds something to erase.
    """

    columns: tuple[str, ...]
    url: str | None = "url"
    digest: str | None = None
    forgets: tuple[str, ...] = ()
    drops_urls: bool = False
    others: tuple[str, ...] = ()
    has_heirs: bool = False


# In the order of work: the observations tell what is to be erased, so they come last.
_LOG_RULES = {
    "capture": _Rule(("url", "body_digest"), digest="body_digest"),
    "link": _Rule(("source_url",), url="source_url"),
    "duplicate": _Rule(
        ("first_url", "near_of", "body_digest"), url=None, digest="body_digest", others=("first_url", "near_of")
    ),
    "url": _Rule(("url",)),
    "mention": _Rule(("url",)),
    "rejected": _Rule(("example", "pattern"), url="example", forgets=("example", "pattern")),
    "observation": _Rule(("url", *_SAID), digest="body_digest", forgets=_SAID),
}
_COPY = _Rule(("kind", "digest", "url", "body_digest", "is_first", "first_url"), digest="body_digest", has_heirs=True)
_NEAR = _Rule(("url", "near_url", "body_digest"), digest="body_digest", others=("near_url",))
_PAGE = _Rule(
    ("url", *_VERSION), digest="body_digest", forgets=_VERSION, drops_urls=True, others=("duplicate_of", "near_of")
)


@dataclass(frozen=True, slots=True)
class Names:
    """What is erased: canonical URLs, and the digests of the bodies that were found there."""

    urls: pa.Array
    digests: pa.Array

    @classmethod
    def of(cls, urls: Iterable[str], digests: Iterable[bytes]) -> "Names":
        return cls(pa.array(urls, pa.string()), pa.array(digests, pa.binary()))


@dataclass(slots=True)
class Erased:
    """How much was erased. urls: that the purge covers; files: written anew; others: further URLs with that content."""

    urls: int = 0
    captures: int = 0
    files: int = 0
    others: int = 0

    def to_dict(self) -> dict[str, int]:
        return {"urls": self.urls, "captures": self.captures, "files": self.files, "others": self.others}


def look(lake: Lake, purge: Purge) -> Erased:
    """What `erase` would take out now, but for `files`. Writes nothing."""
    urls = _urls(lake, purge)
    return _counted(lake, Names.of(urls, _digests(lake, purge, urls)))


def erase(lake: Lake, purge: Purge, advance: Callable[[], None] = lambda: None) -> Erased:
    """Take what `purge` names out of the lake; every bucket and shard is owned for a moment, upkeep is kept out.

    advance: called after each of twice as many steps as there are buckets. Raises BucketTaken while one is at work;
    what was done till then stays done and is not repeated.
    """
    cycle = Cycle(lake.clock.now().date())
    home = bucket_of(host_key(purge.host), lake.buckets)
    with lake.alone(), lake.own("bucket", home, cycle):
        urls = _urls(lake, purge)
        names = Names.of(urls, keep_digests(lake, purge, _digests(lake, purge, urls)))
        done = _counted(lake, names)
        for number in range(lake.buckets):
            with lake.own("shard", number, cycle):
                done.files += _clean_copies(lake, number, names)
            advance()
        for bucket in sorted({*range(lake.buckets)} - {home}):
            with lake.own("bucket", bucket, cycle):
                done.files += _clean_bucket(lake, bucket, names)
            advance()
        done.files += _clean_bucket(lake, home, names)
        renew_publications(lake)
        write_views_file(lake)
        for name in [*_superseded(lake), *lake.files.leftovers(LEFTOVER_SECONDS)]:
            lake.files.delete(name)
        advance()
    mark_erased(lake, purge, done.to_dict())
    return done


# What is to be erased


def _urls(lake: Lake, purge: Purge) -> set[str]:
    """The canonical URLs that a purge covers, as far as the lake knows them."""
    if purge.kind == "url":
        return {purge.name}
    bucket = bucket_of(host_key(purge.host), lake.buckets)
    paths = [lake.path(file) for table in ("url", "observation") for file in _files(lake, table, "bucket", bucket)]
    paths += [lake.files.path(name) for name, _ in _checkpoints(lake, bucket)]
    found: set[str] = set()
    for path in paths:
        for batch in tables.batches(path, ["host", "url"]):
            found.update(batch["url"].filter(pc.equal(batch["host"], purge.host)).to_pylist())
    return found


def _digests(lake: Lake, purge: Purge, urls: set[str]) -> set[bytes]:
    """The digests of all bodies that were found at `urls`."""
    bucket = bucket_of(host_key(purge.host), lake.buckets)
    wanted = pa.array(urls, pa.string())
    found: set[bytes] = set()
    for table in ("observation", "capture"):
        for file in _files(lake, table, "bucket", bucket):
            for batch in tables.batches(lake.path(file), ["url", "body_digest"]):
                there = pc.and_(pc.is_in(batch["url"], value_set=wanted), pc.is_valid(batch["body_digest"]))
                found.update(batch["body_digest"].filter(there).to_pylist())
    return found


def _counted(lake: Lake, names: Names) -> Erased:
    captures: set[tuple[str, object]] = set()
    urls: set[str] = set()
    for bucket in range(lake.buckets):
        for file in _files(lake, "capture", "bucket", bucket):
            for batch in tables.batches(lake.path(file), ["url", "body_digest", "fetched_at"]):
                gone = batch.filter(_matches(_LOG_RULES["capture"], names, batch))
                captures.update(zip(gone["url"].to_pylist(), gone["fetched_at"].to_pylist(), strict=True))
        for file in _files(lake, "observation", "bucket", bucket):
            for batch in tables.batches(lake.path(file), ["url", "body_digest"]):
                urls.update(batch["url"].filter(pc.is_in(batch["body_digest"], value_set=names.digests)).to_pylist())
    return Erased(len(names.urls), len(captures), 0, len(urls.difference(names.urls.to_pylist())))


# Files


def _files(lake: Lake, table: str, kind: str, number: int) -> list[LogFile]:
    """The newest revision of every file of a table and partition, whether it counts or not."""
    return log.newest_revisions(log.list_table(lake.files, lake.layout, table, partition_name(kind, number)))


def _checkpoints(lake: Lake, bucket: int) -> Iterator[tuple[str, str]]:
    """The newest revision of the pages of each checkpoint, with the name of the revision after it."""
    for epoch, revisions in checkpoint_revisions(lake, bucket, "page").items():
        yield (
            revised_checkpoint_name(lake, bucket, epoch, "page", revisions[-1]),
            revised_checkpoint_name(lake, bucket, epoch, "page", revisions[-1] + 1),
        )


def _superseded(lake: Lake) -> list[str]:
    """The files that have a newer revision."""
    found = []
    partitions = [("bucket", table) for table in _LOG_RULES] + [("shard", "copy"), ("shard", "near")]
    for number in range(lake.buckets):
        for kind, table in partitions:
            files = log.list_table(lake.files, lake.layout, table, partition_name(kind, number))
            newest = set(log.newest_revisions(files))
            found += [f"{lake.layout}/{file.name}" for file in files if file not in newest]
        for epoch, revisions in checkpoint_revisions(lake, number, "page").items():
            found += [revised_checkpoint_name(lake, number, epoch, "page", each) for each in revisions[:-1]]
    return found


def _clean_bucket(lake: Lake, bucket: int, names: Names) -> int:
    drop_lists(lake, bucket)
    written = sum(_clean(lake, name, new, "page", _PAGE, names) for name, new in list(_checkpoints(lake, bucket)))
    for table, rule in _LOG_RULES.items():
        for file in _files(lake, table, "bucket", bucket):
            written += _clean_file(lake, file, rule, names)
    return written


def _clean_copies(lake: Lake, shard: int, names: Names) -> int:
    files = _files(lake, "copy", "shard", shard)
    heirs = _heirs(lake, files, names)
    if any(_holds(lake.path(file), _COPY, names, heirs) for file in files):
        forget_runs(lake, shard)  # before the files: a purge that is killed between them finds this again
    written = sum(_clean_file(lake, file, _COPY, names, heirs) for file in files)
    return written + sum(_clean_file(lake, file, _NEAR, names) for file in _files(lake, "near", "shard", shard))


def _clean_file(lake: Lake, file: LogFile, rule: _Rule, names: Names, heirs: Heirs | None = None) -> int:
    revised = replace(file, revision=file.revision + 1)
    return _clean(lake, f"{lake.layout}/{file.name}", f"{lake.layout}/{revised.name}", file.table, rule, names, heirs)


def _clean(
    lake: Lake,
    name: str,
    new_name: str,
    table: str,
    rule: _Rule,
    names: Names,
    heirs: Heirs | None = None,
) -> int:
    """Write the revision of a file if it holds something to erase; returns how many files were written."""
    path = lake.files.path(name)
    if not _holds(path, rule, names, heirs):
        return 0
    staged: Path = lake.files.staged(".parquet")
    cleaned = (_cleaned(rule, names, batch, heirs) for batch in tables.batches(path))
    tables.write_batches(staged, table, cleaned, tables.read_metadata(path))
    lake.files.put(staged, new_name)
    return 1


def _holds(path: str, rule: _Rule, names: Names, heirs: Heirs | None) -> bool:
    """Whether a file holds something to erase."""
    return any(not _cleaned(rule, names, batch, heirs).equals(batch) for batch in tables.batches(path, rule.columns))


# Rows


def _matches(rule: _Rule, names: Names, rows: pa.RecordBatch) -> Column:
    """Which rows are about something to erase."""
    found = pa.repeat(pa.scalar(value=False), len(rows))
    for column, erased in ((rule.url, names.urls), (rule.digest, names.digests)):
        if column is not None:
            found = pc.or_(found, pc.is_in(rows[column], value_set=erased))
    return found


def _cleaned(rule: _Rule, names: Names, rows: pa.RecordBatch, heirs: Heirs | None) -> pa.RecordBatch:
    found = _matches(rule, names, rows)
    gone = found if not rule.forgets else pc.is_in(rows[rule.url], value_set=names.urls) if rule.drops_urls else None
    if gone is not None:
        rows, found = rows.filter(pc.invert(gone)), found.filter(pc.invert(gone))
    rows = _forget(rows, found, rule.forgets)
    for name in rule.others:
        rows = _forget(rows, pc.is_in(rows[name], value_set=names.urls), (name,))
    return _inherited(rows, names, heirs or {}) if rule.has_heirs else rows


def _forget(rows: pa.RecordBatch, found: Column, columns: Iterable[str]) -> pa.RecordBatch:
    for name in columns:
        place = rows.schema.get_field_index(name)
        field = rows.schema.field(place)
        nothing = pa.scalar(None if field.nullable else _EMPTY[name], field.type)
        rows = rows.set_column(place, field, pc.if_else(found, nothing, rows[name]))
    return rows


def _heirs(lake: Lake, files: Iterable[LogFile], names: Names) -> Heirs:
    """By kind and digest who is first once the purged first is gone: the shortest URL, ties by the URL itself."""
    heirs: Heirs = {}
    columns = ["kind", "digest", "url", "body_digest", "first_url"]
    for file in files:
        for batch in tables.batches(lake.path(file), columns):
            orphaned = pc.and_(
                pc.is_in(batch["first_url"], value_set=names.urls), pc.invert(_matches(_COPY, names, batch))
            )
            for row in batch.filter(orphaned).to_pylist():
                key = (row["kind"], row["digest"])
                heirs[key] = min(row["url"], heirs.get(key, row["url"]), key=lambda url: (len(url), url))
    return heirs


def _inherited(rows: pa.RecordBatch, names: Names, heirs: Heirs) -> pa.RecordBatch:
    if not pc.any(pc.is_in(rows["first_url"], value_set=names.urls)).as_py():
        return rows
    kept: list[dict[str, Any]] = rows.to_pylist()
    for row in kept:
        heir = heirs.get((row["kind"], row["digest"]))
        if heir is not None:
            row["first_url"], row["is_first"] = heir, row["url"] == heir
    return pa.RecordBatch.from_pylist(kept, schema=rows.schema)
