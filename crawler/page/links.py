"""The links of a page: markup and the HTTP Link header, resolved and canonical.

Owns what counts as a link, and its kind. Follows nothing.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from crawler.core.url_rules import NO_RULES, UrlRules
from crawler.core.urls import CanonicalUrl, Reject, canonicalize

_NOFOLLOW = "nofollow"
_TOKENS = re.compile(r"[\s,]+")
# HTML 4.2.5.3 "shared declarative refresh steps"
_REFRESH = re.compile(
    r"""\s*(?:[0-9]+|(?=\.))[0-9.]*(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?(?:"([^"]*)|'([^']*)|(.*))""",
    re.IGNORECASE | re.DOTALL,
)
_LINK_VALUE = re.compile(r"""<([^>]*)>((?:\s*;\s*[^\s;,="]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]*))?)*)\s*(?:,|$)""")
_LINK_PARAMETER = re.compile(r""";\s*([^\s;,="]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?""")


_MEMORY = 1 << 14  # of what a site's pages share: navigation
_MEMORABLE = 200  # characters
_STANDALONE = ("/", "http://", "https://")
# What begins so, without a colon, is resolved without the page's own name and query: no query, fragment or scheme does.
_BESIDE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.~%-")
_new = tuple.__new__  # of a NamedTuple, in half the time that its own takes
_remembered = lru_cache(_MEMORY)(canonicalize)
MOST_NAMES = 50
"""Different parameters that are counted by name in one page; the rest is counted as `OTHER`."""
OTHER = "(other)"
_LONGEST_NAME = 60  # characters of a parameter's name that are kept


class PageLink(NamedTuple):
    """A link. kind: a, area, frame, iframe, next, refresh, header, feed or canonical."""

    kind: str
    target: CanonicalUrl
    nofollow: bool


class Links:
    """Collects links: one per target, the first kind stands.

    rejected: links that are no URL to crawl, by reason. dropped: links by the parameters that are no part of their
    identity; a link counts once for each of its parameters, in whatever letter case.
    """

    def __init__(self, rules: UrlRules = NO_RULES) -> None:
        self.found: dict[str, PageLink] = {}
        self.rejected: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()
        self._rules = rules
        self._base = self._root = self._folder = ""

    def add(self, kind: str, text: str, base: str, *, nofollow: bool = False) -> CanonicalUrl | None:
        """Add the link that `text` is, resolved against `base`; its canonical form, or None if it has none."""
        target = self.resolve(text, base)
        if target is not None:
            self.keep(kind, target, nofollow=nofollow)
        return target

    def keep(self, kind: str, target: CanonicalUrl, *, nofollow: bool = False) -> None:
        """Add a link that is resolved already."""
        known = self.found.get(target.url)
        if known is None:
            self.found[target.url] = _new(PageLink, (kind, target, nofollow))
        elif known.nofollow and not nofollow:
            self.found[target.url] = PageLink(known.kind, target, nofollow)

    def resolve(self, text: str, base: str) -> CanonicalUrl | None:
        """The canonical form of `text`, resolved against `base`; None if it has none. Counted, but no link."""
        if base is not self._base:
            self._base, self._root, self._folder = base, *_root_and_folder(base)
        if len(text) > _MEMORABLE:
            target = canonicalize(text, base, self._rules)
        elif text.startswith(_STANDALONE):
            target = _remembered(text, self._root, self._rules)
        elif text[:1] in _BESIDE and ":" not in text:
            target = _remembered(text, self._folder, self._rules)
        else:
            target = canonicalize(text, base, self._rules)
        if isinstance(target, Reject):
            self.rejected[target.reason] += 1
            return None
        if target.dropped:
            self.dropped = count_dropped(target.dropped, self.dropped)
        return target


def count_dropped(names: Iterable[str], counts: Counter[str] | None = None) -> Counter[str]:
    """`counts`, to which a link is added whose parameters `names` are no part of its identity; a new one without it."""
    counts = Counter() if counts is None else counts
    for name in {name.lower()[:_LONGEST_NAME] for name in names}:
        counts[name if name in counts or len(counts) < MOST_NAMES else OTHER] += 1
    return counts


def _root_and_folder(base: str) -> tuple[str, str]:
    """What stands for a base that is an absolute URL: its origin, and its path up to the last slash."""
    root = "/".join(base.split("/", 3)[:3]) + "/"
    folder = base.partition("#")[0].partition("?")[0].rpartition("/")[0] + "/"
    return root, folder if len(folder) > len(root) else root


def is_nofollow(rel: str | None) -> bool:
    """Whether an element's rel says nofollow; commas between its words occur in the wild."""
    return rel is not None and _NOFOLLOW in rel.lower() and _NOFOLLOW in _TOKENS.split(rel.lower())


def refresh_target(content: str) -> str | None:
    """The URL in the content of `<meta http-equiv=refresh>`; None if it is invalid or names none."""
    found = _REFRESH.match(content)
    if found is None:
        return None
    return (found[1] or found[2] or found[3] or "").strip() or None


def header_links(values: Iterable[str]) -> list[tuple[str, frozenset[str]]]:
    """Target and relation types of each value of Link headers (RFC 8288) about the page itself."""
    links = []
    for value in values:
        for target, parameters in _LINK_VALUE.findall(value):
            named: dict[str, str] = {}
            for name, quoted, plain in _LINK_PARAMETER.findall(parameters):
                named.setdefault(name.lower(), quoted or plain)
            if "anchor" not in named:
                links.append((target.strip(), frozenset(named.get("rel", "").lower().split())))
    return links
