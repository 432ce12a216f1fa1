"""Rows of sitemaps.jsonl: a document in, entries out."""

from datetime import UTC, datetime
from typing import Any

from crawler.page.sitemap import Sitemap, read_sitemap
from tests.cases.facts import Row, body_of, compared

FETCHED_AT = datetime(2026, 11, 25, tzinfo=UTC)


def differences(row: Row) -> list[str]:
    given = row["input"]
    body, announced = body_of(given, "body"), given.get("announced_in", ())
    sitemap = read_sitemap(body, given["sitemap_url"], fetched_at=FETCHED_AT, announced_by=announced)
    return compared(_facts(sitemap, row), row)


def _facts(sitemap: Sitemap, row: Row) -> dict[str, Any]:
    found = [entry.target.url for entry in sitemap]
    return {
        "urls": found,
        "sitemaps": found,
        "type": sitemap.kind,
        "lastmod": [entry.lastmod and entry.lastmod.isoformat().replace("+00:00", "Z") for entry in sitemap],
        "lastmod_trust": _trust(row["expected"].get("lastmod_trust"), is_trusted=sitemap.trusts_lastmod(FETCHED_AT)),
        "error_or_empty": not found,
        "error": not found,
        "fetch_new": [url for url in found if url != row["input"]["sitemap_url"]],
    }


def _trust(words: str | None, *, is_trusted: bool) -> str:
    """The row's own words, `low ...` or others, if they say what is so."""
    so = "low" if not is_trusted else "high"
    return words if words is not None and words.startswith("low") != is_trusted else so
