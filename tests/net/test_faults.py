"""Every fault of HTTP that a crawler meets, over real sockets: what it is called, and that it costs no other page."""

import base64
import itertools
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

import pytest

from crawler.core.clock import SystemClock
from crawler.core.fetch_settings import FetchSettings
from crawler.core.outcomes import Outcome
from crawler.net.client import Client
from crawler.net.decoding import zstd
from crawler.net.reply import Reply
from crawler.net.resolver import Resolver
from tests.web.certificates import certificates
from tests.web.names import intercepted
from tests.web.recipes import make
from tests.web.server import ScriptedServer
from tests.web.site import PAGE, site

URL = "http://a.test/x"
BODY = make(PAGE)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
CODINGS = ["gzip", "x-gzip", "deflate-zlib", "deflate-raw", "br", *(["zstd"] if zstd else [])]


@contextmanager
def client_of(**limits: Any) -> Iterator[Client]:
    settings = FetchSettings(**{"connect_seconds": 1, "read_seconds": 0.5, "total_seconds": 1} | limits)
    trusting = ssl.create_default_context(cafile=certificates().authority)
    resolver = Resolver({}, ["127.0.0.0/8"])
    with closing(Client(settings, "testbot/1.0 (+http://c.test/)", resolver, SystemClock(), tls=trusting)) as client:
        yield client


def raw(octets: bytes, **more: Any) -> dict[str, Any]:
    return {"raw": base64.b64encode(octets).decode(), **more}


def fetched(exchange: dict[str, Any], **limits: Any) -> Reply:
    """What came of one page; the next one, on whatever connection, must be as it is."""
    with site({URL: exchange}) as server, server.intercept(), client_of(**limits) as client:
        reply = client.get(URL)
        after = client.get("http://a.test/after")
        assert (after.outcome, after.body) == (Outcome.OK, BODY)
    if reply.outcome is not Outcome.OK:
        assert (reply.body, reply.truncated) == (None, False)
    return reply


# Codings


@pytest.mark.parametrize("framing", ["length", "chunked", "close"])
@pytest.mark.parametrize("coding", CODINGS)
def test_each_coding_is_undone_in_each_framing(coding: str, framing: str) -> None:
    reply = fetched({"body": PAGE, "encoding": [coding], "framing": framing})
    assert (reply.outcome, reply.body) == (Outcome.OK, BODY)


@pytest.mark.parametrize(("inner", "outer"), list(itertools.product(CODINGS, repeat=2)))
def test_two_codings_are_undone_in_the_reverse_order(inner: str, outer: str) -> None:
    reply = fetched({"body": PAGE, "encoding": [inner, outer]})
    assert (reply.outcome, reply.body) == (Outcome.OK, BODY)


def test_codings_in_two_headers_are_one_list() -> None:
    headers = [["Content-Encoding", "gzip"], ["Content-Encoding", "br"]]
    assert fetched({"body": PAGE, "encoding": ["gzip", "br"], "headers": headers}).body == BODY


@pytest.mark.parametrize("damage", ["cut:3", "corrupt:-5", "corrupt:0"])
@pytest.mark.parametrize("coding", ["gzip", "deflate-zlib"])
def test_a_body_that_cannot_be_decoded_is_bad_content(coding: str, damage: str) -> None:
    assert fetched({"body": PAGE, "encoding": [coding, damage]}).outcome is Outcome.BAD_CONTENT


@pytest.mark.parametrize("name", ["gzip", "compress", "exi", "gzip;q=1"])
def test_a_coding_that_is_claimed_but_not_there_or_not_known_is_bad_content(name: str) -> None:
    assert fetched({"body": PAGE, "headers": [["Content-Encoding", name]]}).outcome is Outcome.BAD_CONTENT


@pytest.mark.parametrize("bomb", ["gzip", *(["zstd"] if zstd else [])])
@pytest.mark.parametrize("outer", [[], ["gzip"], ["br"]])
def test_a_bomb_is_cut_at_the_limit_also_inside_another_coding(bomb: str, outer: list[str]) -> None:
    reply = fetched({"body": {"bomb": [bomb, 200 << 20]}, "encoding": outer}, max_body_bytes=100_000, total_seconds=5)
    assert (reply.outcome, reply.truncated, reply.body) == (Outcome.OK, True, bytes(100_000))


