"""From a reply to rows: pure functions that fill the columns of observation, capture, link, robots and host_state.

The ledger adds the columns that say where a row belongs. Reads no clock, keeps no state.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from urllib.parse import quote

from crawler.core.config import Settings
from crawler.core.cycle import Cycle
from crawler.core.keys import host_key, url_key
from crawler.core.model import Row, Target
from crawler.core.outcomes import Outcome
from crawler.core.urls import CanonicalUrl, canonicalize, pattern_key, shape_trap
from crawler.net.politeness import retry_after
from crawler.net.reply import Reply, printable
from crawler.page.page import Page, ParserFailed, read_page
from crawler.page.sitemap import read_sitemap
from crawler.stages.fetch.hosts import Origin

_XML_TYPES = frozenset({"application/xml", "text/xml", "application/rss+xml", "application/atom+xml"})
_KEPT = "".join(chr(code) for code in range(0x21, 0x7F)) + " "


@dataclass(slots=True)
class Visit:
    """The rows of one planned URL."""

    observation: Row
    capture: Row | None = None
    links: list[Row] = field(default_factory=list)
    rejected: Counter[str] = field(default_factory=Counter)


def validators(target: Target) -> dict[str, str]:
    """The headers that make the request conditional: both validators, verbatim. Empty if no version is known."""
    headers = {}
    if target.body_digest is not None:
        if target.etag:
            headers["If-None-Match"] = target.etag
        if target.last_modified:
            headers["If-Modified-Since"] = target.last_modified
    return headers


def unasked(target: Target, outcome: Outcome, now: datetime, cycle: Cycle, origin: Origin) -> Row:
    """The observation of a URL that we decide not to ask for, by the robots.txt of its origin."""
    row = _observation(target, cycle, now, now)
    return row | {"outcome": outcome.value, "robots_digest": origin.digest, "error": origin.reason}


def visit(
    target: Target, reply: Reply, cycle: Cycle, settings: Settings, *, conditional: bool, robots_digest: bytes | None
) -> Visit:
    """The rows that a reply gives."""
    row = _observation(target, cycle, reply.fetched_at, reply.ended_at)
    row |= {
        "outcome": reply.outcome.value,
        "status": reply.status,
        "sent": reply.sent,
        "address": reply.address,
        "robots_digest": robots_digest,
        "conditional": conditional,
        "content_type": reply.media_type,
        "wire_bytes": reply.wire_bytes,
        "truncated": reply.truncated,
        "retry_after_seconds": retry_after(reply, settings.politeness.retry_after_cap_seconds),
        "error": reply.error,
    }
    found = Visit(row)
    if reply.outcome is Outcome.NOT_MODIFIED:
        _keep_version(row, target, reply)
    elif reply.outcome is Outcome.REDIRECTED:
        _follow(found, target, reply, settings)
    elif reply.outcome is Outcome.OK and reply.body is not None:
        _read(found, target, reply, reply.body, settings)
    return found


def robots_row(origin: str, host: str, url: str, hop: int, reply: Reply, verdict: str, valid_until: datetime) -> Row:
    """The row of a request for a robots.txt; `final`, the delays and the rules' columns are the caller's."""
    body = reply.body if reply.outcome is Outcome.OK else None
    return {
        "origin": origin,
        "host_key": host_key(host),
        "host": host,
        "url": url,
        "hop": hop,
        "final": False,
        "verdict": verdict,
        "outcome": reply.outcome.value,
        "status": reply.status,
        "fetched_at": reply.fetched_at,
        "ended_at": reply.ended_at,
        "sent": reply.sent,
        "delay_seconds": 0.0,
        "connections": 1,
        "address": reply.address,
        "address_delay_seconds": 0.0,
        "address_buckets": 1,
        "valid_until": valid_until,
        "crawl_delay_seconds": None,
        "body_digest": sha256(body).digest() if body is not None else None,
        "body": body,
        "suspect": False,
        "unreachable_since": None,
        "error": reply.error,
    }


def location(reply: Reply) -> str:
    """The Location header as the server meant it: its octets are UTF-8, or encoded one by one."""
    octets = (reply.header("location") or "").strip().encode("latin-1", "replace")
    try:
        return octets.decode()
    except UnicodeDecodeError:
        return quote(octets, safe=_KEPT)


def _observation(target: Target, cycle: Cycle, fetched_at: datetime, ended_at: datetime) -> Row:
    return {
        "url_key": target.url_key,
        "host_key": target.host_key,
        "url": target.url,
        "fetch_url": target.fetch_url,
        "host": target.host,
        "outcome": "",
        "status": None,
        "fetched_at": fetched_at,
        "ended_at": ended_at,
        "sent": False,
        "late": fetched_at >= cycle.end,
        "delay_seconds": 0.0,
        "connections": 1,
        "address": None,
        "address_delay_seconds": 0.0,
        "address_buckets": 1,
        "robots_digest": None,
        "conditional": False,
        "audit": False,
        "etag": None,
        "last_modified": None,
        "content_type": None,
        "charset": None,
        "wire_bytes": 0,
        "body_bytes": None,
        "saved_bytes": 0,
        "truncated": False,
        "stored": False,
        "body_digest": None,
        "text_digest": None,
        "copy_digest": None,
        "text_bytes": None,
        "simhash": None,
        "content_changed": None,
        "title": None,
        "noindex": False,
        "redirect_url": None,
        "canonical_url": None,
        "links": 0,
        "retry_after_seconds": None,
        "error": None,
    }


def _keep_version(row: Row, target: Target, reply: Reply) -> None:
    row |= {
        "etag": reply.header("etag") or target.etag,
        "last_modified": reply.header("last-modified") or target.last_modified,
        "saved_bytes": target.body_bytes or 0,
        "body_digest": target.body_digest,
        "text_digest": target.text_digest,
        "copy_digest": target.copy_digest,
        "text_bytes": target.text_bytes,
        "simhash": target.simhash,
        "content_changed": False,
    }


def _follow(found: Visit, target: Target, reply: Reply, settings: Settings) -> None:
    aim = canonicalize(location(reply), target.fetch_url)
    if not isinstance(aim, CanonicalUrl):
        found.rejected[aim.reason] += 1
        found.observation["error"] = printable(f"redirect to no URL that can be crawled: {aim.reason}")
        return
    found.observation["redirect_url"] = aim.url
    if aim.url != target.url:
        found.links.append(_link(target, "redirect", aim, reply.fetched_at, settings))


def _read(found: Visit, target: Target, reply: Reply, body: bytes, settings: Settings) -> None:
    row = found.observation
    try:
        page = read_page(
            body,
            url=target.fetch_url,
            content_type=reply.header("content-type"),
            headers=reply.headers,
            product_token=settings.crawl.product_token,
            min_text_bytes=settings.copies.min_text_bytes,
            max_parse_bytes=settings.fetch.max_parse_bytes,
        )
    except ParserFailed as error:
        row |= {"outcome": Outcome.PARSER_FAILED.value, "error": printable(f"{type(error).__name__}: {error}")}
        return
    digest = sha256(body).digest()
    is_same = digest == target.body_digest
    is_stored = not is_same and not page.noarchive
    row |= {
        "etag": reply.header("etag"),
        "last_modified": reply.header("last-modified"),
        "charset": page.charset,
        "body_bytes": len(body),
        "stored": is_stored,
        "body_digest": digest,
        "text_digest": page.text_digest,
        "copy_digest": page.copy_digest,
        "text_bytes": page.text_bytes,
        "simhash": page.simhash,
        "content_changed": _has_changed(target, page.text_digest, is_same=is_same),
        "title": page.title,
        "noindex": page.noindex,
        "canonical_url": page.canonical.url if page.canonical else None,
    }
    if is_stored:
        found.capture = _capture(target, reply, body, digest, page.charset)
    found.rejected = page.rejected
    links = _links(target, reply, body, page, settings)
    row["links"] = len(links)
    if not is_same:  # the links of an equal body are known
        found.links = links


def _has_changed(target: Target, text_digest: bytes, *, is_same: bool) -> bool | None:
    if is_same:
        return False
    return None if target.text_digest is None else text_digest != target.text_digest


def _capture(target: Target, reply: Reply, body: bytes, digest: bytes, charset: str) -> Row:
    return {
        "url_key": target.url_key,
        "url": target.url,
        "fetched_at": reply.fetched_at,
        "body_digest": digest,
        "content_type": reply.header("content-type"),
        "charset": charset,
        "headers": json.dumps(reply.headers),
        "body": body,
    }


def _links(target: Target, reply: Reply, body: bytes, page: Page, settings: Settings) -> list[Row]:
    at = reply.fetched_at
    links = [
        _link(target, link.kind, link.target, at, settings, nofollow=link.nofollow)
        for link in page.links
        if link.target.url != target.url
    ]
    if reply.media_type in _XML_TYPES:
        named = {entry.target.url: entry.target for entry in read_sitemap(body, target.url, fetched_at=at)}
        links += _sitemap_links(target, named.values(), at, settings)
    return links


def _sitemap_links(target: Target, named: Iterable[CanonicalUrl], at: datetime, settings: Settings) -> list[Row]:
    return [_link(target, "sitemap", aim, at, settings) for aim in named if aim.url != target.url]


def _link(
    target: Target, kind: str, aim: CanonicalUrl, found_at: datetime, settings: Settings, *, nofollow: bool = False
) -> Row:
    return {
        "source_url_key": target.url_key,
        "source_url": target.url,
        "source_depth": target.depth,
        "source_hops": target.hops,
        "kind": kind,
        "nofollow": nofollow,
        "target_url_key": url_key(aim.url),
        "target_host_key": host_key(aim.host),
        "target_url": aim.url,
        "target_fetch_url": aim.fetch_url,
        "target_host": aim.host,
        "target_pattern_key": pattern_key(aim.url),
        "trap": shape_trap(aim.url, target.depth + 1, settings.traps),
        "found_at": found_at,
    }
