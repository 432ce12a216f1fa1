"""What a fetch wants to know of a page, in one call: the facts for its observation and its links as columns.

The same call whether it runs in the task or in a worker process (`worker.py`), so both give the same rows. Pure; a
page that cannot be parsed is a Reading with an error.
"""

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import lru_cache
from hashlib import sha256

from crawler.core.columns import KINDS, NO_HINT, LinkColumns, Texts
from crawler.core.keys import url_key
from crawler.core.shape import pattern_key, shape_trap
from crawler.core.url_rules import NO_RULES, UrlRules
from crawler.core.urls import CanonicalUrl
from crawler.page.directives import header_directives
from crawler.page.errors import ParserFailed
from crawler.page.page import read_page

_MEMORY, _MEMORABLE = 1 << 14, 200  # URLs; characters of one
_TOO_DEEP = "traps.max_depth"
_KIND_OF = {kind: place for place, kind in enumerate(KINDS)}
_READ_HEADERS = frozenset({"x-robots-tag", "link", "content-language"})
_XML_TYPES = frozenset({"application/xml", "text/xml", "application/rss+xml", "application/atom+xml"})


@dataclass(frozen=True, slots=True)
class Limits:
    """The settings `traps` as far as a URL's shape can break them."""

    max_depth: int
    max_url_length: int
    max_path_segments: int
    max_repeated_segments: int
    max_query_parameters: int
    max_years_ahead: int = 0


@dataclass(frozen=True, slots=True)
class Rules:
    """What is the same for all pages of a crawl; see the arguments of `read_page`. feeds: whether to follow feeds."""

    product_token: str
    min_text_bytes: int
    max_parse_bytes: int
    traps: Limits
    url_rules: UrlRules = NO_RULES
    feeds: bool = True


@dataclass(frozen=True, slots=True)
class Job:
    """A page, sitemap or feed to read.

    known_digest: that of the stored version, whose links are known; headers: see `job_headers`; is_sitemap: whether it
    is said to be a sitemap or feed, announced_by: the hosts whose URLs it may then list beside those of its own.
    """

    url: str
    fetch_url: str
    depth: int
    content_type: str | None
    media_type: str | None
    headers: list[tuple[str, str]]
    fetched_at: datetime
    known_digest: bytes | None
    body: bytes
    is_sitemap: bool = False
    announced_by: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of a page. error: why it could not be read; the rest is then empty. links: found, new or not.

    sitemap: what kind of sitemap or feed it is; text_digest is then that of its entries, with the dates that it is
    believed, and what only a page has is empty.
    rejected_links, dropped_parameters: links of the page by reason and by name, see `crawler.page.links.Links`.
    """

    error: str | None = None
    sitemap: str | None = None
    charset: str = ""
    charset_reason: str = ""
    body_digest: bytes = b""
    text_digest: bytes = b""
    copy_digest: bytes | None = None
    text_bytes: int = 0
    simhash: int | None = None
    title: str | None = None
    language: str | None = None
    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False
    canonical_url: str | None = None
    links: int = 0
    nofollow_links: int = 0
    rejected_links: dict[str, int] = field(default_factory=dict)
    dropped_parameters: dict[str, int] = field(default_factory=dict)


def job_headers(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those of a response's headers that reading its page needs."""
    return [pair for pair in headers if pair[0].lower() in _READ_HEADERS]


def read(job: Job, rules: Rules, links: "LinkWriter") -> Reading:
    """Read one page; its links are added to `links` unless the body is that of the stored version."""
    try:
        if (job.is_sitemap or job.media_type in _XML_TYPES) and (listing := _read_listing(job, rules, links)):
            return listing
        page = read_page(
            job.body,
            url=job.fetch_url,
            content_type=job.content_type,
            headers=job.headers,
            product_token=rules.product_token,
            min_text_bytes=rules.min_text_bytes,
            max_parse_bytes=rules.max_parse_bytes,
            at=job.fetched_at,
            url_rules=rules.url_rules,
        )
    except (ParserFailed, MemoryError) as error:
        links.add_page([], job.depth)
        return Reading(error=f"{type(error).__name__}: {error}")
    found = [
        (link.kind, link.target, link.nofollow)
        for link in page.links
        if link.target.url != job.url and (rules.feeds or link.kind != "feed")
    ]
    digest = sha256(job.body).digest()
    links.add_page(found if digest != job.known_digest else [], job.depth, job.fetched_at)
    return Reading(
        charset=page.charset,
        charset_reason=page.charset_reason,
        body_digest=digest,
        text_digest=page.text_digest,
        copy_digest=page.copy_digest,
        text_bytes=page.text_bytes,
        simhash=page.simhash,
        title=page.title,
        language=page.language,
        noindex=page.noindex,
        nofollow=page.nofollow,
        noarchive=page.noarchive,
        canonical_url=page.canonical.url if page.canonical else None,
        links=len(found),
        nofollow_links=sum(is_nofollow for _, _, is_nofollow in found),
        rejected_links=dict(page.rejected),
        dropped_parameters=dict(page.dropped),
    )