# Lengths and ends


@pytest.mark.parametrize("framing", ["declare:99999999999", "chunked", "close"])
def test_an_endless_body_is_cut_at_the_limit(framing: str) -> None:
    reply = fetched({"body": {"endless": "x"}, "framing": framing}, max_body_bytes=50_000, total_seconds=5)
    assert (reply.outcome, reply.truncated, reply.body) == (Outcome.OK, True, b"x" * 50_000)


@pytest.mark.parametrize(
    "exchange",
    [
        {"body": PAGE, "framing": "wrong_length:+10"},
        {"body": PAGE, "framing": "wrong_length:+10", "encoding": ["gzip"]},
        {"body": {"random": [9000, 1]}, "framing": "cut_chunk"},
        {"body": {"random": [9000, 1]}, "framing": "bad_chunk"},
        {"body": {"random": [9000, 1]}, "framing": "reset_after:5000"},
        raw(CHUNKED + b"5\r\nhello\r\n"),
        raw(CHUNKED + b"-5\r\nhello\r\n0\r\n\r\n"),
        raw(CHUNKED + b"\r\nhello\r\n0\r\n\r\n"),
        raw(CHUNKED + b"3\r\nhello\r\n0\r\n\r\n"),
        raw(CHUNKED + b"ffffffffffffffffffff\r\nhello\r\n0\r\n\r\n"),
        raw(CHUNKED + b"5;" + b"x" * 70_000 + b"\r\nhello\r\n0\r\n\r\n"),
        raw(CHUNKED + b"5" * 70_000),
        raw(HEAD + b"Content-Length: 100000000000000000000000000\r\n\r\nhello"),
        {"body": "1234567", "headers": [["Content-Length", "5"], ["Content-Length", "7"]], "framing": "close"},
    ],
)
def test_a_body_that_ends_early_or_says_two_things_of_its_end_is_no_body(exchange: dict[str, Any]) -> None:
    assert fetched(exchange).outcome is Outcome.PROTOCOL_ERROR


@pytest.mark.parametrize(
    "octets",
    [
        CHUNKED + b"5;name=value\r\nhello\r\n0\r\nX-Trailer: 1\r\n\r\n",
        CHUNKED + b"5  \r\nhello\r\n00000\r\n\r\n",
        HEAD + b"Content-Length: 7\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",  # RFC 9112 6.3
        HEAD + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
        HEAD + b"Content-Length: 5\r\n\r\nhello, and what nobody asked for",
        HEAD + b"\r\nhello",
        b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\nhello",
        b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nhello",
        b"HTTP/1.1 200\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 5\n\nhello",
    ],
)
def test_what_the_wild_writes_is_read_as_it_is_meant(octets: bytes) -> None:
    reply = fetched(raw(octets))
    assert (reply.outcome, reply.body) == (Outcome.OK, b"hello")


# Heads


@pytest.mark.parametrize(
    "octets",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Type: image/p",  # else it would be an unwanted type
        b"HTTP/1.1 404 Not Found\r\nContent-Le",  # else the page would be gone
        b"<html>HTTP/0.9</html>",
        b"HTTP/2.0 200 OK\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n",
        b"\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00d\x00\x04\x00\x00\x00\x00",  # HTTP/2
        b"\x16\x03\x01\x02\x00",  # TLS
        HEAD + b"X-Big: " + b"x" * 70_000 + b"\r\n\r\nhello",
        HEAD + b"X: y\r\n" * 20_000 + b"\r\nhello",
        b"HTTP/1.1 200 " + b"x" * 70_000 + b"\r\n\r\nhello",
        b"HTTP/1.1 103 X\r\nLink: </a>\r\n\r\n" * 5_000 + HEAD + b"Content-Length: 5\r\n\r\nhello",
    ],
    ids=lambda octets: octets[:24].decode("latin-1").encode("unicode_escape").decode() or "nothing",
)
def test_a_head_that_is_none_or_too_long_is_a_protocol_error(octets: bytes) -> None:
    assert fetched(raw(octets)).outcome is Outcome.PROTOCOL_ERROR


