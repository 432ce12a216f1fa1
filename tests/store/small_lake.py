"""Lakes with a log that a test writes row by row, through the lake's own ownership and files."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from crawler.core import urls
from crawler.core.config import parse_settings
from crawler.core.cycle import Cycle
from crawler.core.keys import bucket_of, host_key, url_key
from crawler.core.shape import pattern_key
from crawler.core.urls import CanonicalUrl
from crawler.store import query, tables
from crawler.store.lake import Lake
from crawler.store.marks import read_marks, write_marks

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = Cycle(NOON.date())
Row = dict[str, Any]


class StoppedClock:
    """Shows one instant until the test sets another."""

    def __init__(self, instant: datetime = NOON) -> None:
        self.instant = instant

    def now(self) -> datetime:
        return self.instant

    def monotonic(self) -> float:
        return self.instant.timestamp()


def lake_at(root: Any, *, clock: Any = None, buckets: int = 1, **sections: Mapping[str, Any]) -> Lake:
    """A new lake at `root`, or the one that is there, with `sections` of the settings file besides."""
    lake = {"root": str(root), "buckets": buckets, **sections.pop("lake", {})}
    crawl = {"user_agent": "test/1 (+http://contact.test/)"}
    settings = parse_settings({"crawl": crawl, "engine": {"threads": 1}, "lake": lake, **sections})
    return Lake.create(settings, clock or StoppedClock())


def digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def canonical(url: str) -> CanonicalUrl:
    found = urls.canonicalize(url)
    assert isinstance(found, CanonicalUrl), found
    return found


def bucket_of_url(lake: Lake, url: str) -> int:
    return bucket_of(host_key(canonical(url).host), lake.buckets)


def _identity(url: str) -> Row:
    found = canonical(url)
    return {
        "url_key": url_key(found.url),
        "host_key": host_key(found.host),
        "url": found.url,
        "fetch_url": found.fetch_url,
        "host": found.host,
    }


def known(url: str, **fields: Any) -> Row:
    """A row of table url."""
    row = {
        **_identity(url),
        "pattern_key": pattern_key(canonical(url).url),
        "depth": 1,
        "hops": 0,
        "is_seed": False,
        "kind": "a",
        "discovered_at": NOON,
    }
    return {**row, **fields}


def observed(url: str, body: str | None = None, *, at: datetime = NOON, **fields: Any) -> Row:
    """A row of table observation: `ok` with the text `body`, or what `fields` say."""
    content: Row = {"outcome": "ok", "status": 200, "stored": True}
    if body is not None:
        content |= {"body_digest": digest(body), "text_digest": digest(body), "body_bytes": len(body)}
    row = {
        **_identity(url),
        **content,
        "fetched_at": at,
        "ended_at": at,
        "sent": True,
        "late": False,
        "delay_seconds": 0.0,
        "connections": 1,
        "address_delay_seconds": 0.0,
        "address_buckets": 1,
        "conditional": False,
        "audit": False,
        "wire_bytes": 0,
        "saved_bytes": 0,
        "truncated": False,
        "modified_trusted": False,
        "signalled": False,
        "noindex": False,
        "nofollow": False,
        "noarchive": False,
        "links": 0,
        "nofollow_links": 0,
    }
    return {**row, **fields}


def linked(source: str, target: str, **fields: Any) -> Row:
    """A row of table link."""
    to = _identity(target)
    row = {
        "source_url_key": url_key(canonical(source).url),
        "source_url": canonical(source).url,
        "source_depth": 0,
        "source_hops": 0,
        "kind": "a",
        "nofollow": False,
        **{f"target_{name}": value for name, value in to.items()},
        "target_pattern_key": pattern_key(to["url"]),
        "is_first": True,
        "found_at": NOON,
    }
    return {**row, **fields}


def captured(url: str, body: str, **fields: Any) -> Row:
    """A row of table capture."""
    row = {
        "url_key": url_key(canonical(url).url),
        "url": canonical(url).url,
        "fetched_at": NOON,
        "body_digest": digest(body),
        "headers": "[]",
        "body": body.encode(),
    }
    return {**row, **fields}


def asked_robots(host: str, verdict: str = "rules", *, at: datetime = NOON, **fields: Any) -> Row:
    """A row of table robots that decides for `http://host`."""
    row = {
        "origin": f"http://{host}",
        "host_key": host_key(host),
        "host": host,
        "url": f"http://{host}/robots.txt",
        "hop": 0,
        "final": True,
        "verdict": verdict,
        "outcome": "ok",
        "fetched_at": at,
        "ended_at": at,
        "sent": True,
        "delay_seconds": 1.0,
        "connections": 1,
        "address_delay_seconds": 0.0,
        "address_buckets": 1,
        "valid_until": at + timedelta(days=1),
        "suspect": False,
    }
    return {**row, **fields}


def host_state(host: str, **fields: Any) -> Row:
    """A row of table host_state."""
    row = {
        "host_key": host_key(host),
        "host": host,
        "delay_seconds": 1.0,
        "allowed_at": NOON,
        "response_seconds": 0.1,
        "penalty": 1.0,
        "error_streak": 0,
        "requests": 1,
        "slow": False,
        "validator_audits": 0,
        "validator_lies": 0,
    }
    return {**row, **fields}


def write(
    lake: Lake, bucket: int, rows: Mapping[str, Sequence[Row]], *, cycle: Cycle = DAY, finished: bool | None = None
) -> int:
    """Own `bucket`, write `rows` by table as one sequence number and release; returns the epoch.

    Rows of table url keep the bucket's marks. finished: make whole files that say so.
    """
    lead = "url" if "url" in rows else "observation"
    with lake.own("bucket", bucket, cycle) as owner:
        staged = {}
        for table, given in {lead: [], **rows}.items():
            stamp = {"cycle": cycle.day, "bucket": bucket, "epoch": owner.epoch, "sequence": owner.sequence + 1}
            metadata = {} if finished is None else {"complete": str(finished).lower()}
            if table == "url":
                metadata = write_marks(read_marks(lake, "url", "bucket", bucket, owner.settled))
            staged[table] = lake.files.staged(".parquet")
            tables.write_rows(staged[table], table, [{**stamp, **row} for row in given], metadata)
        lake.commit(owner, lead, staged, whole=list(staged) if finished is not None else [])
        return owner.epoch


def make_known(lake: Lake, *addresses: str, **fields: Any) -> None:
    """Write rows of table url, each in its bucket."""
    by_bucket: dict[int, list[Row]] = {}
    for url in addresses:
        by_bucket.setdefault(bucket_of_url(lake, url), []).append(known(url, **fields))
    for bucket, rows in by_bucket.items():
        write(lake, bucket, {"url": rows})


def read(lake: Lake, table: str, *, kind: str = "bucket", cycle: Cycle | None = None) -> list[Row]:
    """All rows of a table that count now, over all partitions, in the order in which they were written."""
    con = lake.connect()
    found = []
    for number in range(lake.buckets):
        files = lake.current(table, kind, number, lake.settled(kind, number), cycle)
        query.view_files(con, "wanted_rows", table, lake.paths(files))
        found += query.rows(con.execute("FROM wanted_rows ORDER BY epoch, sequence"))
    return found
