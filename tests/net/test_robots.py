"""What the absence of a robots.txt means, and files that no parser should fall over."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.outcomes import Outcome, of_status
from crawler.net.reply import Reply
from crawler.net.robots import MAX_BYTES, parse, verdict

NOW = datetime(2026, 11, 25, tzinfo=UTC)
REPLY = Reply(Outcome.OK, 200, [], b"", 0, False, None, True, None, NOW, NOW, 0.0, 0.0)


@pytest.mark.parametrize(
    ("status", "expected"),
    [(200, "rules"), (404, "allow"), (410, "allow"), (401, "allow"), (403, "allow"), (400, "allow"), (418, "allow"),
     (429, "disallow"), (500, "disallow"), (503, "disallow"), (599, "disallow"), (304, "disallow"), (999, "disallow"),
     (301, "redirect"), (302, "redirect"), (307, "redirect"), (308, "redirect")],
)  # fmt: skip
def test_a_status_decides_as_rfc_9309_says(status: int, expected: str) -> None:
    outcome = Outcome.PROTOCOL_ERROR if status == 304 else of_status(status)
    assert verdict(replace(REPLY, outcome=outcome, status=status), 0) == expected


@pytest.mark.parametrize(
    "outcome",
    ["timed_out", "dns_failed", "connect_failed", "tls_failed", "protocol_error", "bad_content", "blocked_address"],
)
def test_a_failure_of_the_network_disallows(outcome: str) -> None:
    assert verdict(replace(REPLY, outcome=Outcome(outcome), status=None, body=None), 0) == "disallow"


def test_the_sixth_redirect_is_as_good_as_no_file() -> None:
    moved = replace(REPLY, outcome=Outcome.REDIRECTED, status=302)
    assert [verdict(moved, hop) for hop in range(7)] == ["redirect"] * 5 + ["allow"] * 2


def test_an_empty_answer_is_an_empty_file() -> None:
    assert verdict(replace(REPLY, outcome=Outcome.BAD_CONTENT, status=204, body=None), 0) == "allow"


@given(st.binary(max_size=2000))
def test_no_bytes_make_the_parser_raise(body: bytes) -> None:
    assert parse(body, "testbot").allowed("http://a.test/robots.txt")


LINES = [
    "user-agent: *", "user-agent: testbot", "disallow: /", "allow:", "crawl-delay: 2", "sitemap: /s", "x", "disallow",
    "User-Agent", "request-rate: 1/0", "disallow: /\u2028a",
]  # fmt: skip


@given(st.lists(st.sampled_from(LINES), max_size=12))
def test_no_lines_make_the_parser_raise(lines: list[str]) -> None:
    rules = parse("\r".join(lines).encode(), "testbot", robots_url="http://a.test/robots.txt")
    rules.allowed("http://a.test/x")
    assert rules.crawl_delay in (None, 2.0)


def test_a_rule_that_the_size_limit_cuts_is_dropped() -> None:
    body = b"user-agent: *\n" + b"#" * (MAX_BYTES - 14 - 1 - len("disallow: /")) + b"\ndisallow: /private\n"
    assert parse(body, "testbot").allowed("http://a.test/x")
    assert parse(body[:MAX_BYTES], "testbot").allowed("http://a.test/x")


def test_request_rate_is_a_delay_as_well() -> None:
    rules = parse(b"user-agent: *\nrequest-rate: 1/10s\ncrawl-delay: 3", "testbot")
    assert (rules.crawl_delay, rules.delay_seconds) == (3.0, 10.0)
    assert parse(b"", "testbot").delay_seconds is None
