"""The way of a URL, step by step: it is the way that identities are made, and shows no password."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.core.config import parse_settings
from crawler.core.url_rules import UrlRules
from crawler.core.url_steps import Trace, trace
from crawler.core.urls import CanonicalUrl, canonicalize
from crawler.core.userinfo import without_userinfo
from tests.core.test_url_rules import RULES
from tests.core.test_urls import ADDRESSES, BASES

SECRET = "s3cr3t"
# Before and after a name with a password, as far as a parser may still find a host behind it.
BEFORE = st.sampled_from(
    ["http://", "HTTPS:", "https:\\\\", "//", " https://", "ht\ntps:/\t/", "http:////", "ftp://", "x:"]
)
AFTER = st.sampled_from(["example.com/", "[::1]:80/p", "example.com:99999/", "a b/", "", "/", "\u00e9.example?q@r#s@t"])
USERS = st.sampled_from(
    [f"u:{SECRET}@", f"{SECRET}@", f"u:{SECRET}@x@", f":{SECRET}@", f"u\t:{SECRET[:3]}\n{SECRET[3:]}@"]
)


@given(ADDRESSES, BASES, RULES)
@settings(max_examples=300, deadline=None)
def test_the_last_step_is_what_canonicalize_says(text: str, base: str | None, rules: UrlRules) -> None:
    way, found = trace(text, base, rules), canonicalize(text, base, rules)
    if isinstance(found, CanonicalUrl):
        assert (way.url, way.fetch_url, way.reject) == (found.url, found.fetch_url, None)
        assert (way.steps[-1].url if way.steps else way.given) == found.url
    else:
        assert (way.url, way.reject) == (None, found.reason)
    assert all(step.url and step.why for step in way.steps)


@given(BEFORE, USERS, AFTER)
@settings(max_examples=300, deadline=None)
def test_no_step_shows_a_name_or_password(before: str, user: str, after: str) -> None:
    way = trace(before + user + after, "https://example.com/a/b" if before.startswith("/") else None)
    assert SECRET not in str(way)
    assert SECRET not in without_userinfo(before + user + after)


def test_every_step_that_changed_something_is_named_in_its_order() -> None:
    table = {"drop_parameters": ["ref"], "ignore_path_case": True, "trailing_slash": "drop"}
    rules = parse_settings({"host": {"xn--bcher-kva.example": table}}).url_rules
    text = " HTTPS://u:p@B\u00dcCHER.example.:443/a/../B%7e/;jsessionid=1?z=1&&utm_source=x&ref=2&a=%5b1#top"
    way = trace(text, None, rules)
    assert (
        way.given == "HTTPS://***@B\u00dcCHER.example.:443/a/../B%7e/;jsessionid=1?z=1&&utm_source=x&ref=2&a=%5b1#top"
    )
    assert [(step.name, step.url.removeprefix("https://xn--bcher-kva.example")) for step in way.steps] == [
        ("parse", "https://***@B\u00dcCHER.example.:443/B%7e/;jsessionid=1?z=1&&utm_source=x&ref=2&a=%5b1#top"),
        ("host", "https://***@xn--bcher-kva.example:443/B%7e/;jsessionid=1?z=1&&utm_source=x&ref=2&a=%5b1#top"),
        ("port", "https://***@xn--bcher-kva.example/B%7e/;jsessionid=1?z=1&&utm_source=x&ref=2&a=%5b1#top"),
        ("userinfo", "/B%7e/;jsessionid=1?z=1&&utm_source=x&ref=2&a=%5b1#top"),
        ("fragment", "/B%7e/;jsessionid=1?z=1&&utm_source=x&ref=2&a=%5b1"),
        ("escapes", "/B~/;jsessionid=1?z=1&&utm_source=x&ref=2&a=%5B1"),
        ("path session", "/B~/?z=1&&utm_source=x&ref=2&a=%5B1"),
        ("path case", "/b~/?z=1&&utm_source=x&ref=2&a=%5B1"),
        ("trailing slash", "/b~?z=1&&utm_source=x&ref=2&a=%5B1"),
        ("parameters", "/b~?z=1&a=%5B1"),
        ("sort", "/b~?a=%5B1&z=1"),
    ]
    whys = {step.name: step.why for step in way.steps}
    assert whys["parameters"] == (
        'utm_source by dropped_parameters.txt query utm_*; ref by host."xn--bcher-kva.example".drop_parameters ref'
    )
    assert whys["port"] == "443 is the default of https"


def test_a_url_that_is_its_own_identity_has_no_step() -> None:
    assert trace("https://example.com/a?b=1") == Trace(
        "https://example.com/a?b=1", (), "https://example.com/a?b=1", "https://example.com/a?b=1", None
    )


def test_a_reference_is_resolved_first() -> None:
    assert [step.url for step in trace("../x#y", "https://example.com/a/b/c").steps] == [
        "https://example.com/a/x#y",
        "https://example.com/a/x",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://example.com/?mail=a@b.example", "https://example.com/?mail=a@b.example"),
        ("https://example.com/@team", "https://example.com/@team"),
        ("docs/@team", "docs/@team"),
        ("https://u:p@example.com/@team", "https://***@example.com/@team"),
        ("https://u:pa/ss@example.com/", "https://***@example.com/"),
        ("user:pw@example.com", "user:***@example.com"),
    ],
)
def test_only_what_may_be_a_password_is_hidden(text: str, shown: str) -> None:
    assert without_userinfo(text) == shown
