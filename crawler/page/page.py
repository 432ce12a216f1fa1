"""One response body, understood: charset, links, directives, text and fingerprints in one pass.

Pure: the same bytes and headers give the same Page. Raises nothing but ParserFailed.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.core.urls import CanonicalUrl, canonicalize
from crawler.page import fingerprint
from crawler.page.decode import decode
from crawler.page.directives import Directives, header_directives
from crawler.page.errors import ParserFailed
from crawler.page.language import header_language, markup_language
from crawler.page.links import Links, PageLink, header_links, is_nofollow, refresh_target
from crawler.page.markup import parse
from crawler.page.text import main_text, normalise

__all__ = ["Page", "PageLink", "ParserFailed", "read_page"]

MAX_TITLE_LENGTH = 300
_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml", ""})
_SELECTOR = "a[href],area[href],iframe[src],frame[src],link[href],meta,base[href],title"


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
) -> Page:
    """Read `body`, which was served at `url` with `content_type` and the response `headers`.

    product_token: ours, as robots directives name it. min_text_bytes: shorter texts get neither copy digest nor
    SimHash. max_parse_bytes: what follows is not looked at. at: when it was served; without it no date by which it asks
    to be gone is looked at. Raises ParserFailed.
    """
    decoded = decode(body[:max_parse_bytes], content_type)
    directives = header_directives(_values(headers, "x-robots-tag"), product_token, at)
    links = Links()
    canonicals: list[CanonicalUrl | None] = []
    title = language = None
    if media_type(content_type) in _HTML_TYPES:
        tree = parse(decoded.text)
        title = _read_markup(tree, url, product_token, links, directives, canonicals)
        language = markup_language(tree)
        text = main_text(tree, decoded.text)
    else:
        text = normalise(decoded.text)
    for target, relations in header_links(_values(headers, "link")):
        if "canonical" in relations:
            canonicals.append(_canonical(target, url))
        elif "next" in relations:
            links.add("header", target, url)

    named = {each and each.url for each in canonicals}
    canonical = canonicals[0] if len(named) == 1 else None
    outlinks = list(links.found)
    if canonical is not None:
        links.add("canonical", canonical.fetch_url, url)
    digest = fingerprint.text_digest(text)
    text_bytes = len(text.encode())
    comparable = text_bytes >= max(min_text_bytes, 1)
    return Page(
        charset=decoded.charset,
        charset_reason=decoded.reason,
        title=title,
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
    )


def media_type(content_type: str | None) -> str:
    """The type in a Content-Type header, in lower case, without parameters."""
    return (content_type or "").partition(";")[0].strip().lower()


def _read_markup(
    tree: LexborHTMLParser,
    url: str,
    product_token: str,
    links: Links,
    directives: Directives,
    canonicals: list[CanonicalUrl | None],
) -> str | None:
    elements = [(node, node.tag, node.attributes) for node in tree.css(_SELECTOR)]
    base = _base(elements, url)
    title = None
    for node, tag, attributes in elements:
        if tag in {"a", "area"}:
            # In SVG the selector [href] finds xlink:href as well.
            href = attributes.get("href", attributes.get("xlink:href")) or ""
            links.add(tag, href, base, nofollow=is_nofollow(attributes.get("rel")))
        elif tag in {"iframe", "frame"}:
            links.add(tag, attributes.get("src") or "", base)
        elif tag == "link":
            relations = (attributes.get("rel") or "").lower().split()
            if "canonical" in relations and _is_in(node, "head"):
                canonicals.append(_canonical(attributes.get("href") or "", base))
            elif "next" in relations:
                links.add("next", attributes.get("href") or "", base, nofollow="nofollow" in relations)
        elif tag == "meta":
            content = attributes.get("content") or ""
            if (attributes.get("name") or "").strip().lower() in {"robots", product_token.lower()}:
                directives.add(content)
            elif (attributes.get("http-equiv") or "").strip().lower() == "refresh" and not _is_in(node, "noscript"):
                target = refresh_target(content)
                if target:
                    links.add("refresh", target, base)
        elif tag == "title" and title is None and not _is_in(node, "svg"):
            title = " ".join(node.text().split())[:MAX_TITLE_LENGTH] or None
    return title


def _base(elements: list[tuple[LexborNode, str | None, dict[str, str | None]]], url: str) -> str:
    for _, tag, attributes in elements:
        if tag == "base":
            base = canonicalize(attributes.get("href") or "", url)
            return base.fetch_url if isinstance(base, CanonicalUrl) else url
    return url


def _canonical(target: str, base: str) -> CanonicalUrl | None:
    found = canonicalize(target, base) if target.strip() else None
    return found if isinstance(found, CanonicalUrl) else None


def _is_in(node: LexborNode, tag: str) -> bool:
    parent = node.parent
    while parent is not None:
        if parent.tag == tag:
            return True
        parent = parent.parent
    return False


def _with_page_nofollow(links: Links, directives: Directives) -> list[PageLink]:
    found = list(links.found.values())
    return [PageLink(link.kind, link.target, nofollow=True) for link in found] if directives.nofollow else found


def _values(headers: list[tuple[str, str]], name: str) -> list[str]:
    return [value for key, value in headers if key.lower() == name]
