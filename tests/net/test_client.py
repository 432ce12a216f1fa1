"""One request against a server that misbehaves."""

import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from crawler.core.clock import SystemClock
from crawler.core.fetch_settings import FetchSettings
from crawler.core.outcomes import Outcome
from crawler.net.client import Client
from crawler.net.resolver import Resolver
from tests.web.site import PAGE, site

URL = "http://a.test/x"


@pytest.fixture(name="client")
def _client() -> Iterator[Client]:
    client = make_client()
    yield client
    client.close()


def make_client(**limits: Any) -> Client:
    settings = FetchSettings(**{"connect_seconds": 1, "read_seconds": 0.5, "total_seconds": 1} | limits)
    return Client(settings, "testbot/1.0 (+http://c.test/)", Resolver({}, ["127.0.0.0/8"]), SystemClock())


@pytest.mark.parametrize(
    "exchange",
    [
        {"body": {"random": [4000, 1]}, "framing": "drip:20"},
        {"body": PAGE, "headers": [["X-{i}", "v", "endless"]]},
        {"body": PAGE, "interim": [{"status": 103, "times": "endless", "every_s": 0.1}]},
        {"body": {"random": [4000, 1]}, "framing": "stall_after:100"},
        {"body": PAGE, "delay_before_headers_s": 5},
    ],
    ids=["body by the byte", "endless head", "endless interim answers", "silence in the body", "silence"],
)
def test_the_total_time_of_a_request_holds_against_a_slow_server(client: Client, exchange: dict[str, Any]) -> None:
    with site({URL: exchange}) as server, server.intercept():
        started = time.monotonic()
        reply = client.get(URL)
        assert reply.outcome is Outcome.TIMED_OUT
        assert time.monotonic() - started < 1.3
        assert reply.sent
        assert reply.body is None


def test_a_body_is_cut_at_the_limit_after_decoding() -> None:
    exchange = {"body": {"bomb": ["gzip", 64 << 20]}}
    server, client = site({URL: exchange}), make_client(max_body_bytes=100_000)
    with server, server.intercept(), closing(client):
        reply = client.get(URL)
    assert (reply.outcome, reply.truncated, reply.body) == (Outcome.OK, True, bytes(100_000))
    assert reply.wire_bytes < 200_000


def test_a_body_of_exactly_the_limit_is_whole() -> None:
    server, client = site({URL: {"body": {"repeat": ["x", 2048]}}}), make_client(max_body_bytes=2048)
    with server, server.intercept(), closing(client):
        reply = client.get(URL)
    assert (reply.truncated, len(reply.body or b"")) == (False, 2048)


@pytest.mark.parametrize("framing", ["wrong_length:+10", "cut_chunk", "bad_chunk", "reset_after:20"])
def test_a_body_that_ends_too_early_is_no_body(client: Client, framing: str) -> None:
    with site({URL: {"body": {"random": [9000, 1]}, "framing": framing}}) as server, server.intercept():
        reply = client.get(URL)
    assert (reply.outcome, reply.body, reply.status) == (Outcome.PROTOCOL_ERROR, None, 200)


def test_an_unwanted_type_ends_the_request_before_its_body(client: Client) -> None:
    exchange = {"headers": [["Content-Type", "image/png"]], "body": {"endless": "x"}, "framing": "declare:99999999"}
    with site({URL: exchange}) as server, server.intercept():
        reply = client.get(URL)
    assert (reply.outcome, reply.body, reply.wire_bytes) == (Outcome.UNWANTED_TYPE, None, 0)


def test_cookies_are_never_kept_and_redirects_never_followed(client: Client) -> None:
    exchange = {"status": 302, "headers": [["Location", "/y"], ["Set-Cookie", "a=1; Path=/"]], "body": "moved"}
    with site({URL: exchange}) as server, server.intercept():
        assert client.get(URL).outcome is Outcome.REDIRECTED
        assert client.get("http://a.test/y").outcome is Outcome.OK
        assert [request.header("cookie") for request in server.log] == [None, None]