def _read_listing(job: Job, rules: Rules, links: "LinkWriter") -> Reading | None:
    """Read a sitemap or feed; None if it is a page."""
    from crawler.page.sitemap import read_sitemap  # many a task never meets one: lxml need not be loaded for it

    sitemap = read_sitemap(
        job.body,
        job.url,
        fetched_at=job.fetched_at,
        announced_by=job.announced_by or (),
        url_rules=rules.url_rules,
    )
    if sitemap.kind == "none" or (sitemap.kind == "text" and not (job.is_sitemap and sitemap.entries)):
        return None
    kind = "index" if sitemap.kind == "index" else "sitemap"
    is_dated = sitemap.trusts_lastmod(job.fetched_at)
    entries = [entry for entry in sitemap if entry.target.url != job.url]
    hints = [(entry.lastmod if is_dated else None, entry.priority) for entry in entries]
    digest = sha256(job.body).digest()
    if digest != job.known_digest:
        links.add_page([(kind, entry.target, False) for entry in entries], job.depth, job.fetched_at, hints)
    else:
        links.add_page([], job.depth)
    said = sorted(f"{entry.target.url} {lastmod or ''}" for entry, (lastmod, _) in zip(entries, hints, strict=True))
    # An X-Robots-Tag that says noindex or none of a sitemap, as many do, says nothing of what it lists.
    tags = [value for name, value in job.headers if name.lower() == "x-robots-tag"]
    return Reading(
        sitemap=sitemap.kind,
        body_digest=digest,
        text_digest=sha256("\n".join(said).encode()).digest(),
        noarchive=header_directives(tags, rules.product_token, job.fetched_at).noarchive,
        links=len(entries),
        rejected_links=dict(sitemap.rejected),
        dropped_parameters=dict(sitemap.dropped),
    )


class LinkWriter:
    """Collects the links of pages, one after another, into columns."""

    def __init__(self, limits: Limits) -> None:
        self._max_depth = limits.max_depth
        self._limits = limits
        self._counts = array("I")
        self._kinds = bytearray()
        self._nofollow = bytearray()
        self._traps = bytearray()
        self._hosts = array("I")
        self._url_keys = array("Q")
        self._pattern_keys = array("Q")
        self._urls: list[str] = []
        self._fetch_urls: list[str] = []
        self._host_places: dict[str, int] = {}
        self._trap_places: dict[str | None, int] = {None: 0, _TOO_DEEP: 1}
        self._hinted = array("I")
        self._lastmods = array("q")
        self._priorities = array("d")

    def add_page(
        self,
        links: list[tuple[str, CanonicalUrl, bool]],
        depth: int,
        at: datetime | None = None,
        hints: Iterable[tuple[datetime | None, float | None]] = (),
    ) -> None:
        """Add the links of a page that is `depth` links from a seed: kind, target, nofollow.

        at: when they were found. hints: what a sitemap says of each, lastmod and priority.
        """
        for place, (lastmod, priority) in enumerate(hints, len(self._kinds)):
            if lastmod is not None or priority is not None:
                self._hinted.append(place)
                self._lastmods.append(NO_HINT if lastmod is None else int(lastmod.timestamp()))
                self._priorities.append(NO_HINT if priority is None else priority)
        self._counts.append(len(links))
        if not links:
            return
        hosts, traps = self._host_places, self._trap_places
        kinds, targets, nofollow = zip(*links, strict=True)
        urls = [target.url for target in targets]
        facts = _facts_by(self._limits, None if at is None else at.date().replace(day=1))
        url_keys, pattern_keys, broken = zip(*map(facts, urls), strict=True)
        self._kinds.extend([_KIND_OF[kind] for kind in kinds])
        self._nofollow.extend(nofollow)
        if depth + 1 > self._max_depth:
            self._traps.extend([traps[_TOO_DEEP]] * len(links))
        else:
            self._traps.extend([traps.setdefault(trap, len(traps)) for trap in broken])
        self._hosts.extend([hosts.setdefault(target.host, len(hosts)) for target in targets])
        self._url_keys.extend(url_keys)
        self._pattern_keys.extend(pattern_keys)
        self._urls += urls
        self._fetch_urls += [target.fetch_url for target in targets]

    def columns(self) -> LinkColumns:
        """What was added so far."""
        return LinkColumns(
            self._counts,
            bytes(self._kinds),
            bytes(self._nofollow),
            bytes(self._traps),
            self._hosts,
            self._url_keys,
            self._pattern_keys,
            Texts.of(self._urls),
            Texts.of(self._fetch_urls),
            list(self._host_places),
            [name or "" for name in self._trap_places],
            self._hinted,
            self._lastmods,
            self._priorities,
        )


@lru_cache(4)
def _facts_by(limits: Limits, at: date | None) -> Callable[[str], tuple[int, int, str | None]]:
    """What tells a URL's key, its pattern's key and the limit it breaks; it remembers, since sites repeat links."""

    def facts(url: str) -> tuple[int, int, str | None]:
        return url_key(url), pattern_key(url), shape_trap(url, 0, limits, at)

    remembered = lru_cache(_MEMORY)(facts)
    return lambda url: remembered(url) if len(url) <= _MEMORABLE else facts(url)
