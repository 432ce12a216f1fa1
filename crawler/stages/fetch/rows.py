"""From a reply to rows: pure functions that fill the columns of observation, capture, link, robots and host_state.

The ledger adds the columns that say where a row belongs. Reads no clock, keeps no state.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from hashlib import sha256
from urllib.parse import quote

from crawler.core.columns import LinkSource
from crawler.core.config import Settings
from crawler.core.cycle import Cycle
from crawler.core.fetch_settings import FetchSettings
from crawler.core.keys import host_key, url_key
from crawler.core.model import Row, Target
from crawler.core.outcomes import Outcome
from crawler.core.shape import pattern_key, shape_trap
from crawler.core.url_rules import UrlRules
from crawler.core.urls import CanonicalUrl, canonicalize
from crawler.net.politeness import retry_after
from crawler.net.reply import Reply, printable
from crawler.page.links import count_dropped
from crawler.page.reading import Job, Reading, job_headers
from crawler.stages.fetch.hosts import Origin

_LONGEST_VALIDATOR = (
    1000  # characters; a longer one would be carried through every plan, and is refused when it comes back
)
_ANSWER_TIME = timedelta(minutes=5)
_KEPT = "".join(chr(code) for code in range(0x21, 0x7F)) + " "


@dataclass(slots=True)
class Visit:
    """The rows of one planned URL. job: the page that is still to be read, see `complete`."""

    target: Target
    reply: Reply
    observation: Row
    capture: Row | None = None
    links: list[Row] = field(default_factory=list)
    job: Job | None = None


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
    target: Target,
    reply: Reply,
    cycle: Cycle,
    settings: Settings,
    *,
    url_rules: UrlRules,
    conditional: bool,
    robots_digest: bytes | None,
) -> Visit:
    """The rows that a reply gives. url_rules: those of `settings`."""
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
    row["modified_at"] = modified_at(reply)
    found = Visit(target, reply, row)
    if reply.outcome is Outcome.NOT_MODIFIED:
        _keep_version(row, target, reply)
    elif reply.outcome is Outcome.REDIRECTED:
        _follow(found, target, reply, settings, url_rules)
    elif reply.outcome is Outcome.OK and reply.body is not None:
        found.job = Job(
            target.url,
            target.fetch_url,
            target.depth,
            reply.header("content-type"),
            reply.media_type,
            job_headers(reply.headers),
            reply.fetched_at,
            target.body_digest,
            reply.body,
            target.is_sitemap,
            target.announced_by,
        )
    return found


def complete(found: Visit, reading: Reading, settings: Settings) -> None:
    """Add to a visit what came of reading its page, sitemap or feed."""
    row, target, reply = found.observation, found.target, found.reply
    if reading.error is not None:
        row |= {"outcome": Outcome.PARSER_FAILED.value, "error": printable(reading.error)}
        return
    if target.is_sitemap and reading.sitemap is None and not _is_wanted_page(reply, settings.fetch):
        row |= {"outcome": Outcome.UNWANTED_TYPE.value, "error": "it is named as a sitemap and is none"}
        return
    body = reply.body or b""
    is_same = reading.body_digest == target.body_digest
    is_stored = not is_same and not reading.noarchive and len(body) <= settings.fetch.max_body_bytes
    changed = _has_changed(target, reading.text_digest, is_same=is_same)
    row |= {
        "etag": _validator(reply, "etag"),
        "last_modified": _validator(reply, "last-modified"),
        "sitemap": reading.sitemap,
        "charset": reading.charset or None,
        "charset_reason": reading.charset_reason or None,
        "body_bytes": len(body),
        "stored": is_stored,
        "body_digest": reading.body_digest,
        "text_digest": reading.text_digest,
        "copy_digest": reading.copy_digest,
        "text_bytes": reading.text_bytes,
        "simhash": reading.simhash,
        "content_changed": changed,
        "counts_as_changed": changed and not _is_noise(target, reading.simhash, settings.copies.noise_bits),
        "title": reading.title,
        "language": reading.language,
        "noindex": reading.noindex,
        "nofollow": reading.nofollow,
        "noarchive": reading.noarchive,
        "canonical_url": reading.canonical_url,
        "links": reading.links,
        "rejected_links": _counts("reason", reading.rejected_links),
        "dropped_parameters": _counts("name", reading.dropped_parameters),
        "nofollow_links": reading.nofollow_links,
    }
    if is_stored:
        found.capture = _capture(target, reply, body, reading.body_digest, row["charset"])


def link_source(found: Visit) -> LinkSource:
    """The visited page as the source of its links."""
    target = found.target
    return LinkSource(
        target.url_key,
        target.url,
        target.depth,
        target.hops,
        found.reply.fetched_at,
        is_first=target.body_digest is None,
        announced_by=target.announced_by,
    )


def link_row(source: LinkSource, kind: str, aim: CanonicalUrl, settings: Settings) -> Row:
    """A link that stands alone, unlike those of a page."""
    return {
        "source_url_key": source.url_key,
        "source_url": source.url,
        "source_depth": source.depth,
        "source_hops": source.hops,
        "kind": kind,
        "nofollow": False,
        "target_url_key": url_key(aim.url),
        "target_host_key": host_key(aim.host),
        "target_url": aim.url,
        "target_fetch_url": aim.fetch_url,
        "target_host": aim.host,
        "target_pattern_key": pattern_key(aim.url),
        "trap": shape_trap(aim.url, source.depth + 1, settings.traps, source.found_at),
        "is_first": source.is_first,
        "announced_by": source.announced_by,
        "found_at": source.found_at,
    }


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
        "read_at": None,
        "valid_until": valid_until,
        "crawl_delay_seconds": None,
        "body_digest": sha256(body).digest() if body is not None else None,
        "body": body,
        "suspect": False,
        "unreachable_since": None,
        "error": reply.error,
    }


def modified_at(reply: Reply) -> datetime | None:
    """Last-Modified (RFC 9110 8.8.2) as an instant, if it can date a change.

    None if there is none, it cannot be read, or it is the time of the answer, as where pages are made when asked for.
    """
    modified = _http_date(reply, "last-modified")
    answered = _http_date(reply, "date") or reply.fetched_at
    if modified is None or modified >= answered - _ANSWER_TIME:
        return None
    return modified


def _http_date(reply: Reply, name: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(reply.header(name) or "")
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


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
        "charset_reason": None,
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
        "counts_as_changed": None,
        "modified_at": None,
        "modified_trusted": target.modified_trusted,
        "signalled": target.signalled,
        "discovered": target.discovered,
        "sitemap": None,
        "title": None,
        "language": None,
        "noindex": False,
        "nofollow": False,
        "noarchive": False,
        "redirect_url": None,
        "canonical_url": None,
        "links": 0,
        "rejected_links": None,
        "dropped_parameters": None,
        "nofollow_links": 0,
        "retry_after_seconds": None,
        "error": None,
    }


def _keep_version(row: Row, target: Target, reply: Reply) -> None:
    row |= {
        "etag": _validator(reply, "etag") or target.etag,
        "last_modified": _validator(reply, "last-modified") or target.last_modified,
        "saved_bytes": target.body_bytes or 0,
        "body_digest": target.body_digest,
        "text_digest": target.text_digest,
        "copy_digest": target.copy_digest,
        "text_bytes": target.text_bytes,
        "simhash": target.simhash,
        "content_changed": False,
        "counts_as_changed": False,
    }


def _is_wanted_page(reply: Reply, settings: FetchSettings) -> bool:
    """Whether a page would be read that has this media type and size."""
    return (reply.media_type or "") in {"", *map(str.lower, settings.accepted_types)} and (
        len(reply.body or b"") <= settings.max_body_bytes
    )


def _validator(reply: Reply, name: str) -> str | None:
    """A validator verbatim; None if there is none, or one that is too long to be sent back."""
    value = reply.header(name)
    return value if value and len(value) <= _LONGEST_VALIDATOR else None


def _follow(found: Visit, target: Target, reply: Reply, settings: Settings, url_rules: UrlRules) -> None:
    aim = canonicalize(location(reply), target.fetch_url, url_rules)
    if not isinstance(aim, CanonicalUrl):
        found.observation["error"] = printable(f"redirect to no URL that can be crawled: {aim.reason}")
        found.observation["rejected_links"] = _counts("reason", {aim.reason: 1})
        return
    found.observation["dropped_parameters"] = _counts("name", count_dropped(aim.dropped))
    found.observation["redirect_url"] = aim.url
    if aim.url != target.url:
        kind = "index" if target.is_sitemap else "redirect"
        source = LinkSource(
            target.url_key, target.url, target.depth, target.hops, reply.fetched_at, announced_by=target.announced_by
        )
        found.links.append(link_row(source, kind, aim, settings))


def _counts(name: str, links: Mapping[str, int]) -> list[Row] | None:
    """Links by `name`, as a column holds them; None if there are none."""
    return [{name: key, "links": count} for key, count in sorted(links.items())] or None


def _has_changed(target: Target, text_digest: bytes, *, is_same: bool) -> bool | None:
    if is_same:
        return False
    return None if target.text_digest is None else text_digest != target.text_digest


def _is_noise(target: Target, simhash: int | None, bits: int) -> bool:
    """Whether a change of text is no more than what a noisy host's pages differ by at every look."""
    if not target.noisy or simhash is None or target.simhash is None:
        return False
    return (simhash ^ target.simhash).bit_count() <= bits


def _capture(target: Target, reply: Reply, body: bytes, digest: bytes, charset: str | None) -> Row:
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
