"""Scope: hosts, schemes, ports and path rules, in Python and as the regexes that SQL takes."""

import re

import duckdb
import pytest

from crawler.core.config import ScopeRule, ScopeSettings
from crawler.core.errors import BadSettings
from crawler.core.patterns import path_regex, registrable_domain
from crawler.core.scope import Scope

NO_SEEDS: frozenset[str] = frozenset()


def test_without_hosts_the_seeds_hosts_are_the_scope() -> None:
    scope = Scope(ScopeSettings(), frozenset({"example.org"}))
    assert scope.decide("https://example.org/a") == (True, "scope.default")
    assert scope.decide("https://www.example.org/a") == (False, "scope.hosts")
    assert scope.host_rules("www.example.org") == [(0, False, None, "scope.hosts")]


@pytest.mark.parametrize(
    ("pattern", "host", "covered"),
    [
        ("example.org", "example.org", True),
        ("example.org", "a.example.org", False),
        ("*.example.org", "example.org", True),
        ("*.example.org", "a.b.example.org", True),
        ("*.example.org", "badexample.org", False),
        ("domain:example.co.uk", "www.example.co.uk", True),
        ("domain:example.co.uk", "other.co.uk", False),
        ("domain:example.github.io", "other.github.io", False),
        ("Bücher.example", "xn--bcher-kva.example", True),
        ("[2001:DB8::1]", "[2001:db8::1]", True),
        ("192.0.2.1", "192.0.2.1", True),
    ],
)
def test_a_host_pattern_covers_what_it_says(pattern: str, host: str, covered: bool) -> None:
    assert Scope(ScopeSettings(hosts=(pattern,)), NO_SEEDS).covers(host) is covered


@pytest.mark.parametrize("text", ["example.org/path", "http://example.org", "example.org:80", "", "a b"])
def test_a_host_that_is_none_stops_with_the_cure(text: str) -> None:
    with pytest.raises(BadSettings, match="is no host"):
        Scope(ScopeSettings(hosts=(text,)), NO_SEEDS)


def test_schemes_and_ports_are_checked_first() -> None:
    scope = Scope(ScopeSettings(hosts=("example.org",), schemes=("https",), ports=(443, 8443)), NO_SEEDS)
    assert scope.decide("http://example.org/") == (False, "scope.schemes")
    assert scope.decide("https://example.org:81/") == (False, "scope.ports")
    assert scope.decide("https://example.org/") == (True, "scope.default")
    assert scope.decide("https://example.org:8443/") == (True, "scope.default")


def test_the_first_rule_that_matches_decides() -> None:
    rules = (
        ScopeRule(deny="*.zip$"),
        ScopeRule(allow="/docs/", host="example.org"),
        ScopeRule(deny="/", host="*.example.org"),
    )
    scope = Scope(ScopeSettings(hosts=("*.example.org",), rules=rules), NO_SEEDS)
    assert scope.decide("https://example.org/docs/a.zip") == (False, "scope.rules deny *.zip$")
    assert scope.decide("https://example.org/docs/a") == (True, "scope.rules allow /docs/")
    assert scope.decide("https://www.example.org/docs/a") == (False, "scope.rules deny /")
    assert [name for *_, name in scope.host_rules("www.example.org")] == [
        "scope.rules deny *.zip$",
        "scope.rules deny /",
        "scope.default",
    ]


def test_a_host_outside_has_path_rules_when_hops_may_reach_it() -> None:
    scope = Scope(ScopeSettings(hosts=("example.org",), rules=(ScopeRule(deny="/private"),)), NO_SEEDS)
    assert scope.decide("https://other.example/private") == (False, "scope.hosts")
    assert scope.decide("https://other.example/private", any_host=True) == (False, "scope.rules deny /private")
    assert scope.decide("https://other.example/", any_host=True) == (True, "scope.default")


PATHS = ["/", "/docs", "/docs/", "/docs/a.zip", "/docs/a.zip?x", "/a/b/c", "/%C3%BC", "/~a", "/a.b", "/axb", "/p?q=a+b"]


@pytest.mark.parametrize(
    ("pattern", "matching"),
    [
        ("/docs", {"/docs", "/docs/", "/docs/a.zip", "/docs/a.zip?x"}),
        ("/docs$", {"/docs"}),
        ("*.zip$", {"/docs/a.zip"}),
        ("/*/c", {"/a/b/c"}),
        ("/ü", {"/%C3%BC"}),
        ("/%c3%bc", {"/%C3%BC"}),
        ("/%7Ea", {"/~a"}),
        ("/a.b", {"/a.b"}),
        ("/p?q=a+b", {"/p?q=a+b"}),
        ("*", set(PATHS)),
    ],
)
def test_a_path_pattern_means_the_same_in_python_and_in_duckdb(pattern: str, matching: set[str]) -> None:
    regex = path_regex(pattern)
    assert {path for path in PATHS if re.match(regex, path)} == matching
    found = duckdb.execute("SELECT p FROM unnest(?) AS t (p) WHERE regexp_matches(p, ?)", [PATHS, regex]).fetchall()
    assert {path for (path,) in found} == matching


def test_an_address_is_its_own_registrable_domain() -> None:
    assert registrable_domain("192.0.2.1") == "192.0.2.1"
    assert registrable_domain("[2001:db8::1]") == "[2001:db8::1]"
    assert registrable_domain("a.b.example.co.uk") == "example.co.uk"
