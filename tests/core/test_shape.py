"""Path patterns, and the traps of a URL's shape."""

import string
from collections.abc import Iterator
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.config import TrapSettings
from crawler.core.shape import pattern_key, shape_trap

SITE = "https://example.com"
SEGMENTS = st.sampled_from(["a", "b", "index.php", "2031", "x1"])


def test_digits_fold_to_one_pattern_and_parameter_values_do_not_count() -> None:
    key = pattern_key(f"{SITE}/cal/2031/12?next=2032-01")
    assert key == pattern_key(f"{SITE}/cal/1/2?next=x")
    assert key != pattern_key(f"{SITE}/cal/2031/12")
    assert key != pattern_key("https://example.org/cal/2031/12?next=2032-01")
    assert key == 0xA472D3FCAE61BCBF  # it is stored: the same on every machine and version


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("550e8400e29b41d4a716446655440000", "6ba7b8109dad11d180b400c04fd430c8"),
        ("550e8400-e29b-41d4-a716-446655440000", "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"),
        ("9f86d081884c7d65", "a3f5c01277b9e014"),
        ("lit3py55t21z5v55vlm25s55", "x0y1z2x0y1z2x0y1"),
    ],
)
def test_long_tokens_of_letters_and_digits_fold_to_one_pattern(one: str, other: str) -> None:
    assert pattern_key(f"{SITE}/s/{one}/cart") == pattern_key(f"{SITE}/s/{other}/cart")
    assert pattern_key(f"{SITE}/s/{one}/cart") != pattern_key(f"{SITE}/s/cart")


@pytest.mark.parametrize(
    "slug",
    [
        "ten-ways-to-win-in-2024",
        "internationalisation",
        "covid19vaccinations",
        "windows-95-vs-98-2nd-edition",
        "a1b2c3",
    ],
)
def test_a_word_or_slug_is_no_token(slug: str) -> None:
    assert pattern_key(f"{SITE}/{slug}/") != pattern_key(f"{SITE}/x-{slug}/")


@given(st.lists(SEGMENTS, max_size=4), st.lists(st.sampled_from(["p=1", "q=2", "r=3", "p=4", "s="]), max_size=5))
def test_the_queries_of_a_path_lie_together_by_their_number_of_parameters_with_a_value(
    path: list[str], query: list[str]
) -> None:
    plain = pattern_key(f"{SITE}/{'/'.join(path)}")
    key = pattern_key(f"{SITE}/{'/'.join(path)}{'?' + '&'.join(query) if query else ''}")
    assert key >> 20 == plain >> 20
    assert (key >> 16) & 15 == len({piece[0] for piece in query if piece[2:]})


def deep_and_wide() -> Iterator[tuple[str, int, str]]:
    yield f"{SITE}/", 31, "traps.max_depth"
    yield f"{SITE}/" + "a" * 2000, 0, "traps.max_url_length"
    yield SITE + "".join(f"/{n}" for n in range(21)), 0, "traps.max_path_segments"
    yield f"{SITE}/a/x/a/y/a/z/a", 0, "traps.max_repeated_segments"
    yield f"{SITE}/a/b/a/b/a/b", 0, "traps.max_repeated_segments"
    yield f"{SITE}/in/a/b/c/a/b/c/a/b/c/", 0, "traps.max_repeated_segments"
    yield f"{SITE}/?" + "&".join(f"p{n}=1" for n in range(13)), 0, "traps.max_query_parameters"


@pytest.mark.parametrize(("url", "depth", "setting"), list(deep_and_wide()))
def test_a_trap_is_named_after_the_setting_that_stops_it(url: str, depth: int, setting: str) -> None:
    assert shape_trap(url, depth, TrapSettings()) == setting
    assert setting.removeprefix("traps.") in TrapSettings.model_fields


@pytest.mark.parametrize("path", ["/blog/2024/05/post?page=2", "/a/b/a/b/a", "/1/2/1/2/3/1/2", "/a/a/a"])
def test_an_ordinary_url_is_no_trap(path: str) -> None:
    assert shape_trap(SITE + path, 30, TrapSettings()) is None


@given(st.lists(st.sampled_from(string.ascii_lowercase[:3]), max_size=14), st.integers(2, 4))
def test_a_sequence_of_segments_may_come_so_often_in_a_row_and_no_more(path: list[str], most: int) -> None:
    limits = TrapSettings(max_repeated_segments=most, max_path_segments=99)
    text = "".join(path)
    is_sequence = any(
        text[at : at + length] * most == text[at : at + length * most]
        for length in range(2, len(text) // most + 1)
        for at in range(len(text) - length * most + 1)
    )
    is_frequent = any(text.count(letter) > most for letter in "abc")
    found = shape_trap(f"{SITE}/{'/'.join(path)}", 0, limits)
    assert (found == "traps.max_repeated_segments") == (is_sequence or is_frequent)


@pytest.mark.parametrize(
    ("path", "is_trap"),
    [
        ("/cal/2031/12?next=2032-01", True),
        ("/events/2030-01-01", True),
        ("/events/2029-11-30", False),  # three years after the month in which it was found
        ("/events/2029-12-01/", True),
        ("/archive/1998-05", False),
        ("/topic/2045/12", False),  # a page of a topic
        ("/agenda/2045-2055", False),
        ("/parts/2045-121", False),
        ("/?from=2101-02-03&to=x", True),
        ("/?part=a2045-12", False),
    ],
)
def test_a_date_in_years_to_come_is_a_calendars(path: str, *, is_trap: bool) -> None:
    found = shape_trap(SITE + path, 0, TrapSettings(), date(2026, 11, 25))
    assert found == ("traps.max_years_ahead" if is_trap else None)
    assert shape_trap(SITE + path, 0, TrapSettings()) is None
    assert shape_trap(SITE + path, 0, TrapSettings(max_years_ahead=0), date(2026, 11, 25)) is None
