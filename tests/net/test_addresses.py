"""The address that was checked is the one that is asked, by the host's own name; over real sockets."""

import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from crawler.core.clock import SystemClock
from crawler.core.cycle import Cycle
from crawler.core.fetch_settings import FetchSettings
from crawler.core.outcomes import Outcome
from crawler.net.client import Client
from crawler.net.resolver import Resolver
from crawler.stages import fetch
from tests.stages.memory_ledger import MemoryLedger, make_settings
from tests.web.certificates import certificates
from tests.web.server import ScriptedServer
from tests.web.site import PAGE, site

GOOD, BAD = "127.0.0.2", "127.0.0.66"


@contextmanager
def client_of(*allowed: str, dns_seconds: float = 300.0, **limits: float) -> Iterator[Client]:
    settings = FetchSettings(**{"connect_seconds": 1, "read_seconds": 1, "total_seconds": 3} | limits)
    resolver = Resolver({}, allowed, good_seconds=dns_seconds, bad_seconds=dns_seconds)
    trusting = ssl.create_default_context(cafile=certificates().authority)
    client = Client(settings, "testbot/1.0 (+http://c.test/)", resolver, SystemClock(), tls=trusting)
    with closing(client):
        yield client


def asked(server: ScriptedServer) -> list[str]:
    """The addresses that were connected to, in order."""
    return [address for address, _ in server.connects]


# DNS rebinding


def test_a_name_that_moves_between_the_check_and_the_connection_is_asked_where_it_was_checked() -> None:
    hosts = {"a.test": {"address": [GOOD, BAD]}}  # every look-up but the first says BAD
    with site(hosts=hosts) as server, server.intercept(), client_of(f"{GOOD}/32") as client:
        replies = [client.get(f"http://a.test/{number}") for number in range(3)]
        assert {(reply.outcome, reply.address) for reply in replies} == {(Outcome.OK, GOOD)}
        assert asked(server) == [GOOD]


def test_each_look_up_is_checked_anew_and_an_open_connection_is_no_way_around() -> None:
    hosts = {"a.test": {"address": [GOOD, BAD, GOOD, [BAD, GOOD]]}}
    with site(hosts=hosts) as server, server.intercept(), client_of(f"{GOOD}/32", dns_seconds=0) as client:
        outcomes = [client.get(f"http://a.test/{number}").outcome for number in range(4)]
        assert outcomes == [Outcome.OK, Outcome.BLOCKED_ADDRESS, Outcome.OK, Outcome.OK]
        assert set(asked(server)) == {GOOD}


def test_a_connection_to_an_address_that_the_host_has_left_is_not_used_again() -> None:
    hosts = {"a.test": {"address": ["127.0.0.2", "127.0.0.3"]}}
    with site(hosts=hosts) as server, server.intercept(), client_of("127.0.0.0/8", dns_seconds=0) as client:
        assert [client.get(f"http://a.test/{n}").address for n in range(3)] == ["127.0.0.2", "127.0.0.3", "127.0.0.3"]
        assert asked(server) == ["127.0.0.2", "127.0.0.3"]


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost/x", "http://LOCALHOST./x", "http://a.localhost/x", "http://127.0.0.1/x", "http://127.1/x",
        "http://2130706433/x", "http://0x7f000001/x", "http://0177.0.0.1/x", "http://0/x", "http://[::1]/x",
        "http://[::ffff:127.0.0.1]/x", "http://[::127.0.0.1]/x", "http://[64:ff9b::7f00:1]/x", "http://[2002:7f00:1::]/x",
        "http://[::]/x", "http://user:pw@127.0.0.1:8080/x", "http://169.254.169.254/latest/meta-data/",
    ],
)  # fmt: skip
def test_a_private_address_in_a_url_is_never_connected_to(url: str) -> None:
    with site() as server, server.intercept(), client_of() as client:
        reply = client.get(url)
        assert (reply.outcome, reply.sent) == (Outcome.BLOCKED_ADDRESS, False)
        assert asked(server) == []


# Redirects


def crawl(ledger: MemoryLedger, server: ScriptedServer, allowed: list[str]) -> None:
    cycle = Cycle(datetime.now(UTC).date())
    with server.intercept():
        fetch.fetch(ledger, make_settings(fetch={"allow_private": allowed}), SystemClock(), cycle, 0, 1)


