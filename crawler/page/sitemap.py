"""Sitemaps and feeds: XML (urlset, index), text, RSS and Atom, each also gzipped.

Reads bytes as a stream, gives canonical URLs with their dates. What is whole in a broken or cut document is used, a cut
URL never is. No external entity is read and none is expanded; size, count and depth are bounded. Never raises.
"""

import io
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import BinaryIO, cast

from lxml import etree

from crawler.core.url_rules import NO_RULES, UrlRules
from crawler.core.urls import CanonicalUrl, Reject, canonicalize
from crawler.page.document import PIECE_BYTES, Document, mended
from crawler.page.links import count_dropped

MAX_BYTES = 50 << 20
"""Uncompressed size that the sitemap protocol allows; what follows is not read."""
MAX_ENTRIES = 50_000
"""Different URLs that the sitemap protocol allows in one document; what follows is not read."""

_START_BYTES = 256
_MAX_ELEMENTS = 10_000  # of one entry; a sitemap has a dozen, more than a thousand images are not allowed
_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)  # the web has no older page; 0001-01-01 is an unset date of some systems
_SKEW = timedelta(days=1)
_LARGEST_SHARE = 0.8  # of entries with one and the same date, above which it is that of a deployment
_FEEDS = frozenset({"rss", "atom"})
_SHORT_DATE = re.compile(r"(\d{4})(?:-(\d{2}))?")
_ISO_DATE = re.compile(r"(\d{4}-?\d{2}-?\d{2})(?:Z|[+-]\d{2}:\d{2}|([T ]\d{2}:\d{2}.*))?", re.IGNORECASE)
# Root element: kind of document, and the element that is one entry of it.
_ROOTS = {
    "urlset": ("urlset", "url"),
    "sitemapindex": ("index", "sitemap"),
    "rss": ("rss", "item"),
    "RDF": ("rss", "item"),
    "feed": ("atom", "entry"),
}


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """One URL that a sitemap names. lastmod: UTC, None where it is missing, unreadable or in the future."""

    target: CanonicalUrl
    lastmod: datetime | None = None
    priority: float | None = None


@dataclass(slots=True)
class Sitemap:
    """What a document names. kind: urlset, index, text, rss, atom, or none for anything else.

    The entries of an index are sitemaps. partial: a limit or an error hid what follows. rejected, dropped: see `Links`;
    `foreign_host` is a URL that the sitemap may not name.
    """

    kind: str = "none"
    entries: list[SitemapEntry] = field(default_factory=list)
    partial: bool = False
    rejected: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)

    def __iter__(self) -> Iterator[SitemapEntry]:
        return iter(self.entries)

    def trusts_lastmod(self, fetched_at: datetime) -> bool:
        """Whether the dates say something about single pages.

        They do not if more than four fifths are equal, nor if all are of the day of the fetch, but in a feed, which
        names what is new.
        """
        dates = Counter(entry.lastmod for entry in self.entries if entry.lastmod)
        if not dates or (self.kind not in _FEEDS and all(date.date() == fetched_at.date() for date in dates)):
            return False
        return dates.total() == 1 or max(dates.values()) <= _LARGEST_SHARE * dates.total()


def read_sitemap(
    body: bytes,
    url: str,
    *,
    fetched_at: datetime | None = None,
    announced_by: Collection[str] = (),
    url_rules: UrlRules = NO_RULES,
) -> Sitemap:
    """The sitemap or feed in `body`, which was served at `url`.

    A sitemap may name URLs of its own host and of the hosts in `announced_by`, those whose robots.txt names it; a feed
    any. fetched_at: dates more than a day after it are not believed. url_rules: what makes URLs one.
    """
    source = Document(body, MAX_BYTES)
    reader = _Reader(source, url, fetched_at, announced_by, url_rules)
    document = io.BufferedReader(source, PIECE_BYTES)
    start = document.peek(_START_BYTES)[:_START_BYTES]
    if start.lstrip(b"\xef\xbb\xbf\xfe\xff \t\r\n\0").startswith(b"<"):
        reader.read_xml(cast(BinaryIO, document))
    elif start:
        reader.read_text(
            cast(BinaryIO, document), "utf-16" if start.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
        )
    reader.sitemap.partial |= source.partial
    return reader.sitemap


