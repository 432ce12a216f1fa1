"""A web of six pages on two hosts, and a fetch of it that writes through the real ledger without a network."""

import hashlib
import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from crawler.core import urls
from crawler.core.config import parse_settings
from crawler.core.cycle import Cycle
from crawler.core.keys import bucket_of, host_key, url_key
from crawler.core.shape import pattern_key
from crawler.core.urls import CanonicalUrl
from crawler.store.lake import Lake
from crawler.store.ledger import FetchLedger

BUCKETS = 2
A, B = "http://a.test", "http://b.test"
PAGES = {
    f"{A}/": ("front of a", [f"{A}/1", f"{B}/"]),
    f"{A}/1": ("same", [f"{A}/2"]),
    f"{A}/2": ("leaf", []),
    f"{B}/": ("front of b", [f"{B}/1", f"{B}/copy"]),
    f"{B}/1": ("one of b", [f"{A}/2"]),
    f"{B}/copy": ("same", [f"{A}/2"]),
}
FIRST_DAY = datetime(2026, 3, 1, tzinfo=UTC)


class ManualClock:
    """Moves on a second at each look, so that no two instants are equal."""

    def __init__(self, start: datetime) -> None:
        self.instant = start

    def now(self) -> datetime:
        self.instant += timedelta(seconds=1)
        return self.instant

    def monotonic(self) -> float:
        return self.instant.timestamp()


def small_settings(root: str, **lake: Any) -> Any:
    """Settings of a lake at `root` in which everything is due at once and checkpoints are written early."""
    return parse_settings(
        {
            "crawl": {"user_agent": "test/1 (+http://contact.test/)"},
            "lake": {"root": root, "buckets": BUCKETS, "checkpoint_min_rows": 1, "checkpoint_share": 0.3, **lake},
            "plan": {"min_interval_days": 0},
            "engine": {"threads": 1},
        }
    )


def digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def bucket_of_url(url: str) -> int:
    found = urls.canonicalize(url)
    assert isinstance(found, CanonicalUrl)
    return bucket_of(host_key(found.host), BUCKETS)


def fetch(
    lake: Lake,
    cycle: Cycle,
    bucket: int,
    *,
    tokens: "itertools.count[int]",
    asked: Callable[[str, Cycle, int, str], None],
) -> list[str]:
    """Ask for what is left of the cycle's plan; every request gets a token of its own, kept as the page's title.

    `asked` is told (url, cycle, epoch, token) of each request as it is sent. Returns the tokens of all requests.
    """
    sent = []
    with lake.own("bucket", bucket, cycle) as owner:
        ledger = FetchLedger(lake, owner)
        todo = ledger.todo()
        for place, target in enumerate(todo):
            token = f"t{next(tokens)}"
            asked(target.url, cycle, owner.epoch, token)
            sent.append(token)
            rows = _rows(lake, target, token)
            if place == len(todo) - 1:
                ledger.finish(rows, complete=True)
            else:
                ledger.append(rows)
        if not todo:
            ledger.finish({}, complete=True)
    return sent


def _rows(lake: Lake, target: Any, token: str) -> dict[str, list[dict[str, Any]]]:
    text, links = PAGES[target.url]
    now = lake.clock.now()
    known = target.body_digest is not None
    observation = {
        "url_key": target.url_key,
        "host_key": target.host_key,
        "url": target.url,
        "fetch_url": target.fetch_url,
        "host": target.host,
        "outcome": "not_modified" if known else "ok",
        "status": 304 if known else 200,
        "fetched_at": now,
        "ended_at": now,
        "sent": True,
        "late": False,
        "delay_seconds": 0.0,
        "connections": 1,
        "address_delay_seconds": 0.0,
        "address_buckets": 1,
        "conditional": known,
        "audit": False,
        "modified_trusted": False,
        "signalled": False,
        "etag": f'"{digest(text).hex()[:8]}"',
        "wire_bytes": 0 if known else len(text),
        "body_bytes": len(text),
        "saved_bytes": len(text) if known else 0,
        "truncated": False,
        "stored": not known,
        "body_digest": digest(text),
        "text_digest": digest(text),
        "content_changed": False if known else None,
        "noindex": False,
        "nofollow": False,
        "noarchive": False,
        "links": len(links),
        "nofollow_links": 0,
        "title": token,
    }
    if known:
        return {"observation": [observation]}
    capture = {
        "url_key": target.url_key,
        "url": target.url,
        "fetched_at": now,
        "body_digest": digest(text),
        "headers": "[]",
        "body": text.encode(),
    }
    found = []
    for link in links:
        to = urls.canonicalize(link)
        assert isinstance(to, CanonicalUrl)
        found.append(
            {
                "source_url_key": target.url_key,
                "source_url": target.url,
                "source_depth": target.depth,
                "source_hops": target.hops,
                "kind": "a",
                "nofollow": False,
                "target_url_key": url_key(to.url),
                "target_host_key": host_key(to.host),
                "target_url": to.url,
                "target_fetch_url": to.fetch_url,
                "target_host": to.host,
                "target_pattern_key": pattern_key(to.url),
                "is_first": True,
                "found_at": now,
            }
        )
    return {"observation": [observation], "capture": [capture], "link": found}
