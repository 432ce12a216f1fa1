"""Sitemaps and feeds: every row of sitemaps.jsonl, limits, dates, cross submission."""

import gzip
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.page.sitemap import MAX_BYTES, MAX_ENTRIES, Sitemap, parse_date, read_sitemap
from tests.cases.facts import Row
from tests.cases.required import each_row, require

URL = "https://example.com/sitemap.xml"


def urls(sitemap: Sitemap) -> list[str]:
    return [entry.target.url for entry in sitemap]


@each_row("sitemaps.jsonl")
def test_a_sitemap_row_is_met(row: Row) -> None:
    require("sitemaps.jsonl", row)


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
