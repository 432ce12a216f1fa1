"""Headers, credentials and proxies: who gets them, over real sockets, and who never does."""

import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

import pytest

from crawler.core.clock import SystemClock
from crawler.core.config import parse_settings
from crawler.core.errors import ProxyFailed
from crawler.core.outcomes import Outcome
from crawler.core.secrets import resolve_secrets
from crawler.net.access import Access
from crawler.net.client import Client
from crawler.net.reply import Abandoned
from crawler.net.resolver import Resolver
from tests.web import proxy
from tests.web.certificates import certificates
from tests.web.proxy import ForwardProxy
from tests.web.server import ScriptedServer
from tests.web.site import PAGE

ENVIRONMENT = {"LOGIN": "joe:pw", "BEARER": "Bearer t0ken", "PROXY_LOGIN": "proxyjoe:pw"}
BASIC = "Basic am9lOnB3"
PROXY_BASIC = "Basic cHJveHlqb2U6cHc="
HOSTS = {"a.test": {"tls": "valid"}, "b.test": {"tls": "valid"}, "sub.a.test": {"tls": "valid"}}
BASES = (
    "https://a.test",
    "http://a.test",
    "https://a.test:8443",
    "http://a.test:8080",
    "https://b.test",
    "https://sub.a.test",
)


def serving(routes: Mapping[str, Any] | None = None, hosts: Mapping[str, Any] | None = None) -> ScriptedServer:
    pages = {f"{base}/*": {"body": PAGE} for base in BASES}
    return ScriptedServer({"servers": dict(hosts or HOSTS), "routes": pages | dict(routes or {}), "plan": []})


@contextmanager
def client_of(tables: Mapping[str, Any], allowed: str = "127.0.0.0/8", **limits: Any) -> Iterator[Client]:
    fetch = {"connect_seconds": 1, "read_seconds": 1, "total_seconds": 2} | limits | tables.get("fetch", {})
    settings = parse_settings({**tables, "fetch": fetch})
    client = Client(
        settings.fetch,
        "testbot/1.0 (+http://c.test/)",
        Resolver({}, [allowed]),
        SystemClock(),
        access=Access(settings, resolve_secrets(settings, ENVIRONMENT)),
        tls=ssl.create_default_context(cafile=certificates().authority),
    )
    with closing(client):
        yield client


@contextmanager
def through(
    way: ForwardProxy, server: ScriptedServer, tables: Mapping[str, Any], allowed: str = "127.0.0.0/8", **limits: Any
) -> Iterator[Client]:
    """A client that can reach the proxy."""
    with way, server, way.intercept(server), client_of(tables, allowed, **limits) as client:
        yield client


def received(server: ScriptedServer, name: str) -> dict[str, str | None]:
    """What each origin got of a header."""
    return {request.url.rpartition("/")[0]: request.header(name) for request in server.log}


# Headers and credentials


@pytest.mark.parametrize(
    ("own", "getting"),
    [
        ({}, {"https://a.test"}),
        ({"secret_origins": ["http://a.test:8080"]}, {"http://a.test:8080"}),
        ({"secret_origins": ["https://a.test:8443", "http://a.test"]}, {"https://a.test:8443", "http://a.test"}),
    ],
)
@pytest.mark.parametrize("secret", [{"credentials": "env:LOGIN"}, {"headers": {"Authorization": "env:BEARER"}}])
def test_a_secret_goes_to_its_origins_and_to_no_other_host_port_or_scheme(
    own: dict[str, Any], getting: set[str], secret: dict[str, Any]
) -> None:
    with serving() as server, server.intercept(), client_of({"host": {"a.test": own | secret}}) as client:
        assert {client.get(f"{base}/x").outcome for base in BASES} == {Outcome.OK}
        found = received(server, "authorization")
    expected = BASIC if "credentials" in secret else "Bearer t0ken"
    assert found == {base: expected if base in getting else None for base in BASES}


def test_a_plain_header_goes_to_every_origin_of_its_host_and_to_no_other_host() -> None:
    own = {"headers": {"Accept-Language": "de", "accept": "text/html"}}
    with serving() as server, server.intercept(), client_of({"host": {"A.test": own}}) as client:
        for base in BASES:
            client.get(f"{base}/x")
        languages, accepted = received(server, "accept-language"), received(server, "accept")
    assert languages == {base: "de" if "//a.test" in base else None for base in BASES}
    assert {base for base, value in accepted.items() if value == "text/html"} == {b for b in BASES if "//a.test" in b}