def test_many_headers_and_interim_answers_within_the_limit_are_read() -> None:
    interim = [{"status": 100}, {"status": 102}, {"status": 103, "headers": [["Link", "</s.css>"]], "times": 20}]
    reply = fetched({"body": PAGE, "headers": [["X-{i}", "v", 500]], "interim": interim})
    assert (reply.outcome, reply.status, reply.body) == (Outcome.OK, 200, BODY)
    assert reply.header("x-499") == "v"
    assert reply.header("link") is None


def test_headers_may_hold_any_octet_and_a_line_that_is_none_is_dropped() -> None:
    lines = (
        b"X-Octets: \xff\xfe\r\nno header at all\r\nX-Nul: a\x00b\r\nX-Folded: one\r\n two\r\nContent-Length: 5\r\n\r\n"
    )
    reply = fetched(raw(HEAD + lines + b"hello"))
    assert (reply.outcome, reply.body) == (Outcome.OK, b"hello")
    assert reply.header("x-octets") == "\xff\xfe"
    assert "\x00" not in (reply.header("x-nul") or "\x00")


# Statuses


@pytest.mark.parametrize(
    ("exchange", "outcome"),
    [
        ({"status": 204}, Outcome.BAD_CONTENT),
        ({"status": 205, "headers": [["Content-Length", "0"]]}, Outcome.BAD_CONTENT),
        ({"status": 206, "body": PAGE, "headers": [["Content-Range", "bytes 0-796/797"]]}, Outcome.PROTOCOL_ERROR),
        ({"status": 203, "body": PAGE}, Outcome.OK),
        ({"status": 304}, Outcome.PROTOCOL_ERROR),
        ({"status": 404, "body": "no"}, Outcome.GONE),
        ({"status": 410}, Outcome.GONE),
        ({"status": 403}, Outcome.REFUSED),
        ({"status": 407}, Outcome.CLIENT_ERROR),
        ({"status": 418}, Outcome.CLIENT_ERROR),
        ({"status": 429}, Outcome.RATE_LIMITED),
        ({"status": 500}, Outcome.SERVER_ERROR),
        ({"status": 503}, Outcome.SERVER_ERROR),
        ({"status": 503, "headers": [["Retry-After", "9"]]}, Outcome.RATE_LIMITED),
        ({"status": 599}, Outcome.SERVER_ERROR),
        ({"status": 600}, Outcome.PROTOCOL_ERROR),
    ],
)
def test_each_status_has_its_outcome(exchange: dict[str, Any], outcome: Outcome) -> None:
    reply = fetched(exchange)
    assert (reply.outcome, reply.status) == (outcome, exchange["status"])


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed_and_none_is_one_without_a_location(status: int) -> None:
    routes = {
        URL: {"status": status, "headers": [["Location", "http://b.test/y"]], "body": "moved"},
        "http://a.test/z": {"status": status},
        "http://a.test/e": {"status": status, "headers": [["Location", " "]]},
    }
    with site(routes, hosts=["a.test", "b.test"]) as server, server.intercept(), client_of() as client:
        replies = [client.get(url) for url in routes]
        assert [reply.outcome for reply in replies] == [Outcome.REDIRECTED, *[Outcome.PROTOCOL_ERROR] * 2]
        assert len(server.log) == 3


# Types


def test_an_unwanted_type_ends_with_its_head_and_nothing_of_its_body_is_waited_for() -> None:
    exchange = {"headers": [["Content-Type", "video/mp4"]], "body": {"endless": "x"}, "framing": "declare:99999999999"}
    with site({URL: exchange}) as server, server.intercept(), client_of() as client:
        reply = client.get(URL)
        assert (reply.outcome, reply.body, reply.wire_bytes, reply.error) == (
            Outcome.UNWANTED_TYPE,
            None,
            0,
            "video/mp4",
        )
        assert client.get("http://a.test/after").outcome is Outcome.OK
        assert len(server.connects) == 2  # the rest of the body would be in the way


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [
        ("text/html;charset=utf-8", Outcome.OK),
        ("TEXT/HTML ; x", Outcome.OK),
        ("application/xhtml+xml", Outcome.OK),
        ("text/plain", Outcome.OK),
        ("application/rss+xml", Outcome.OK),
        ("", Outcome.OK),
        ("nonsense", Outcome.OK),  # what cannot be read is looked into
        ("application/pdf", Outcome.UNWANTED_TYPE),
        ("text/htmlx", Outcome.UNWANTED_TYPE),
        ("multipart/x-mixed-replace; boundary=x", Outcome.UNWANTED_TYPE),
    ],
)
def test_the_type_decides_whether_a_body_is_wanted(kind: str, outcome: Outcome) -> None:
    assert fetched({"body": PAGE, "headers": [["Content-Type", kind]]}).outcome is outcome


