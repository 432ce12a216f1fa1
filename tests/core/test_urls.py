"""Canonical URLs: every row of urls.jsonl, and the laws."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.core import urls
from crawler.core.urls import CanonicalUrl, Reject, canonicalize
from tests.cases.facts import Row
from tests.cases.required import each_row, require

# Pieces that mean something to a URL parser, so that random text reaches its corners.
MEANINGFUL = """http:// https:// // / . .. %2e %2E % %4 %41 %7e %e9 %25 ? & = # @ : ; a Z é ß \\ | ^ ` ' " < > { } [ ]
+ ( ) ;jsessionid= ;JSESSIONID=1 (S(abc)) /(S(q))/ utm_source sid= PHPSESSID= example.com EXAMPLE.org. xn-- 127.1 0x7f.1
[::1] :80 :443 :8080 .html ../ ./ x/y ?a=1&b=2 ①"""
PIECES = st.one_of(
    st.sampled_from([*MEANINGFUL.split(), "\x00", " ", "\t", "\n", "\u00a0", "\u00ad", "\ud800", "\u3002"]),
    st.text(max_size=3),
)
SOUP = st.lists(PIECES, max_size=9).map("".join)
ADDRESSES = st.one_of(SOUP, st.builds("https://example.com{}{}".format, st.sampled_from(["", "/", "?", "/?"]), SOUP))
BASES = st.sampled_from([None, "https://example.com/a/b?q=1#f", "http://h.example:81/a/;jsessionid=1/(S(x))/c%2e/"])


def url_of(text: str, base: str | None = None) -> str:
    found = canonicalize(text, base)
    return found.url if isinstance(found, CanonicalUrl) else "reject"


@each_row("urls.jsonl")
def test_a_url_row_is_met(row: Row) -> None:
    require("urls.jsonl", row)


@given(ADDRESSES, BASES)
@settings(max_examples=600, deadline=None)
def test_canonicalising_twice_changes_nothing(text: str, base: str | None) -> None:
    found = canonicalize(text, base)
    if isinstance(found, CanonicalUrl):
        again = canonicalize(found.url)
        assert isinstance(again, CanonicalUrl)
        assert again.url == found.url
        assert again.dropped == ()
        assert (again.host, again.scheme, again.port) == (found.host, found.scheme, found.port)
    else:
        assert found.reason in {"bad_url", "bad_scheme", "bad_host", "bad_port", "too_long"}


@given(ADDRESSES, BASES)
@settings(max_examples=600, deadline=None)
def test_what_is_fetched_has_the_same_identity(text: str, base: str | None) -> None:
    found = canonicalize(text, base)
    if isinstance(found, CanonicalUrl):
        assert url_of(found.fetch_url) == found.url
        assert "#" not in found.fetch_url
        assert found.url.isascii()


@given(ADDRESSES, BASES)
@settings(max_examples=600, deadline=None)
def test_the_short_way_agrees_with_the_whatwg_parse(text: str, base: str | None) -> None:
    plain = urls._PLAIN.fullmatch(text)
    if plain:
        assert urls._locate_plain(plain, base) == urls.locate(text, base)


@given(st.text(max_size=50), st.one_of(st.none(), st.text(max_size=20)))
@settings(max_examples=500, deadline=None)
def test_no_text_makes_it_raise(text: str, base: str | None) -> None:
    canonicalize(text, base)


def test_a_megabyte_of_href_is_rejected_without_a_parse() -> None:
    assert canonicalize("https://example.com/" + "a" * (1 << 20)) == Reject("too_long")


def test_the_fetch_url_keeps_what_the_identity_drops() -> None:
    found = canonicalize("HTTPS://user:secret@Example.com:443/%7Ea;jsessionid=1?b=2&utm_source=x&a=1#top")
    assert isinstance(found, CanonicalUrl)
    assert found.url == "https://example.com/~a?a=1&b=2"
    assert found.fetch_url == "https://example.com/%7Ea;jsessionid=1?b=2&utm_source=x&a=1"
    assert found.dropped == ("path_session", "utm_source")
    assert (found.host, found.scheme, found.port) == ("example.com", "https", 443)


def test_a_short_section_id_is_no_session_but_a_token_is() -> None:
    assert url_of("http://example.com/?sid=12") == "http://example.com/?sid=12"
    assert url_of("http://example.com/?sid=9f86d081884c7d659a2feaa0c55ad015") == "http://example.com/"


def test_a_dot_segment_that_a_session_hid_is_resolved() -> None:
    assert url_of("http://example.com/a/..;jsessionid=1/b") == "http://example.com/b"


@pytest.mark.parametrize(
    ("text", "identity"),
    [
        # WHATWG 4.4, authority: userinfo, whatever it holds
        ("https://@example.com/", "https://example.com/"),
        ("https://:pw@example.com/", "https://example.com/"),
        ("https://us%40er:p@example.com/", "https://example.com/"),
        # slashes and backslashes
        ("\\\\example.org\\x", "https://example.org/x"),
        ("https:/\\example.org", "https://example.org/"),
        ("HTTP:example.org", "http://example.org/"),
        # hosts
        ("https://EXAMPLE.COM./", "https://example.com/"),
        ("http://XN--BCHER-KVA.example/", "http://xn--bcher-kva.example/"),
        ("http://fa\u00df.example/", "http://xn--fa-hia.example/"),
        ("http://\ufb00.example/", "http://ff.example/"),
        ("http://a_b.example/", "http://a_b.example/"),
        # WHATWG 3.5, IPv4 and IPv6
        ("http://0300.0250.0.1/", "http://192.168.0.1/"),
        ("http://0x7f000001/", "http://127.0.0.1/"),
        ("http://127.1/", "http://127.0.0.1/"),
        ("http://1.2.3.4./", "http://1.2.3.4/"),
        ("http://[::ffff:192.0.2.1]/", "http://[::ffff:c000:201]/"),
        ("http://[0:0::0]:80/", "http://[::]/"),
        # RFC 3986 6.2.2 and 5.2.4
        ("/%2e%2E/./b/%2e", "https://example.com/b/"),
        ("/a%2e/...", "https://example.com/a./..."),
        ("/a//../b", "https://example.com/a/b"),
        ("/%%41%1", "https://example.com/%25A%251"),
        ("/%c3%28", "https://example.com/%C3%28"),
        ("/a%00b", "https://example.com/a%00b"),
        # queries
        ("?", "https://example.com/a/b"),
        ("??", "https://example.com/a/b??"),
        ("?=1", "https://example.com/a/b?=1"),
        ("?b&a=&a", "https://example.com/a/b?a=&a&b"),
        ("?%75tm_source=x&a=\"<'>", "https://example.com/a/b?a=%22%3C%27%3E"),
        # what is trimmed, and what is left out anywhere
        (" \x00\t/x\n/y\x1f", "https://example.com/x/y"),
    ],
)
def test_the_corners_of_the_standards_have_one_identity(text: str, identity: str) -> None:
    assert url_of(text, "https://example.com/a/b?q=1#f") == identity


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("http://example.com:65536/", "bad_url"),
        ("http://example.com: 80/", "bad_url"),
        ("http://256.256.256.256/", "bad_url"),
        ("http://[2001:db8::1%25eth0]/", "bad_url"),
        ("http://ex%00ample.com/", "bad_url"),
        ("http://a\u200cb.example/", "bad_url"),
        ("http://xn--/", "bad_host"),
        ("http://a.xn--pokxncvks/", "bad_host"),
        ("https://example.com../", "bad_host"),
        ("https://./", "bad_host"),
        ("http://[::1]:0/", "bad_port"),
        ("data:text/html,x", "bad_scheme"),
        ("blob:https://example.com/x", "bad_scheme"),
        ("https:", "bad_url"),
    ],
)
def test_a_reject_has_a_reason(text: str, reason: str) -> None:
    assert canonicalize(text) == Reject(reason)


@pytest.mark.parametrize("host", [".example.com", "a..b", "x" * 64 + ".org", ".".join(["abcdefg"] * 32)])
def test_a_host_that_no_resolver_takes_is_rejected(host: str) -> None:
    assert canonicalize(f"http://{host}/") == Reject("bad_host")
