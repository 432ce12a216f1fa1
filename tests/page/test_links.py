"""Links as columns are filled from them: what is remembered changes nothing, and everything left out is counted."""

import pickle
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.core.config import parse_settings
from crawler.core.url_rules import NO_RULES
from crawler.core.urls import CanonicalUrl, canonicalize
from crawler.page.links import MOST_NAMES, OTHER, Links, count_dropped
from tests.core.test_urls import SOUP

RULES = parse_settings({"host": {"example.com": {"drop_parameters": ["b"], "ignore_path_case": True}}}).url_rules
BASES = [
    "https://example.com/a/b?q=1",
    "https://example.com/",
    "http://h.example:81/a/b/c%20d/e.html?x/y",
    "http://h.example",
]


@given(st.lists(st.tuples(SOUP, st.sampled_from(BASES)), max_size=4), st.sampled_from([NO_RULES, RULES]))
@settings(max_examples=400, deadline=None)
def test_a_link_that_is_remembered_is_the_link_that_would_be_found(found: list[tuple[str, str]], rules: object) -> None:
    links = Links(rules)
    for text, base in found * 2:
        fresh = canonicalize(text, base, rules)
        assert links.resolve(text, base) == (fresh if isinstance(fresh, CanonicalUrl) else None)


@pytest.mark.parametrize(
    "text", ["?x=1", "#x", "", " ?x", "\t#x", "https:?x", "https:", "https:#", "https:x", "h\tttps:?y", ".?x"]
)
def test_a_link_that_depends_on_the_pages_own_name_is_resolved_against_it(text: str) -> None:
    links = Links()
    for base in ("https://example.com/a/b?q=1", "https://example.com/a/c", "https://example.com/a/"):
        assert links.resolve(text, base) == canonicalize(text, base)


def test_every_link_is_found_or_counted_with_its_reason() -> None:
    links, base = Links(), "https://example.com/"
    for text in ("/a", "mailto:a@example.com", "javascript:void(0)", "http://a b/", "http://x..org/", "http://x:0/"):
        links.add("a", text, base)
    links.add("a", "/" + "a" * 3000, base)
    assert list(links.found) == ["https://example.com/a"]
    assert links.rejected == {"bad_scheme": 2, "bad_url": 1, "bad_host": 1, "bad_port": 1, "too_long": 1}


def test_links_are_counted_by_the_parameters_that_they_lose() -> None:
    links = Links(RULES)
    for text in ("/a?b=1&utm_source=x", "/a?B=2&b=3", "/a;jsessionid=1", "/c", "/c"):
        links.add("a", text, "https://example.com/")
    assert links.dropped == {"b": 2, "utm_source": 1, "path_session": 1}


def test_a_page_cannot_name_parameters_without_end() -> None:
    counts = None
    for number in range(2 * MOST_NAMES):
        counts = count_dropped([f"utm_{number}" + "x" * 1000], counts)
    assert counts is not None
    assert len(counts) == MOST_NAMES + 1
    assert counts[OTHER] == MOST_NAMES
    assert max(map(len, counts)) < 100


def test_rules_that_went_to_another_process_say_the_same() -> None:
    sent = pickle.loads(pickle.dumps(RULES))  # as a parse worker gets them
    for text in ("/A?b=1&c=2", "/" + quote("É") + "/B"):
        assert canonicalize(text, BASES[0], sent) == canonicalize(text, BASES[0], RULES)
