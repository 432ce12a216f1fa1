"""One response body, understood: charset, links, directives, text and fingerprints in one pass.

Pure: the same bytes and headers give the same Page. Raises nothing but ParserFailed.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from crawler.core.url_rules import NO_RULES, UrlRules
from crawler.core.urls import CanonicalUrl
from crawler.page import fingerprint
from crawler.page.decode import decode
from crawler.page.directives import Directives, header_directives
from crawler.page.elements import Said, read_elements
from crawler.page.errors import ParserFailed
from crawler.page.language import header_language, markup_language
from crawler.page.links import Links, PageLink, header_links
from crawler.page.markup import parse
from crawler.page.text import main_text, normalise

__all__ = ["Page", "PageLink", "ParserFailed", "read_page"]

_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml", ""})


@dataclass(frozen=True, slots=True)
class Page:
    """What a body says. See `sql/schema/observation.sql` for the columns that it fills."""

    charset: str
    charset_reason: str
    title: str | None
    language: str | None
    links: list[PageLink]
    canonical: CanonicalUrl | None
    noindex: bool
    nofollow: bool
    noarchive: bool
    text_digest: bytes
    copy_digest: bytes | None
    text_bytes: int
    simhash: int | None
    rejected: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)


def read_page(
    body: bytes,
    *,
    url: str,
    content_type: str | None,
    headers: list[tuple[str, str]],
    product_token: str,
    min_text_bytes: int,
    max_parse_bytes: int,
    at: datetime | None = None,
    url_rules: UrlRules = NO_RULES,
) -> Page:
    """Read `body`, which was served at `url` with `content_type` and the response `headers`.

    product_token: ours, as robots directives name it. min_text_bytes: shorter texts get neither copy digest nor
    SimHash. max_parse_bytes: what follows is not looked at. at: when it was served; without it no date by which it asks
    to be gone is looked at. url_rules: what makes URLs one. Raises ParserFailed.
    """
    decoded = decode(body[:max_parse_bytes], content_type)
    directives = header_directives(_values(headers, "x-robots-tag"), product_token, at)
    said = Said(links := Links(url_rules), directives)
    language = None
    if media_type(content_type) in _HTML_TYPES:
        markup = parse(decoded.text)
        read_elements(markup.tree, url, product_token, said)
        language = markup_language(markup.tree)
        text = main_text(markup)
    else:
        text = normalise(decoded.text)
    for target, relations in header_links(_values(headers, "link")):
        if "canonical" in relations:
            said.add_canonical(target, url)
        elif "next" in relations:
            links.add("header", target, url)

    outlinks = list(links.found)
    for feed in said.feeds:
        links.found[feed.url] = PageLink("feed", feed, nofollow=False)  # whatever else leads there
    canonical = said.canonical
    if canonical is not None:
        links.keep("canonical", canonical)
    digest = fingerprint.text_digest(text)
    text_bytes = len(text.encode())
    comparable = text_bytes >= max(min_text_bytes, 1)
    return Page(
        charset=decoded.charset,
        charset_reason=decoded.reason,
        title=said.title,
        language=language or header_language(_values(headers, "content-language")),
        links=_with_page_nofollow(links, directives),
        canonical=canonical,
        noindex=directives.noindex,
        nofollow=directives.nofollow,
        noarchive=directives.noarchive,
        text_digest=digest,
        copy_digest=fingerprint.copy_digest(digest, outlinks) if comparable else None,
        text_bytes=text_bytes,
        simhash=fingerprint.simhash(text) if comparable else None,
        rejected=links.rejected,
        dropped=links.dropped,
    )


def media_type(content_type: str | None) -> str:
    """The type in a Content-Type header, in lower case, without parameters."""
    return (content_type or "").partition(";")[0].strip().lower()


def _with_page_nofollow(links: Links, directives: Directives) -> list[PageLink]:
    found = list(links.found.values())
    return [PageLink(link.kind, link.target, nofollow=True) for link in found] if directives.nofollow else found


def _values(headers: list[tuple[str, str]], name: str) -> list[str]:
    return [value for key, value in headers if key.lower() == name]
