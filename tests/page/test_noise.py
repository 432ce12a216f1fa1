"""What counts as noise in a text, and what must not."""

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.page.noise import MAX_LINE_LENGTH, MAX_LINES, without_noise
from tests.cases.links import read

NOISE = """
1,234 views
3 comments
Comments (3)
Views: 1.2k
Hits: 99
12 views 3 comments
12 users online
4 people are watching now
Visitors today: 99
Visitor counter: 00123
You are visitor number 123,456
Viewed 1,234 times
Generated on 2026-11-30 12:00:01
Generated at: 2026-11-30T12:00:01.123Z
This page was generated on Mon Nov 30, 2026 at 12:00 UTC
Page generated in 0.032 seconds
Page rendered in 12 ms
Load time: 0.5 s
23 queries in 0.12 seconds
Last updated 3 minutes ago
Last updated: 30 November 2026
Last modified: Monday, 30 November 2026, 10:12 AM
Updated 2 hours ago
3 hours ago
an hour ago
Current time: 12:34:56
Server time is 2026-11-30 10:00 +0100
Today is Monday, 30 November 2026
Request ID: 3f2504e0-4f89-11d3-9a0c-0305e82c3301
Ray ID: 8f3e1b2c3d4e5f60
csrf_token=8f14e45fceea167a5a36dedd4bea2543
PHPSESSID=abcdef0123456789
nonce: k3J9sLq0x2
""".strip().splitlines()

CONTENT = """
$1,234
Price: 12.50 EUR
3 items in stock
4 seats left
5,000 people live here
Conference: 12 May 2026
Posted on 2026-05-12 at 10:00
Published 12 May 2026
Opening hours: 10:00 to 18:00
Built on 12 May 1889
Votes: 1,234
Score 4-2
1889
12:30
Version 2.1.3
sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
3f2504e0-4f89-11d3-9a0c-0305e82c3301
Session 12: Keynote
Token 5
The museum counts 3 visits a year per person
He had 12 comments on the draft
The bridge, last updated on 12 May 2020, is closed
Rated 4.5 by 1,000 readers
Long ago, in 1200
Updated edition, 2nd printing 2020
Article ID: 12345678
""".strip().splitlines()


@pytest.mark.parametrize("line", NOISE)
def test_a_line_of_noise_is_left_out(line: str) -> None:
    assert without_noise(["before", line, "after"]) == ["before", "after"]
    assert without_noise([line.upper()]) == []


@pytest.mark.parametrize("line", CONTENT)
def test_what_a_page_is_about_stays(line: str) -> None:
    assert without_noise([line]) == [line]


@pytest.mark.parametrize("line", NOISE)
def test_a_sentence_in_a_paragraph_stays_whatever_it_says(line: str) -> None:
    paragraph = f"{line}. {'All that is said here is said by somebody who means it. ' * 4}"
    assert without_noise([paragraph]) == [paragraph]


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("By Ann · 3 May 2024 · 1.2k views", "By Ann · 3 May 2024 ·"),
        ("Posted by Bob 3 hours ago", "Posted by Bob"),
        ("(c) 2020 Ann. Last updated on Nov 30, 2026. Made with care", "(c) 2020 Ann. . Made with care"),
        ("A talk | 12 comments | Room 7", "A talk | | Room 7"),
    ],
)
def test_facts_beside_noise_stay(line: str, left: str) -> None:
    assert without_noise([line]) == [left]


PAGE = """<html><body><main><h1>News</h1><p>The council decided to build a bridge for $1,200,000 on 12 May 2026.</p>
<div class=meta>By Ann &middot; <span>{views} views</span> &middot; <span>{comments} comments</span></div>
<form><input type=hidden name=csrf value={token}></form><script nonce={token}>var t = {token};</script>
<div hidden>debug {token}</div><p style="display: none">trace {token}</p><span aria-hidden=true>{views}</span>
<div>Page generated at {at} in {views} ms</div><div>Request ID: {token}</div><div>{views} minutes ago</div>
</main></body></html>"""


def test_an_unchanged_page_is_seen_as_unchanged() -> None:
    one, other = (
        read(PAGE.format(views=views, comments=views, token=f"9f86d081{views:08}", at=at).encode())
        for views, at in ((7, "2026-11-30 10:00:00"), (8, "2026-12-01 23:59:59"))
    )
    assert one.text_digest == other.text_digest


@pytest.mark.parametrize(
    ("old", "new"),
    [("$1,200,000", "$1,300,000"), ("12 May", "13 May"), ("decided", "declined"), ("By Ann", "By Bea")],
)
def test_a_changed_word_price_or_date_is_a_change(old: str, new: str) -> None:
    page = PAGE.format(views=1, comments=1, token="9f86d0818", at="2026-11-30 10:00")
    assert old in page
    assert read(page.encode()).text_digest != read(page.replace(old, new).encode()).text_digest


@given(st.lists(st.text(alphabet="ab 1", min_size=1).map(lambda text: " ".join(text.split())).filter(bool)))
@settings(max_examples=50)
def test_lines_without_a_label_are_not_touched(lines: list[str]) -> None:
    assert without_noise(lines) == lines


def repeated(unit: str) -> str:
    return (unit * MAX_LINE_LENGTH)[:MAX_LINE_LENGTH]


@pytest.mark.parametrize(
    "line",
    [
        *map(
            repeated,
            ["1 views ", "1 ", "last updated ", "1 hour ", "session id ", "1/1/", "a-", "generated in 1", "· "],
        ),
        "views updated generated ago session time quer " + "1" * 100,
    ],
)
def test_hostile_lines_cost_milliseconds(line: Callable[[], str]) -> None:
    started = time.process_time()
    without_noise([f"{line}"] * 20 * MAX_LINES)
    assert time.process_time() - started < 5
