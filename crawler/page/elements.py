"""What the elements of a page say to a crawler: links, directives, canonical URLs, title; in one walk.

Reads a tree and changes nothing in it.
"""

from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.core.urls import CanonicalUrl, canonicalize
from crawler.page.directives import Directives
from crawler.page.links import Links, is_nofollow, refresh_target

MAX_TITLE_LENGTH = 300
_FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml", "application/rdf+xml"})
_ROOT_SLASHES = 3  # of a host's root
_SELECTOR = "a[href],area[href],iframe[src],frame[src],link[href],meta,base[href],title"


@dataclass(slots=True)
class Said:
    """What a page says, in markup and headers. canonicals: the target of each rel=canonical, None for one that is none.

    feeds: what is named as a feed or sitemap. links and directives are added to.
    """

    links: Links
    directives: Directives
    canonicals: list[CanonicalUrl | None] = field(default_factory=list)
    feeds: list[CanonicalUrl] = field(default_factory=list)
    title: str | None = None

    def add_feed(self, target: str, base: str, page: str) -> None:
        """Note that `page` names `target`, resolved against `base`, as a feed.

        A feed beneath the page is that of its comments alone, and there are as many as pages.
        """
        found = self.links.resolve(target, base)
        folder = page.partition("?")[0].rstrip("/") + "/"
        if found is not None and (folder.count("/") == _ROOT_SLASHES or not found.url.startswith(folder)):
            self.feeds.append(found)

    def add_canonical(self, target: str, base: str) -> None:
        """Note that `target`, resolved against `base`, is named as the canonical URL."""
        self.canonicals.append(self.links.resolve(target, base) if target.strip() else None)

    @property
    def canonical(self) -> CanonicalUrl | None:
        """The canonical URL; None if none is named, or if what is named differs."""
        named = {each and each.url for each in self.canonicals}
        return self.canonicals[0] if len(named) == 1 else None


def read_elements(tree: LexborHTMLParser, url: str, product_token: str, said: Said) -> None:
    """Add to `said` what the elements of the page at `url` say."""
    elements = [(node, node.tag, node.attributes) for node in tree.css(_SELECTOR)]
    base = _base(elements, url)
    links, agents = said.links, {"robots", product_token.lower()}
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
                said.add_canonical(attributes.get("href") or "", base)
            elif "next" in relations:
                links.add("next", attributes.get("href") or "", base, nofollow="nofollow" in relations)
            elif "sitemap" in relations or ("alternate" in relations and _media_type(attributes) in _FEED_TYPES):
                said.add_feed(attributes.get("href") or "", base, url)
        elif tag == "meta":
            content = attributes.get("content") or ""
            if (attributes.get("name") or "").strip().lower() in agents:
                said.directives.add(content)
            elif (attributes.get("http-equiv") or "").strip().lower() == "refresh" and not _is_in(node, "noscript"):
                target = refresh_target(content)
                if target:
                    links.add("refresh", target, base)
        elif tag == "title" and said.title is None and not _is_in(node, "svg"):
            said.title = " ".join(node.text().split())[:MAX_TITLE_LENGTH] or None


def _media_type(attributes: dict[str, str | None]) -> str:
    return (attributes.get("type") or "").partition(";")[0].strip().lower()


def _base(elements: list[tuple[LexborNode, str | None, dict[str, str | None]]], url: str) -> str:
    for _, tag, attributes in elements:
        if tag == "base":
            base = canonicalize(attributes.get("href") or "", url)
            return base.fetch_url if isinstance(base, CanonicalUrl) else url
    return url


def _is_in(node: LexborNode, tag: str) -> bool:
    parent = node.parent
    while parent is not None:
        if parent.tag == tag:
            return True
        parent = parent.parent
    return False