def test_a_connection_serves_the_next_request_and_a_closed_one_is_replaced(client: Client) -> None:
    routes = {"http://a.test/1": {"body": PAGE}, "http://a.test/2": {"body": PAGE, "after": "drop_next"}}
    with site(routes) as server, server.intercept():
        replies = [client.get(f"http://a.test/{name}") for name in ("1", "2", "3")]
        assert [reply.outcome for reply in replies] == [Outcome.OK] * 3
        assert len(server.connects) == 2


def test_surplus_bytes_end_a_connection(client: Client) -> None:
    with site({URL: {"body": "12345678", "framing": "wrong_length:-3", "after": "keep"}}) as server, server.intercept():
        assert client.get(URL).body == b"12345"
        assert client.get("http://a.test/y").outcome is Outcome.OK
        assert len(server.connects) == 2


def test_a_target_is_requested_as_it_is_written(client: Client) -> None:
    with site() as server, server.intercept():
        for url in ("http://user:pw@a.test/a%2fb/~x;p?q=%41&r=1#f", "http://a.test?q", "http://A.TEST./é x"):
            assert client.get(url).outcome is Outcome.OK
        assert [request.url.removeprefix("http://a.test") for request in server.log] == [
            "/a%2fb/~x;p?q=%41&r=1",
            "/?q",
            "/%C3%A9%20x",
        ]
        assert {request.header("host") for request in server.log} == {"a.test"}
        assert {request.header("authorization") for request in server.log} == {None}


def test_a_304_that_nobody_asked_for_is_no_answer(client: Client) -> None:
    with site({URL: {"status": 304}}) as server, server.intercept():
        assert client.get(URL).outcome is Outcome.PROTOCOL_ERROR
        assert client.get(URL, {"If-None-Match": '"a"'}).outcome is Outcome.NOT_MODIFIED


def test_an_error_is_short_and_printable(client: Client) -> None:
    raw = "SFRUUC8xLjEgeHh4eA0KYQBiG1szMW3/" + "eHh4eHh4eHh4eHh4eHh4" * 40
    with site({URL: {"raw": raw}}) as server, server.intercept():
        error = client.get(URL).error
    assert error is not None
    assert error.isprintable()
    assert len(error) <= 200


def test_nobody_is_asked_who_does_not_exist_or_must_not_be(client: Client) -> None:
    hosts = {"a.test": {}, "inside.test": {"address": "10.0.0.1"}, "refuses.test": {"listen": "refuse"}}
    with site(hosts=hosts) as server, server.intercept():
        outcomes = [client.get(f"http://{host}/") for host in ("gone.test", "inside.test", "refuses.test")]
        assert [reply.outcome for reply in outcomes] == [
            Outcome.DNS_FAILED,
            Outcome.BLOCKED_ADDRESS,
            Outcome.CONNECT_FAILED,
        ]
        assert not any(reply.sent for reply in outcomes)
        assert {address for address, _ in server.connects} == {"127.0.0.4"}


def test_a_dead_address_of_a_host_is_passed_over(client: Client) -> None:
    dead = {"address": "127.0.0.9", "listen": "refuse"}
    hosts = {"two.test": {"address": [["127.0.0.9", "127.0.0.2"]]}, "dead.test": dead}
    with site(hosts=hosts) as server, server.intercept():
        reply = client.get("http://two.test/")
    assert (reply.outcome, reply.address) == (Outcome.OK, "127.0.0.2")


def test_an_instant_and_its_monotonic_twin_belong_together(client: Client) -> None:
    with site() as server, server.intercept():
        before = time.monotonic()
        reply = client.get(URL)
        assert before <= reply.ended - reply.elapsed
        assert (reply.ended_at - reply.fetched_at).total_seconds() == pytest.approx(reply.elapsed, abs=0.05)


@pytest.mark.parametrize("value", ['"a\r\nX: y"', '"a\nX: y"', '"a\rX: y"', '"a\0"', '"\u20ac"'])
def test_a_header_that_would_be_more_than_one_line_is_not_sent(client: Client, value: str) -> None:
    with site({URL: {"body": PAGE}}) as server, server.intercept():
        reply = client.get(URL, {"If-None-Match": value})
    assert (reply.outcome, reply.sent) == (Outcome.PROTOCOL_ERROR, False)
