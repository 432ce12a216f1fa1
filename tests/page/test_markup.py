"""The guard before the parser: hostile markup is refused in bounded time, odd but honest markup is parsed."""

import contextlib
import pickle
import time

import pytest

from crawler.page.errors import ParserFailed
from crawler.page.markup import check_markup, parse

MEGABYTE = 1 << 20

HOSTILE = {
    "open div": "<div>" * 200_000,
    "open div in odd case": "<DiV>" * 200_000,
    "unknown elements": "<x-y>" * 200_000,
    "closed within comments": "<div><!--</div>-->" * 50_000,
    "closed within scripts": "<div><script></div></script>" * 40_000,
    "closed within attributes": '<div title="</div>">' * 50_000,
    "closed by another name": "<div></span>" * 80_000,
    "different formatting elements": "".join(f"<font color={n}>" for n in range(4000)) + "<p>x" * 10_000,
    "formatting elements in paragraphs": "".join(f"<p><b id={n}>x" for n in range(4000)),
    "unique attributes": "<a " + " ".join(f"a{n}=1" for n in range(100_000)) + ">",
    "attributes behind quoted brackets": "<a " + " ".join(f'a{n}=">"' for n in range(100_000)) + ">",
}

HONEST = {
    "2,000 nested elements": "<div>" * 2000 + "x",
    "unclosed spans that their parents end": "<div><span>x</div>" * 50_000,
    "paragraphs without end tags": "<p>x" * 50_000,
    "items without end tags": "<ul>" + "<li>x" * 50_000,
    "cells without end tags": "<table>" + "<td>x" * 50_000,
    "a formatting element left open": "<b>" + "<p>x" * 50_000,
    "equal formatting elements left open": "<p><b>x" * 50_000,
    "closed formatting elements": "<p><code>x</code> <em>y</em>" * 30_000,
    "anchors without end tags": "<a name=x>" * 50_000,
    "an image of a megabyte within its tag": f'<img src="data:image/png;base64,{"A" * MEGABYTE}">',
    "options without end tags": "<select>" + "<option>x" * 50_000,
    "a script that writes markup": "<script>" + "x += '<div><b>';" * 20_000 + "</script>",
    "text without markup": "word " * 200_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_markup_is_refused_in_bounded_time(name: str) -> None:
    started = time.monotonic()
    with pytest.raises(ParserFailed):
        check_markup(HOSTILE[name])
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("name", HONEST)
def test_honest_markup_is_parsed_in_bounded_time(name: str) -> None:
    started = time.monotonic()
    assert parse(HONEST[name]).tree.root is not None
    assert time.monotonic() - started < 10


LONG = ["<" * MEGABYTE, '<a "' * 200_000, "<!--" * 200_000, '<a x="' * 200_000, "<script" * 100_000]


@pytest.mark.parametrize("text", LONG)
def test_the_guard_itself_is_linear(text: str) -> None:
    started = time.monotonic()
    with contextlib.suppress(ParserFailed):
        check_markup(text)
    assert time.monotonic() - started < 5


def test_a_refusal_says_what_was_found_and_survives_a_process() -> None:
    with pytest.raises(ParserFailed) as refusal:
        check_markup(HOSTILE["open div"])
    assert "nested too deeply" in pickle.loads(pickle.dumps(refusal.value)).problem
