"""Rules of hosts: what they keep and drop, who wins, and that the laws of identities hold under any of them."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.core.config import parse_settings
from crawler.core.errors import BadSettings
from crawler.core.url_rules import NO_RULES, UrlRules
from crawler.core.urls import CanonicalUrl, canonicalize
from tests.core.test_urls import ADDRESSES, BASES

NAMES = st.lists(
    st.sampled_from(["*", "a", "A*", "b", "utm_*", "utm_source", "sid", "jsessionid", "s*", "[x]", "é"]), max_size=3
)
TABLES = st.fixed_dictionaries(
    {},
    optional={
        "keep_parameters": NAMES,
        "drop_parameters": NAMES,
        "ignore_path_case": st.booleans(),
        "trailing_slash": st.sampled_from(["keep", "add", "drop"]),
    },
)
GENERAL = st.fixed_dictionaries({}, optional={"keep_parameters": NAMES, "drop_parameters": NAMES})
RULES = st.builds(
    lambda general, own, other: rules_of({"urls": general, "host": {"example.com": own, "h.example": other}}),
    GENERAL,
    TABLES,
    TABLES,
)


def rules_of(tables: dict[str, Any]) -> UrlRules:
    return parse_settings(tables).url_rules


def at_example(text: str, general: dict[str, Any] | None = None, **own: Any) -> str:
    """The identity of a path and query of example.com under its rules."""
    found = canonicalize(
        f"https://example.com{text}", None, rules_of({"urls": general or {}, "host": {"example.com": own}})
    )
    assert isinstance(found, CanonicalUrl)
    return found.url.removeprefix("https://example.com")


@given(ADDRESSES, BASES, RULES)
@settings(max_examples=400, deadline=None)
def test_under_any_rules_canonicalising_twice_changes_nothing(text: str, base: str | None, rules: UrlRules) -> None:
    found = canonicalize(text, base, rules)
    if isinstance(found, CanonicalUrl):
        again = canonicalize(found.url, None, rules)
        assert isinstance(again, CanonicalUrl)
        assert (again.url, again.dropped) == (found.url, ())
        fetched = canonicalize(found.fetch_url, None, rules)
        assert isinstance(fetched, CanonicalUrl)
        assert fetched.url == found.url


@given(ADDRESSES, BASES, RULES)
@settings(max_examples=200, deadline=None)
def test_rules_change_no_request_and_no_host(text: str, base: str | None, rules: UrlRules) -> None:
    found, plain = canonicalize(text, base, rules), canonicalize(text, base)
    if isinstance(found, CanonicalUrl) and isinstance(plain, CanonicalUrl):
        assert (found.fetch_url, found.host, found.port) == (plain.fetch_url, plain.host, plain.port)


def test_without_settings_there_is_one_set_of_rules() -> None:
    assert rules_of({}) is NO_RULES
    assert rules_of({"host": {"example.com": {"delay_seconds": 3, "trailing_slash": "keep"}}}) is NO_RULES
    assert NO_RULES.is_default
    assert not rules_of({"urls": {"drop_parameters": ["ref"]}}).is_default


def test_a_dropped_parameter_is_no_part_of_the_identity_and_is_named() -> None:
    rules = rules_of({"host": {"example.com": {"drop_parameters": ["ref", "view_*"]}}})
    found = canonicalize("https://example.com/?REF=1&view_x=2&a=3", None, rules)
    assert isinstance(found, CanonicalUrl)
    assert (found.url, found.dropped) == ("https://example.com/?a=3", ("REF", "view_x"))
    assert found.fetch_url == "https://example.com/?REF=1&view_x=2&a=3"
    elsewhere = canonicalize("https://other.example/?ref=1", None, rules)
    assert isinstance(elsewhere, CanonicalUrl)
    assert elsewhere.url == "https://other.example/?ref=1"


def test_a_kept_parameter_wins_over_the_list_and_over_what_is_dropped() -> None:
    assert at_example("/?utm_id=1&utm_source=2", keep_parameters=["utm_id"]) == "/?utm_id=1"
    assert at_example("/?id=1&page=2&x=3", keep_parameters=["id", "page"], drop_parameters=["*"]) == "/?id=1&page=2"
    assert at_example("/a;jsessionid=1?jsessionid=2", keep_parameters=["jsessionid"]) == "/a;jsessionid=1?jsessionid=2"
    assert at_example("/a;jsessionid=1;sid=2", keep_parameters=["js*"]) == "/a;jsessionid=1"


def test_a_host_wins_over_all_hosts() -> None:
    general = {"drop_parameters": ["ref"], "keep_parameters": ["gclid"]}
    assert at_example("/?ref=1&gclid=2", general) == "/?gclid=2"
    assert at_example("/?ref=1&gclid=2", general, keep_parameters=["ref"], drop_parameters=["gclid"]) == "/?ref=1"
    assert at_example("/?ref=1&gclid=2", general, drop_parameters=["g*"], keep_parameters=["r*"]) == "/?ref=1"


def test_names_are_compared_as_canonical_urls_write_them() -> None:
    assert at_example("/?x[y]=1&%78%5by%5D=2&%C3%A9=3&a=4", drop_parameters=["X[y]", "é"]) == "/?a=4"


def test_a_token_may_be_dropped_whatever_its_value_is() -> None:
    assert at_example("/?sid=12") == "/?sid=12"
    assert at_example("/?sid=12", drop_parameters=["sid"]) == "/"


def test_letter_case_of_a_path_is_ignored_but_not_that_of_a_query_or_an_escape() -> None:
    assert at_example("/Docs/%c3%89A?Q=A", ignore_path_case=True) == "/docs/%C3%89a?Q=A"
    assert at_example("/Docs/") == "/Docs/"


@pytest.mark.parametrize(
    ("mode", "found", "identity"),
    [
        ("add", "/a", "/a/"),
        ("add", "/a/", "/a/"),
        ("add", "/", "/"),
        ("add", "/a.html?q=1", "/a.html?q=1"),
        ("add", "/v1.2/a", "/v1.2/a/"),
        ("add", "/(S(a))?q=1", "/?q=1"),
        ("add", "/a;jsessionid=1.node", "/a/"),
        ("drop", "/a/", "/a"),
        ("drop", "/a//", "/a"),
        ("drop", "/", "/"),
        ("drop", "//", "/"),
        ("drop", "/a/;jsessionid=1", "/a"),
        ("keep", "/a/", "/a/"),
    ],
)
def test_a_final_slash_is_what_the_host_wants(mode: str, found: str, identity: str) -> None:
    assert at_example(found, trailing_slash=mode) == identity


@pytest.mark.parametrize("name", ["EXAMPLE.com", "example.com.", "b\u00fccher.example", "::1", "[::1]"])
def test_a_host_is_found_however_the_settings_spell_it(name: str) -> None:
    host = f"[{name}]" if name == "::1" else name
    found = canonicalize(f"http://{host}/?ref=1", None, rules_of({"host": {name: {"drop_parameters": ["ref"]}}}))
    assert isinstance(found, CanonicalUrl)
    assert "?" not in found.url


@pytest.mark.parametrize("name", ["", "a=b", "a&b", "a b", "#a", "a*b", "**"])
def test_what_is_no_parameters_name_is_refused(name: str) -> None:
    with pytest.raises(BadSettings, match="is no parameter's name"):
        rules_of({"urls": {"drop_parameters": [name]}})


def test_a_slash_that_is_no_choice_is_refused() -> None:
    with pytest.raises(BadSettings, match="'keep', 'add' or 'drop'"):
        rules_of({"host": {"example.com": {"trailing_slash": "strip"}}})
