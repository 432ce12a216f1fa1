"""A page, understood: every row of links.jsonl, and what the rows leave out."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.page.page import Page
from tests.cases import links
from tests.cases.facts import Row
from tests.cases.required import each_row, require


def read(body: bytes | str, **changes: Any) -> Page:
    return links.read(body.encode() if isinstance(body, str) else body, **changes)


def targets(page: Page, *kinds: str) -> list[str]:
    return [link.target.url for link in page.links if not kinds or link.kind in kinds]


@each_row("links.jsonl")
def test_a_link_row_is_met(row: Row) -> None:
    require("links.jsonl", row)


def test_rel_canonical_is_a_link_and_merges_nothing() -> None:
    canonical = '<link rel="canonical" href="https://example.com/c">'
    one, other = (read(f"<head>{canonical}</head><p>{text}", url=f"https://example.com/{text}") for text in "xy")
    assert one.text_digest != other.text_digest
    assert one.copy_digest != other.copy_digest
    assert targets(one, "canonical") == ["https://example.com/c"]


def test_a_link_is_kept_once_with_the_kind_that_came_first() -> None:
    page = read('<iframe src="/p"></iframe><a href="/p#x">t</a><a rel=nofollow href="/q">u</a><a href="/q">v</a>')
    assert [(link.kind, link.target.url, link.nofollow) for link in page.links] == [
        ("iframe", "https://example.com/p", False),
        ("a", "https://example.com/q", False),
    ]


def test_a_link_in_svg_may_be_written_the_old_way() -> None:
    assert (
        targets(read('<svg><a xlink:href="/p"><text>t</text></a><a x:href="/q"></a></svg>'))[0]
        == "https://example.com/p"
    )
    assert read('<svg><iframe x:src="/p"></iframe><link x:href="/q" rel="canonical"></svg>').canonical is None


def test_a_page_that_says_nofollow_says_it_of_each_link() -> None:
    page = read('<meta name="examplebot" content="nofollow, noarchive"><a href="/p">t</a>')
    assert page.nofollow
    assert page.noarchive
    assert not page.noindex
    assert [link.nofollow for link in page.links] == [True]


def test_rejected_links_are_counted_by_reason() -> None:
    page = read('<a href="mailto:a@b">m</a><a href="tel:1">t</a><a href="http://[">x</a><a href="/ok">o</a>')
    assert page.rejected == {"bad_scheme": 2, "bad_url": 1}


def test_the_title_is_one_line_and_bounded() -> None:
    assert read("<title> A\n  page &amp; more </title>").title == "A page & more"
    assert len(read(f"<title>{'x' * 1000}</title>").title or "") == 300
    assert read("<svg><title>icon</title></svg>").title is None
    assert read("<p>x").title is None


def test_text_that_is_no_html_has_links_in_its_headers_only() -> None:
    page = read(
        "see <a href='/x'>x</a>  now", content_type="text/plain; charset=utf-8", headers=[("link", "</n>; rel=next")]
    )
    assert [(link.kind, link.target.url) for link in page.links] == [("header", "https://example.com/n")]
    assert page.text_digest == read("see <a href='/x'>x</a> now\n", content_type="text/plain").text_digest
    assert page.text_bytes == len("see <a href='/x'>x</a> now")


def test_what_follows_the_parse_limit_is_not_looked_at() -> None:
    page = read('<a href="/p">t</a>' + " " * 100 + '<a href="/q">u</a>', max_parse_bytes=60)
    assert targets(page) == ["https://example.com/p"]


def test_a_short_text_makes_no_copy_and_has_no_simhash() -> None:
    page = read("<p>short", min_text_bytes=256)
    assert (page.copy_digest, page.simhash) == (None, None)
    assert page.text_bytes == 5
    empty = read("", min_text_bytes=0)
    assert (empty.copy_digest, empty.simhash, empty.text_bytes) == (None, None, 0)


def test_copies_have_equal_text_and_equal_outlinks_in_any_order() -> None:
    one = read('<p>text</p><a href="/1">x</a><a href="/2">x</a>')
    same = read('<div>text</div><a href="/2">x</a><a href="/1">x</a><a href="/1#a"></a>')
    other = read('<p>text</p><a href="/1">x</a><a href="/3">x</a>')
    assert one.copy_digest == same.copy_digest
    assert one.text_digest == other.text_digest
    assert one.copy_digest != other.copy_digest


PIECES = """<a|<a href=|"/x"|'|>|</a>|<b|<p>|</p>|<div>|<table>|<td>|<select><option>|<!--|-->|<script>|</script>|<svg>|
xlink:href=|<template>|<noscript>|<base href=|<meta charset=|<meta name=robots content=|0;url=|
<meta http-equiv=refresh content=|<link rel=canonical href=|<title>|</title>|
<plaintext>|<frameset>|<body>|<head>|&|&#x0;|]]>|<![CDATA["""
MARKUP = st.lists(
    st.one_of(st.sampled_from(PIECES.replace("\n", "").split("|")), st.text(max_size=4)), max_size=30
).map("".join)


@given(MARKUP, st.sampled_from(["utf-8", "utf-16", "latin-1"]), st.text(max_size=30), st.text(max_size=30))
@settings(max_examples=500, deadline=None)
def test_no_body_and_no_header_makes_it_raise(markup: str, encoding: str, content_type: str, header: str) -> None:
    body = markup.encode(encoding, "replace")
    headers = [("Link", header), ("X-Robots-Tag", header)]
    for media_type in ("text/html", "text/html; charset=" + content_type, content_type):
        first = read(body, content_type=media_type, headers=headers)
        assert first == read(body, content_type=media_type, headers=headers)


@given(st.binary(max_size=200))
@settings(max_examples=300, deadline=None)
def test_no_bytes_make_it_raise(body: bytes) -> None:
    read(body, content_type=None)