class _Reader:
    """Fills one Sitemap."""

    def __init__(
        self,
        source: Document,
        url: str,
        fetched_at: datetime | None,
        announced_by: Collection[str],
        url_rules: UrlRules,
    ) -> None:
        self.sitemap = Sitemap()
        self._source = source
        self._url = url
        self._rules = url_rules
        self._latest = fetched_at + _SKEW if fetched_at else None
        own = canonicalize(url, None, url_rules)
        self._hosts = {*announced_by, *([own.host] if isinstance(own, CanonicalUrl) else [])}
        self._texts: set[str] = set()
        self._targets: set[str] = set()

    def read_text(self, document: BinaryIO, encoding: str) -> None:
        """One URL a line."""
        self.sitemap.kind = "text"
        for line in io.TextIOWrapper(document, encoding, "replace"):
            if self._is_full():
                return
            # A last line without its end may have been cut.
            if not (self._source.partial and not line.endswith("\n")):
                self._add(line, base=None)

    def read_xml(self, document: BinaryIO) -> None:
        """Feed the document to a parser that recovers; only elements that have ended are looked at."""
        parser = etree.XMLPullParser(
            events=("start", "end"), recover=True, resolve_entities=False, no_network=True, load_dtd=False,
            huge_tree=False, remove_comments=True, remove_pis=True,
        )  # fmt: skip
        container = ""
        entry: etree._Element | None = None  # the one that is open
        ended: list[etree._Element] = []  # its children that have
        within = 0  # elements of it so far
        try:
            for piece in mended(document):
                parser.feed(piece)
                for event, element in parser.read_events():
                    if event == "start":
                        if not container:
                            name = _name(element)[1]
                            if name not in _ROOTS:
                                return
                            self.sitemap.kind, container = _ROOTS[name]
                        elif element.tag.endswith(container) and _name(element)[1] == container:
                            entry, ended, within = element, [], 0
                    elif entry is None:
                        _forget(element)
                    elif element is entry:
                        self._add_entry(entry, ended)
                        entry = None
                        _forget(element)
                        if self._is_full():
                            return
                    else:
                        within += 1
                        if within > _MAX_ELEMENTS:
                            self.sitemap.partial = True
                            return
                        if element.getparent() is entry:
                            ended.append(element)
        except etree.XMLSyntaxError:
            self.sitemap.partial = True
        if entry is not None:
            self.sitemap.partial = True
            self._add_entry(entry, ended)

    def _add_entry(self, element: etree._Element, ended: Iterable[etree._Element]) -> None:
        """Add what one url, sitemap, item or entry names in those of its children that have ended."""
        children = [(*_name(child), child) for child in ended]
        own = [(name, child) for namespace, name, child in children if namespace == _name(element)[0]]
        date = next((c.text for n, c in own if n in {"lastmod", "pubDate", "updated", "published"}), None) or next(
            (c.text for _, name, c in children if name == "date"), None
        )
        priority = next((_priority(c.text) for n, c in own if n == "priority"), None)
        for text in self._addresses(own):
            self._add(text, base=self._url, lastmod=self._lastmod(date), priority=priority)

    def _addresses(self, children: list[tuple[str, etree._Element]]) -> list[str]:
        if self.sitemap.kind == "atom":
            return [
                str(child.get("href"))
                for name, child in children
                if name == "link" and child.get("href") and child.get("rel", "alternate") == "alternate"
            ]
        if self.sitemap.kind == "rss":
            links = [child.text for name, child in children if name == "link" and child.text]
            guids = [
                child.text
                for name, child in children
                if name == "guid" and child.text and child.get("isPermaLink") != "false"
            ]
            return links or guids
        # An element inside loc is an entity that was not expanded.
        return [child.text for name, child in children if name == "loc" and child.text and not len(child)]

    def _add(
        self, text: str, *, base: str | None, lastmod: datetime | None = None, priority: float | None = None
    ) -> None:
        text = text.strip()
        if not text or text in self._texts:
            return
        if len(self._texts) < 2 * MAX_ENTRIES:
            self._texts.add(text)
        target = canonicalize(text, base, self._rules)
        if isinstance(target, Reject):
            self.sitemap.rejected[target.reason] += 1
        elif self.sitemap.kind not in _FEEDS and target.host not in self._hosts:
            self.sitemap.rejected["foreign_host"] += 1
        elif target.url not in self._targets:
            self._targets.add(target.url)
            count_dropped(target.dropped, self.sitemap.dropped)
            self.sitemap.entries.append(SitemapEntry(target, lastmod, priority))

    def _is_full(self) -> bool:
        full = len(self.sitemap.entries) >= MAX_ENTRIES
        self.sitemap.partial |= full
        return full

    def _lastmod(self, text: str | None) -> datetime | None:
        date = parse_date(text) if text else None
        return None if date and self._latest and date > self._latest else date


def parse_date(text: str) -> datetime | None:
    """The instant (UTC) that a W3C or RFC 822 date names at the least; None if it is none or before the web."""
    text = text.strip()
    try:
        if short := _SHORT_DATE.fullmatch(text):
            date = datetime(int(short[1]), int(short[2] or 1), 1, tzinfo=UTC)
        elif iso := _ISO_DATE.fullmatch(text):
            date = datetime.fromisoformat(f"{iso[1]}{iso[2] or ''}".upper())
        else:
            date = parsedate_to_datetime(text)
        date = date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)
    except (ValueError, OverflowError, TypeError, IndexError):
        return None
    return date if date >= _EARLIEST else None


def _priority(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None


def _name(element: etree._Element) -> tuple[str, str]:
    """Namespace and local name. A prefix that nobody declared stays in the name, which then is no sitemap's."""
    namespace, _, name = str(element.tag).rpartition("}")
    return namespace, name


def _forget(element: etree._Element) -> None:
    """Free what has been read, so that memory follows one entry and not the document."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]
