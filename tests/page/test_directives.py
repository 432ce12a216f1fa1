"""What pages ask of robots, beyond the rows of links.jsonl."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.page.directives import Directives, header_directives

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def asked(*values: str, at: datetime | None = NOW) -> str:
    found = header_directives(values, "ExampleBot", at)
    return " ".join(name for name in ("noindex", "nofollow", "noarchive") if getattr(found, name))


@pytest.mark.parametrize(
    ("value", "rules"),
    [
        ("noarchive", "noarchive"),
        ("nocache", "noarchive"),
        ("none, noarchive", "noindex nofollow noarchive"),
        ("noindex nofollow", "noindex nofollow"),
        ("noindex; nofollow", "noindex nofollow"),
        ("max-image-preview: none", ""),
        ("max-snippet: 0, noindex", "noindex"),
        ("noindex; max-snippet: 0", "noindex"),
        ("noindexed, nofollowed", ""),
    ],
)
def test_rules_are_words_and_values_are_none(value: str, rules: str) -> None:
    assert asked(value) == rules


@pytest.mark.parametrize(
    ("value", "rules"),
    [
        ("otherbot: noindex, examplebot: nofollow, noarchive", "nofollow noarchive"),
        ("noindex, otherbot: nofollow", "noindex"),
        ("otherbot: nofollow, max-snippet: 1, noindex", ""),
        ("EXAMPLEBOT : none", "noindex nofollow"),
        ("*: noindex", "noindex"),
        ("examplebot2: noindex", ""),
    ],
)
def test_rules_are_for_the_agent_named_before_them(value: str, rules: str) -> None:
    assert asked(value) == rules


@pytest.mark.parametrize(
    "date",
    [
        "25 Jun 2010 15:00:00 PST",
        "Friday, 25-Jun-10 15:00:00 PST",
        "Fri, 25 Jun 2010 15:00:00 GMT",
        "25 Jun 2010",
        "2010-06-25",
        "2026-11-30T11:59:59Z",
        "2026-11-30T13:59:59+02:00",
    ],
)
def test_a_page_that_should_be_gone_by_now_is_noindex(date: str) -> None:
    assert asked(f"unavailable_after: {date}") == "noindex"
    assert asked(f"noarchive, unavailable_after: {date}") == "noindex noarchive"
    assert asked(f"unavailable_after: {date}", at=None) == ""
    meta = Directives(at=NOW)
    meta.add(f"Unavailable_After: {date}")
    assert meta.noindex


@pytest.mark.parametrize(
    "date", ["25 Jun 2099 15:00:00 PST", "2026-11-30T12:00:00Z", "soon", "", "0000-00-00", "9999-12-31T23:59:59-23:59"]
)
def test_until_then_and_by_no_date_it_is_not(date: str) -> None:
    assert asked(f"unavailable_after: {date}") == ""


@given(st.text(max_size=60))
def test_whatever_is_said_is_read(text: str) -> None:
    header_directives([text, f"unavailable_after: {text}", f"examplebot: {text}"], "ExampleBot", NOW)


@given(st.lists(st.sampled_from(["noindex", "nofollow", "noarchive", "all", "none"])))
def test_more_rules_never_ask_for_less(rules: list[str]) -> None:
    few, many = header_directives(rules[:2], "x"), header_directives(rules, "x")
    assert many.noindex >= few.noindex
    assert many.nofollow >= few.nofollow
    assert many.noarchive >= few.noarchive