def test_a_host_written_as_an_address_has_its_own_headers() -> None:
    own = {"headers": {"X-Own": "1"}}
    script = {"servers": {"::1": {}}, "routes": {"http://[::1]/*": {"body": PAGE}}, "plan": []}
    with ScriptedServer(script) as server, server.intercept(), client_of({"host": {"[::1]": own}}, "::1/128") as client:
        client.get("http://[::1]/x")
        assert [request.header("x-own") for request in server.log] == ["1"]


# Proxies


def test_a_proxy_is_asked_for_the_whole_url_of_http_and_looks_the_host_up() -> None:
    tables = {"fetch": {"proxy": proxy.URL, "proxy_credentials": "env:PROXY_LOGIN"}}
    with (
        ForwardProxy(login=PROXY_BASIC) as way,
        serving() as server,
        way.intercept(server),
        client_of(tables) as client,
    ):
        replies = [client.get(f"http://a.test{rest}") for rest in ("/x?q=1", ":8080/y")]
        assert [(reply.outcome, reply.address, reply.sent) for reply in replies] == [(Outcome.OK, None, True)] * 2
        assert [request.url for request in server.log] == ["http://a.test/x?q=1", "http://a.test:8080/y"]
        assert [request.header("proxy-authorization") for request in server.log] == [None, None]
    assert [heard.line for heard in way.heard] == [
        "GET http://a.test/x?q=1 HTTP/1.1",
        "GET http://a.test:8080/y HTTP/1.1",
    ]
    assert [heard.headers["host"] for heard in way.heard] == ["a.test", "a.test:8080"]
    assert set(way.looked_up) == {proxy.NAME}


def test_a_proxy_leads_https_through_a_tunnel_that_it_cannot_look_into() -> None:
    own = {"proxy": proxy.URL, "proxy_credentials": "env:PROXY_LOGIN", "credentials": "env:LOGIN"}
    with (
        ForwardProxy(login=PROXY_BASIC) as way,
        serving() as server,
        way.intercept(server),
        client_of({"host": {"a.test": own}}) as client,
    ):
        assert [client.get(f"https://a.test/{name}").outcome for name in "xy"] == [Outcome.OK] * 2
        assert [request.header("authorization") for request in server.log] == [BASIC] * 2
        assert [request.header("proxy-authorization") for request in server.log] == [None] * 2
        assert [request.header("host") for request in server.log] == ["a.test"] * 2
    (heard,) = way.heard  # the tunnel is kept
    assert (heard.line, heard.headers) == ("CONNECT a.test:443 HTTP/1.0", {"proxy-authorization": PROXY_BASIC})


@pytest.mark.parametrize("kind", ["self_signed", "expired", "wrong_host"])
def test_a_certificate_is_verified_behind_a_proxy_as_without_it(kind: str) -> None:
    server = serving(hosts={"a.test": {"tls": kind}})
    tables = {"fetch": {"proxy": proxy.URL}}
    with ForwardProxy() as way, server, way.intercept(server), client_of(tables) as client:
        assert client.get("https://a.test/x").outcome is Outcome.TLS_FAILED
        assert server.log == []


def test_a_host_has_its_own_way() -> None:
    tables = {"fetch": {"proxy": proxy.URL}, "host": {"a.test": {"proxy": "direct"}}}
    with ForwardProxy() as way, serving() as server, way.intercept(server), client_of(tables) as client:
        assert client.get("http://a.test/x").address == "127.0.0.2"
        assert client.get("https://b.test/x").address is None
        assert (client.proxy_of("a.test"), client.proxy_of("b.test")) == (None, proxy.URL)
    assert [heard.line for heard in way.heard] == ["CONNECT b.test:443 HTTP/1.0"]


