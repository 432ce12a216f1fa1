"""What the absence of a robots.txt means, and files that no parser should fall over."""

import re
import tracemalloc
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.outcomes import Outcome, of_status
from crawler.net.reply import Reply
from crawler.net.robots import MAX_BYTES, deciding_line, is_suspect, parse, verdict

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


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_a_rule_that_the_size_limit_cuts_is_dropped_in_two_byte_letters_too(codec: str) -> None:
    mark, start, rest = (
        part.encode(codec) for part in ("\ufeff", "user-agent: *\n#", "\ndisallow: /kept\ndisallow: /")
    )
    filler = "#".encode(codec) * ((MAX_BYTES - len(mark + start + rest)) // 2)
    rules = parse(mark + start + filler + rest + "private\n".encode(codec), "testbot")
    assert rules.allowed("http://a.test/x")
    assert not rules.allowed("http://a.test/kept")


@pytest.mark.parametrize(
    "lines",
    [
        ["user-agent: *"] * 2000 + ["disallow: /%s"] * 2000,
        ["user-agent: a%s"] * 2000 + ["disallow: /%s"] * 2000,
        ["user-agent: *", "user-agent: b"] * 1000 + ["crawl-delay: 1%s"] * 1000 + ["request-rate: 1/%s"] * 1000,
    ],
    ids=["one user agent again and again", "many user agents", "many paces"],
)
def test_a_file_costs_no_more_memory_than_its_size_asks_for(lines: list[str]) -> None:
    body = "\n".join(line % number if "%s" in line else line for number, line in enumerate(lines)).encode()
    tracemalloc.start()
    parse(body, "testbot")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 << 20  # every rule for every user agent would be 32 MB of pointers alone


@pytest.mark.parametrize(
    "rule", ["/" + "*a" * 250_000 + "b$", "/" + "*" * 500_000, "/" + "%zz" * 160_000, "/" + "$" * 250_000]
)
def test_a_rule_of_half_a_megabyte_is_matched_without_trying_all_ways(rule: str) -> None:
    parse(f"user-agent: *\ndisallow: {rule}\n".encode(), "testbot").allowed("http://a.test/" + "a" * 2000)


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        ("user-agent: *\ndisallow: /", "text/plain; charset=utf-8", False),
        ("user-agent: *\ndisallow: /", None, False),
        ("", "text/plain", False),
        ("# <html>\n", "text/plain", False),
        ("<3 robots\n", "text/plain", False),
        ("user-agent: *\ndisallow: /", "Text/HTML", True),
        ("", "application/xhtml+xml", True),
        ("\ufeff\n  <!DOCTYPE html><p>", "text/plain", True),
        ("<html>", None, True),
        ("<?xml version='1.0'?>", "text/plain", True),
    ],
)
def test_a_page_in_place_of_a_robots_txt_is_suspect(body: str, content_type: str | None, expected: bool) -> None:
    headers = [("Content-Type", content_type)] if content_type else []
    assert is_suspect(replace(REPLY, body=body.encode(), headers=headers)) is expected


def test_what_is_no_200_is_not_suspect() -> None:
    moved = replace(REPLY, outcome=Outcome.GONE, status=404, body=None, headers=[("Content-Type", "text/html")])
    assert not is_suspect(moved)


PATHS = st.text("ab/", max_size=6).map("/".__add__)
PATTERNS = st.builds("/{}{}".format, st.text("ab/*", max_size=5), st.sampled_from(["", "", "$"]))


@given(st.lists(st.tuples(st.booleans(), PATTERNS), max_size=5), PATHS)
def test_the_longest_rule_that_matches_decides_and_allow_wins_a_tie(rules: list[tuple[bool, str]], path: str) -> None:
    lines = [f"{'allow' if allow else 'disallow'}: {pattern}" for allow, pattern in rules]
    matching = [(len(pattern), allow) for allow, pattern in rules if matches(pattern, path)]
    expected = max(matching, default=(0, True))[1]
    found = parse("\n".join(["user-agent: testbot", *lines]).encode(), "testbot")
    assert found.allowed(f"http://a.test{path}") is expected


def matches(pattern: str, path: str) -> bool:
    """RFC 9309 2.2.3 by the letter: `*` is any run, a final `$` the end."""
    expression = ".*".join(re.escape(part) for part in pattern.removesuffix("$").split("*"))
    return re.match(expression + ("$" if pattern.endswith("$") else ""), path) is not None


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/x/y", "disallow: /x"),
        ("/x/y.html", "allow: /x/*.html$"),
        ("/tie", "allow: /tie"),
        ("/z", None),
        ("/caf%C3%A9", "disallow: /caf\u00e9"),
    ],
)
def test_the_line_that_decides_is_named(path: str, expected: str | None) -> None:
    others = ["user-agent: *", "disallow: /"]
    ours = ["user-agent: testbot", "disallow: /x", "allow: /x/*.html$", "disallow: /tie", "allow: /tie"]
    lines = [*others, *ours, "disallow: /caf\u00e9", "crawl-delay: 3"]
    assert deciding_line("\n".join(lines).encode(), "testbot", f"http://a.test{path}") == expected


@given(st.lists(st.tuples(st.booleans(), PATTERNS), max_size=5), PATHS)
def test_the_line_that_is_named_agrees_with_the_verdict(rules: list[tuple[bool, str]], path: str) -> None:
    lines = [f"{'allow' if allow else 'disallow'}: {pattern}" for allow, pattern in rules]
    body, url = "\n".join(["user-agent: *", *lines]).encode(), f"http://a.test{path}"
    named = deciding_line(body, "testbot", url)
    assert named in (None, *lines)
    assert (named is None or named.startswith("allow")) is parse(body, "testbot").allowed(url)


def test_request_rate_is_a_delay_as_well() -> None:
    rules = parse(b"user-agent: *\nrequest-rate: 1/10s\ncrawl-delay: 3", "testbot")
    assert (rules.crawl_delay, rules.delay_seconds) == (3.0, 10.0)
    assert parse(b"", "testbot").delay_seconds is None