@pytest.mark.parametrize("aim", ["http://inside.test/r", f"http://{BAD}/r", "http://localhost/r", "http://[::1]/r"])
def test_a_robots_txt_that_redirects_to_a_private_address_is_not_followed(aim: str) -> None:
    routes = {"http://a.test/robots.txt": {"status": 301, "headers": [["Location", aim]]}}
    hosts: Mapping[str, Any] = {"a.test": {"address": GOOD}, "inside.test": {"address": BAD}}
    ledger = MemoryLedger(["http://a.test/x"])
    with site(routes, hosts=hosts) as server:
        crawl(ledger, server, [f"{GOOD}/32"])
        assert set(asked(server)) == {GOOD}
    assert ledger.outcome("http://a.test/x") == "robots_unreachable"
    assert ledger.rows["robots"][-1]["outcome"] == "blocked_address"


def test_a_page_that_redirects_to_a_private_address_leads_to_a_page_that_is_refused() -> None:
    routes = {"http://a.test/x": {"status": 302, "headers": [["Location", f"http://{BAD}/admin"]]}}
    first = MemoryLedger(["http://a.test/x"])
    with site(routes, hosts={"a.test": {"address": GOOD}}) as server:
        crawl(first, server, [f"{GOOD}/32"])
        (link,) = first.rows["link"]
        second = MemoryLedger([link["target_url"]])
        crawl(second, server, [f"{GOOD}/32"])
        assert set(asked(server)) == {GOOD}
    assert second.outcomes() == {f"http://{BAD}/admin": "blocked_address"}


# Names


def test_tls_and_http_name_the_host_although_the_connection_names_an_address() -> None:
    hosts = {name: {"address": GOOD, "tls": "valid"} for name in ("a.test", "b.test")}
    script = {"servers": hosts, "routes": {f"https://{host}/*": {"body": PAGE} for host in hosts}, "plan": []}
    with ScriptedServer(script) as server, server.intercept(), client_of("127.0.0.0/8") as client:
        # The server has one certificate a name and picks by SNI; a wrong one would not verify.
        assert [client.get(f"https://{host}/x").outcome for host in hosts] == [Outcome.OK] * 2
        assert [(request.header("host"), request.address) for request in server.log] == [(h, GOOD) for h in hosts]


def test_an_address_is_no_name_for_a_certificate() -> None:
    script = {"servers": {"a.test": {"address": GOOD, "tls": "valid"}}, "routes": {}, "plan": []}
    with ScriptedServer(script) as server, server.intercept(), client_of("127.0.0.0/8") as client:
        assert client.get(f"https://{GOOD}/x").outcome is Outcome.TLS_FAILED
        assert server.log == []


# Several addresses


@pytest.mark.parametrize("dead", ["refuse", "blackhole"])
def test_an_address_that_does_not_answer_leaves_time_for_the_others_and_is_tried_last_from_then_on(dead: str) -> None:
    hosts = {
        "two.test": {"address": [["127.0.0.9", GOOD]]},
        "dead.test": {"address": "127.0.0.9", "listen": dead},
    }
    routes = {"http://two.test/*": {"body": PAGE, "after": "close"}}
    limits = {"connect_seconds": 3, "total_seconds": 2.4}  # half of the one is less than the other
    with site(routes, hosts=hosts) as server, server.intercept(), client_of("127.0.0.0/8", **limits) as client:
        replies = [client.get(f"http://two.test/{number}") for number in range(3)]
        assert {(reply.outcome, reply.address) for reply in replies} == {(Outcome.OK, GOOD)}
        assert asked(server) == ["127.0.0.9", GOOD, GOOD, GOOD]


def test_the_connect_time_is_for_all_addresses_together() -> None:
    several = ["127.0.0.9", "127.0.0.10", "127.0.0.11", "127.0.0.12"]
    hosts: dict[str, Any] = {"all.test": {"address": [several]}}
    hosts |= {f"{n}.test": {"address": address, "listen": "blackhole"} for n, address in enumerate(several)}
    with site(hosts=hosts) as server, server.intercept(), client_of("127.0.0.0/8", connect_seconds=0.8) as client:
        started = time.monotonic()
        assert client.get("http://all.test/x").outcome is Outcome.TIMED_OUT
        assert time.monotonic() - started < 2
        assert asked(server) == several


def test_an_ipv6_address_is_passed_over_where_it_does_not_answer() -> None:
    hosts = {"a.test": {"address": [["::1", GOOD]]}, "six.test": {"address": "::1", "listen": "refuse"}}
    with site(hosts=hosts) as server, server.intercept(), client_of("127.0.0.0/8", "::1/128") as client:
        assert client.get("http://a.test/x").address == GOOD


def test_dns_that_does_not_answer_is_given_up_within_the_requests_time() -> None:
    hosts = {"slow.test": {"dns": "timeout", "dns_time_s": 10}}
    with site(hosts=hosts) as server, server.intercept(), client_of("127.0.0.0/8") as client:
        started = time.monotonic()
        assert client.get("http://slow.test/x").outcome is Outcome.DNS_FAILED
        assert time.monotonic() - started < 5
