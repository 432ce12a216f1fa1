"""The links of many pages as columns: what crosses from a parser to the lake without a dict for each link.

Plain buffers in the machine's byte order, so that neither side needs the other's libraries.
"""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import accumulate

KINDS = ("a", "area", "frame", "iframe", "next", "refresh", "header", "canonical", "sitemap", "index", "feed")
"""What a link of a page or sitemap can be; `kinds` holds places in it."""


NO_HINT = -1
SITEMAP_KINDS = ("urlset", "index", "text", "rss", "atom")


@dataclass(slots=True)
class Texts:
    """A column of ASCII texts end to end: their characters and the length of each."""

    joined: bytes = b""
    lengths: "array[int]" = field(default_factory=lambda: array("I"))

    @classmethod
    def of(cls, texts: list[str]) -> "Texts":
        """The column of `texts`. Raises UnicodeEncodeError for one that is not ASCII."""
        return cls("".join(texts).encode("ascii"), array("I", map(len, texts)))

    def at(self, places: Sequence[int]) -> list[str]:
        """The texts at `places`."""
        ends = list(accumulate(self.lengths))
        return [self.joined[ends[place] - self.lengths[place] : ends[place]].decode("ascii") for place in places]

    def __iter__(self) -> Iterator[str]:
        joined, start = self.joined.decode("ascii"), 0
        for length in self.lengths:
            yield joined[start : start + length]
            start += length


@dataclass(slots=True)
class LinkColumns:
    """The links of several pages, page after page.

    counts: links of each page. kinds: places in `KINDS`; traps: places in `trap_names`, 0 for none; nofollow: 0 or 1;
    one byte a link each. hosts: places in `host_names`. urls are canonical, fetch_urls as they stand in the page.
    hinted: places of the links, rising, that a sitemap says more of; lastmods: seconds since 1970, priorities:
    0 to 1; `NO_HINT` for none.
    """

    counts: "array[int]" = field(default_factory=lambda: array("I"))
    kinds: bytes = b""
    nofollow: bytes = b""
    traps: bytes = b""
    hosts: "array[int]" = field(default_factory=lambda: array("I"))
    url_keys: "array[int]" = field(default_factory=lambda: array("Q"))
    pattern_keys: "array[int]" = field(default_factory=lambda: array("Q"))
    urls: Texts = field(default_factory=Texts)
    fetch_urls: Texts = field(default_factory=Texts)
    host_names: list[str] = field(default_factory=list)
    trap_names: list[str] = field(default_factory=list)
    hinted: "array[int]" = field(default_factory=lambda: array("I"))
    lastmods: "array[int]" = field(default_factory=lambda: array("q"))
    priorities: "array[float]" = field(default_factory=lambda: array("d"))

    def __len__(self) -> int:
        return len(self.kinds)


@dataclass(frozen=True, slots=True)
class LinkSource:
    """A page, sitemap or feed as the source of its links; see sql/schema/link.sql. announced_by: of a sitemap index."""

    url_key: int
    url: str
    depth: int
    hops: int
    found_at: datetime
    is_first: bool = False
    announced_by: list[str] | None = None


@dataclass(frozen=True, slots=True)
class FoundLinks:
    """The links of the pages `sources`, page by page."""

    sources: list[LinkSource]
    links: LinkColumns

    @property
    def weight(self) -> int:
        """Bytes of memory, roughly."""
        return len(self.links.urls.joined) + len(self.links.fetch_urls.joined) + 32 * len(self.links)