def test_only_the_proxys_own_address_is_checked_and_a_host_that_is_written_as_one() -> None:
    tables = {"fetch": {"proxy": proxy.URL}}
    hosts = {"inside.test": {"address": "10.0.0.1"}}
    server = serving({"http://inside.test/*": {"body": PAGE}}, hosts)
    with ForwardProxy() as way, server, way.intercept(server), client_of(tables, "127.0.0.50/32") as client:
        assert client.get("http://inside.test/x").outcome is Outcome.OK  # the proxy's operator guards that
        for host in ("10.0.0.1", "127.0.0.1", "[::ffff:10.0.0.1]", "localhost", "169.254.169.254", "0x7f.1"):
            assert client.get(f"http://{host}/x").outcome is Outcome.BLOCKED_ADDRESS
    assert len(way.heard) == 1


@pytest.mark.parametrize(
    ("url", "allowed", "said"),
    [
        ("http://proxy.test:3128", "10.0.0.0/8", "proxy.test is 127.0.0.50, which must not be asked"),
        ("http://none.test:3128", "127.0.0.0/8", "none.test"),
        ("http://a.test:9", "127.0.0.0/8", "Connection refused"),
        ("http://[::1]:9", "::1/128", r"proxy http://\[::1\]:9: .*Connection refused"),
    ],
)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_cannot_be_reached_is_no_outcome_of_a_site(url: str, allowed: str, said: str, scheme: str) -> None:
    with ForwardProxy() as way, serving() as server, way.intercept(server):
        with client_of({"fetch": {"proxy": url}}, allowed) as client, pytest.raises(ProxyFailed, match=said):
            client.get(f"{scheme}://b.test/x")
        assert server.log == []


def test_a_proxy_that_does_not_let_us_in_is_no_outcome_of_a_site() -> None:
    tables = {"fetch": {"proxy": proxy.URL, "proxy_credentials": "env:PROXY_LOGIN"}}
    with (
        ForwardProxy(login="Basic other") as way,
        serving() as server,
        way.intercept(server),
        client_of(tables) as client,
    ):
        with pytest.raises(ProxyFailed, match="407") as caught:
            client.get("https://a.test/x")
        assert PROXY_BASIC not in str(caught.value)
        # In plain HTTP a site could feign it to end the task.
        reply = client.get("http://a.test/x")
        assert (reply.outcome, reply.status, reply.body) == (Outcome.CONNECT_FAILED, None, None)


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 502 Bad Gateway\r\n\r\n", b"HTTP/1.1 403 No\r\n\r\n", b"no http\r\n\r\n"]
)
def test_a_host_that_the_proxy_does_not_reach_is_not_reached(answer: bytes) -> None:
    with through(ForwardProxy(connect_answer=answer), serving(), {"fetch": {"proxy": proxy.URL}}) as client:
        reply = client.get("https://a.test/x")
    assert reply.outcome in (Outcome.CONNECT_FAILED, Outcome.PROTOCOL_ERROR)
    assert (reply.sent, reply.status) == (False, None)


def test_the_total_time_holds_against_a_proxy_that_answers_by_the_byte() -> None:
    slow = ForwardProxy(connect_answer=b"HTTP/1.1 200 " + b"x" * 500, pause=0.2)
    with through(slow, serving(), {"fetch": {"proxy": proxy.URL}}, total_seconds=1) as client:
        started = time.monotonic()
        assert client.get("https://a.test/x").outcome is Outcome.TIMED_OUT
        assert time.monotonic() - started < 1.3


def test_a_proxy_that_answers_without_end_is_cut_off() -> None:
    answer = b"HTTP/1.1 200 OK\r\n" + b"X-More: 1\r\n" * 20_000
    with through(ForwardProxy(connect_answer=answer), serving(), {"fetch": {"proxy": proxy.URL}}) as client:
        assert client.get("https://a.test/x").outcome is Outcome.PROTOCOL_ERROR


@pytest.mark.parametrize("dns", ["ok", "timeout"])
def test_a_stop_while_a_proxy_is_sought_or_does_not_answer_is_no_failure_of_it(dns: str) -> None:
    server = serving(hosts={"way.test": {"listen": "blackhole", "dns": dns, "dns_time_s": 20}})
    tables = {"fetch": {"proxy": "http://way.test:80"}}
    with server, server.intercept(), client_of(tables, connect_seconds=20, total_seconds=20) as client:
        timer = threading.Timer(0.3, client.abandon)
        timer.start()
        with pytest.raises(Abandoned):
            client.get("https://a.test/x")
        timer.join()