# Cookies


def test_no_cookie_is_kept_for_the_page_the_host_another_host_or_another_scheme() -> None:
    hosts = {"a.test": {"tls": "valid"}, "b.a.test": {}, "c.test": {}}
    cookie = [
        ["Set-Cookie", f"{name}=1; Path=/; Max-Age=999{more}"] for name, more in (("a", ""), ("b", "; Domain=test"))
    ]
    urls = [URL, URL, "http://a.test/y", "https://a.test/y", "http://b.a.test/y", "http://c.test/y"]
    routes = {url.rpartition("/")[0] + "/*": {"body": PAGE, "headers": cookie} for url in urls}
    with ScriptedServer({"servers": hosts, "routes": routes, "plan": []}) as server:
        with server.intercept(), client_of() as client:
            replies = [client.get(url) for url in urls]
        assert {reply.outcome for reply in replies} == {Outcome.OK}
        assert all(reply.header("set-cookie") for reply in replies)
        assert {request.header("cookie") for request in server.log} == {None}


# TLS


@pytest.mark.parametrize("kind", ["self_signed", "expired", "wrong_host", "plain_text"])
def test_a_certificate_that_does_not_verify_ends_the_request_before_it_is_sent(kind: str) -> None:
    hosts = {"a.test": {"tls": kind}, "other.test": {"tls": "valid"}}
    script = {"servers": hosts, "routes": {"https://other.test/*": {"body": PAGE}}, "plan": []}
    with ScriptedServer(script) as server, server.intercept(), client_of() as client:
        reply = client.get("https://a.test/x")
        assert (reply.outcome, reply.sent, reply.status) == (Outcome.TLS_FAILED, False, None)
        assert reply.error
        assert client.get("https://other.test/x").outcome is Outcome.OK
        assert [request.url for request in server.log] == ["https://other.test/x"]


# Time


class Dripping:
    """A server that sends `octets` one by one, `pause` seconds apart, whatever it is asked."""

    def __init__(self, octets: bytes, pause: float) -> None:
        self._octets = octets
        self._pause = pause
        self._stopping = threading.Event()
        self._listener = socket.socket()
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(8)
        self._where: tuple[str, int] = self._listener.getsockname()

    def __enter__(self) -> "Dripping":
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._listener.close()

    def resolve(self, _host: str) -> list[str]:
        return ["127.0.0.2"]

    def dial(self, _address: str, _port: int) -> tuple[str, int]:
        return self._where

    def _serve(self) -> None:
        with suppress(OSError):
            client, _ = self._listener.accept()
            with client:
                for octet in self._octets:
                    client.sendall(bytes([octet]))
                    if self._stopping.wait(self._pause):
                        return


@pytest.mark.parametrize(
    ("url", "octets", "sent"),
    [
        (URL, HEAD + b"Content-Length: 999\r\n\r\n" + b"x" * 999, True),
        (URL, HEAD + b"X-Long: " + b"x" * 999, True),
        (URL, b"HTTP/1.1 103 X\r\n\r\n" * 99, True),
        ("https://a.test/x", b"\x16\x03\x03\x00\x7a" + b"\x02" * 999, False),  # a TLS record, its handshake within
    ],
    ids=["body", "head", "interim answers", "TLS handshake"],
)
def test_the_total_time_holds_against_a_byte_now_and_then(url: str, octets: bytes, sent: bool) -> None:
    with Dripping(octets, pause=0.1) as server, intercepted(server), client_of() as client:
        started = time.monotonic()
        reply = client.get(url)
        assert (reply.outcome, reply.sent) == (Outcome.TIMED_OUT, sent)
        assert time.monotonic() - started < 2
