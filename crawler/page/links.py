"""The links of a page: markup and the HTTP Link header, resolved and canonical.

Owns what counts as a link, and its kind. Follows nothing.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from crawler.core.urls import CanonicalUrl, Reject, canonicalize

_NOFOLLOW = "nofollow"
_ABSOLUTE = ("/", "http://", "https://")
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


class PageLink(NamedTuple):
    """A link. kind: a, area, frame, iframe, next, refresh, header or canonical."""

    kind: str
    target: CanonicalUrl
    nofollow: bool


class Links:
    """Collects links: one per target, the first kind stands; counts what it rejects by reason."""

    def __init__(self) -> None:
        self.found: dict[str, PageLink] = {}
        self.rejected: Counter[str] = Counter()
        self._base = self._origin = ""

    def add(self, kind: str, text: str, base: str, *, nofollow: bool = False) -> CanonicalUrl | None:
        """Add the link that `text` is, resolved against `base`; its canonical form, or None if it has none."""
        if base is not self._base:
            self._base, self._origin = base, "/".join(base.split("/", 3)[:3])
        if not text.startswith(_ABSOLUTE) or len(text) > _MEMORABLE:
            target = canonicalize(text, base)
        else:
            target = _canonical_at(text, self._origin)
        if isinstance(target, Reject):
            self.rejected[target.reason] += 1
            return None
        known = self.found.get(target.url)
        if known is None or (known.nofollow and not nofollow):
            self.found[target.url] = PageLink(known.kind if known else kind, target, nofollow)
        return target


@lru_cache(_MEMORY)
def _canonical_at(text: str, origin: str) -> CanonicalUrl | Reject:
    """The canonical form of a link that says nothing relative to the page that it stands in."""
    return canonicalize(text, f"{origin}/")


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
