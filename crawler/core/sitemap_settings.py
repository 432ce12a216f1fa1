"""Settings of sitemaps and feeds.

Read and frozen like all others, see `crawler.core.config`.
"""

from pydantic import Field, field_validator

from crawler.core.section import Section
from crawler.core.urls import Reject, canonicalize


class SitemapSettings(Section):
    """Sitemaps and feeds: documents that list URLs. robots.txt names most; they have a schedule of their own."""

    urls: tuple[str, ...] = Field(
        default=(),
        description="Sitemaps and feeds besides those that robots.txt names; a sitemap may list URLs of its own host. "
        'For one that lists another host\'s URLs write `host."example.org".sitemaps`.',
        examples=[("https://example.org/news.xml",)],
    )
    robots: bool = Field(default=True, description="Whether `Sitemap:` lines of robots.txt are followed.")
    feeds: bool = Field(
        default=True,
        description="Whether RSS and Atom feeds that a page names (`rel=alternate`) are read as sitemaps are.",
    )
    guess: bool = Field(
        default=False,
        description="Whether `/sitemap.xml` is asked for at hosts whose robots.txt names no sitemap: one request more "
        "for each, mostly for nothing.",
    )
    interval_days: float = Field(
        default=0.9,
        ge=0,
        description="Days that a sitemap or feed rests after it was asked for, whatever is known of its changes. Those "
        "that are due come before all pages, and count against the host's and the cycle's limits.",
    )
    max_per_host: int = Field(
        default=500,
        ge=1,
        description="Sitemaps and feeds of one host that one cycle may plan, those not asked for longest first, so "
        "that a site with very many still has its pages fetched.",
    )
    max_body_bytes: int = Field(
        default=50 << 20,
        ge=1 << 16,
        description="Bytes of one that are read, after decoding and before unpacking; the protocol allows 50 MiB. What "
        "is whole before the cut is used. One larger than `fetch.max_body_bytes` is read and not stored.",
    )

    @field_validator("urls")
    @classmethod
    def _are_urls(cls, urls: tuple[str, ...]) -> tuple[str, ...]:
        return check_sitemaps(urls)


def check_sitemaps(urls: tuple[str, ...]) -> tuple[str, ...]:
    """`urls` if each is an absolute http or https URL. Raises ValueError."""
    for url in urls:
        found = canonicalize(url)
        if isinstance(found, Reject):
            raise ValueError(f"{url!r} is no http or https URL: {found.reason}")
    return urls
