"""Sitemaps and feeds: every row of sitemaps.jsonl, limits, dates, cross submission."""

import base64
import gzip
import json
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.page.sitemap import MAX_BYTES, MAX_ENTRIES, Sitemap, parse_date, read_sitemap

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "sitemaps.jsonl").read_bytes().split(b"\n")
    if line
]
DISAGREED: dict[str, str] = {}  # id -> why the expectation is not met
FETCHED_AT = datetime(2026, 11, 25, tzinfo=UTC)
URL = "https://example.com/sitemap.xml"


def body_of(case: dict[str, Any]) -> bytes:
    if "body_b64" in case:
        return base64.b64decode(case["body_b64"])
    if "body_parts" in case:
        return "".join(text * times for text, times in case["body_parts"]).encode()
    return str(case["body"]).encode()


def urls(sitemap: Sitemap) -> list[str]:
    return [entry.target.url for entry in sitemap]


def facts(sitemap: Sitemap, case: dict[str, Any]) -> dict[str, Any]:
    found = urls(sitemap)
    trusted = sitemap.trusts_lastmod(FETCHED_AT)
    return {
        "urls": found,
        "sitemaps": found,
        "type": sitemap.kind,
        "lastmod": [entry.lastmod and entry.lastmod.isoformat().replace("+00:00", "Z") for entry in sitemap],
        "lastmod_trust": None if trusted else "low if all entries carry the same date or the fetch date",
        "error_or_empty": not found,
        "fetch_new": [url for url in found if url != case["sitemap_url"]],
    }


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["id"]))
def test_a_sitemap_row_is_met(row: dict[str, Any], request: pytest.FixtureRequest) -> None:
    if row["id"] in DISAGREED:
        request.applymarker(pytest.mark.xfail(reason=DISAGREED[row["id"]], strict=True))
    case = row["input"]
    sitemap = read_sitemap(
        body_of(case), case["sitemap_url"], fetched_at=FETCHED_AT, announced_by=case.get("announced_in", ())
    )
    found = facts(sitemap, case)
    accepted = [row["expected"], *row.get("accept", [])]
    assert any(found | wanted == found for wanted in accepted), (found, accepted, row["why"])


def test_what_is_missing_is_said() -> None:
    whole = b"<urlset><url><loc>https://example.com/a</loc></url></urlset>"
    assert not read_sitemap(whole, URL).partial
    assert read_sitemap(whole[:-20], URL).partial
    assert read_sitemap(gzip.compress(whole)[:-9], URL).partial
    assert urls(read_sitemap(gzip.compress(whole[:30]) + gzip.compress(whole[30:]), URL)) == ["https://example.com/a"]


def test_a_cut_last_line_is_no_url() -> None:
    line = b"https://example.com/" + b"x" * 44 + b"\n"
    sitemap = read_sitemap(gzip.compress(line * 3)[:-9], URL)
    assert sitemap.kind == "text"
    assert set(urls(sitemap)) <= {line.decode().strip()}


def test_different_urls_over_the_limit_are_left_out() -> None:
    body = "".join(f"https://example.com/{n}\n" for n in range(MAX_ENTRIES + 10)).encode()
    sitemap = read_sitemap(body, URL)
    assert len(sitemap.entries) == MAX_ENTRIES
    assert sitemap.partial


def test_memory_follows_an_entry_and_not_the_document() -> None:
    body = b"<urlset>" + b"<url><x/><loc>https://example.com/a</loc></url><y/>" * 100_000
    tracemalloc.start()
    try:
        read_sitemap(gzip.compress(body), URL)
        assert tracemalloc.get_traced_memory()[1] < 8 * len(body) < MAX_BYTES
    finally:
        tracemalloc.stop()


def test_an_entry_of_a_million_elements_ends_the_reading() -> None:
    body = b"<urlset><url><loc>https://example.com/a</loc></url><url>" + b"<x/>" * 1_000_000
    sitemap = read_sitemap(body, URL)
    assert urls(sitemap) == ["https://example.com/a"]
    assert sitemap.partial


def test_a_feed_may_name_other_hosts_and_a_sitemap_only_those_that_announce_it() -> None:
    feed = b"<rss><channel><item><link>https://other.example/a</link></item></channel></rss>"
    assert urls(read_sitemap(feed, URL)) == ["https://other.example/a"]
    sitemap = b"<urlset><url><loc>https://other.example/a</loc></url></urlset>"
    assert read_sitemap(sitemap, URL).rejected == {"foreign_host": 1}
    assert urls(read_sitemap(sitemap, URL, announced_by=["other.example"])) == ["https://other.example/a"]


def test_a_page_that_is_no_sitemap_names_nothing() -> None:
    sitemap = read_sitemap(b"<html><body><a href='/x'>log in</a><url><loc>https://example.com/</loc></url>", URL)
    assert (sitemap.kind, sitemap.entries) == ("none", [])


def test_a_priority_is_a_number_between_0_and_1() -> None:
    entry = "<url><loc>https://example.com/{}</loc><priority>{}</priority></url>"
    texts = ["0.8", " 1.0 ", "7", "high", "nan", ""]
    body = f"<urlset>{''.join(entry.format(n, text) for n, text in enumerate(texts))}</urlset>"
    assert [entry.priority for entry in read_sitemap(body.encode(), URL)] == [0.8, 1.0, None, None, None, None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024", "2024-01-01T00:00:00+00:00"),
        ("Mon, 03 Jun 2024 10:30:45 +0200", "2024-06-03T08:30:45+00:00"),
        ("2024-06-03 10:30:45", "2024-06-03T10:30:45+00:00"),
        ("0001-01-01T00:00:00", None),
        ("2024-W01", None),
        ("9999-12-31T23:59:59-05:00", None),
        ("Mon, 99 Jun 2024 99:30:45 GMT", None),
    ],
)
def test_a_date_is_an_instant_or_nothing(text: str, expected: str | None) -> None:
    found = parse_date(text)
    assert (found and found.isoformat()) == expected


@given(st.one_of(st.text(max_size=40), st.from_regex(r"[0-9]{4}-?[0-9]{2}-?[0-9]{2}T[0-9:.+Z-]{0,20}", fullmatch=True)))
@settings(deadline=None)
def test_no_date_makes_it_raise(text: str) -> None:
    parse_date(text)


TAGS = """<urlset>|<url>|<loc>|</loc>|</url>|<rss>|<item>|<link>|</link>|</item>|<feed>|<entry>|<link href="|"/>|
</entry>|&amp;|&x;|<![CDATA[|]]>|<!--|-->|<?xml version="1.0" encoding="|utf-16"?>|no-such"?>|<!DOCTYPE a [|]>|
https://example.com/|<p:url>"""


@given(st.lists(st.one_of(st.sampled_from(TAGS.replace("\n", "").split("|")), st.text(max_size=3)), max_size=20))
@settings(max_examples=500, deadline=None)
def test_no_document_makes_it_raise(pieces: list[str]) -> None:
    body = "".join(pieces).encode("utf-8", "replace")
    read_sitemap(body, URL)
    read_sitemap(b"<urlset>" + body, URL)
    read_sitemap(gzip.compress(body)[:-1], URL)
    read_sitemap(b"\x1f\x8b" + body, URL)
