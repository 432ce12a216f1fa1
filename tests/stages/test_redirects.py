"""Redirects are facts about a page: where they lead becomes a link, and nothing is followed."""

from datetime import UTC, datetime
from typing import Any

import pytest

from crawler.core.clock import SystemClock
from crawler.core.cycle import Cycle
from crawler.stages import fetch
from tests.stages.memory_ledger import MemoryLedger, make_settings
from tests.web.server import ScriptedServer
from tests.web.site import PAGE, site

URL = "http://a.test/dir/x?k=1"


def crawl(ledger: MemoryLedger, server: ScriptedServer) -> None:
    with server.intercept():
        fetch.fetch(ledger, make_settings(), SystemClock(), Cycle(datetime.now(UTC).date()), 0, 1)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    ("location", "aim"),
    [
        ("/b", "http://a.test/b"),
        ("b", "http://a.test/dir/b"),
        ("../b", "http://a.test/b"),
        ("?q=1", "http://a.test/dir/x?q=1"),
        ("//b.test/x", "http://b.test/x"),
        ("HTTPS://B.TEST:443/x", "https://b.test/x"),
        ("http://b.test/x#part", "http://b.test/x"),
        (" /b ", "http://a.test/b"),
        ("/a b", "http://a.test/a%20b"),
        ("/caf\u00c3\u00a9", "http://a.test/caf%C3%A9"),  # octets of UTF-8
        ("/caf\u00e9", "http://a.test/caf%E9"),  # of Latin-1
        ("http://b\u00c3\u00bccher.test/", "http://xn--bcher-kva.test/"),
        ("http://joe:pw@b.test/", "http://b.test/"),
    ],
)
def test_a_location_of_any_form_becomes_a_link_to_where_it_leads(status: int, location: str, aim: str) -> None:
    exchange = {"status": status, "headers": [["Location", location]], "body": "<a href=/not-a-page>moved</a>"}
    ledger = MemoryLedger([URL])
    with site({URL: exchange}) as server:
        crawl(ledger, server)
        assert len(server.requests("http://a.test/dir/*")) == 1
    (row,) = ledger.rows["observation"]
    assert (row["outcome"], row["status"], row["redirect_url"]) == ("redirected", status, aim)
    assert (row["stored"], row["body_digest"], row["content_changed"]) == (False, None, None)
    assert [(link["kind"], link["target_url"]) for link in ledger.rows["link"]] == [("redirect", aim)]


@pytest.mark.parametrize(
    ("headers", "outcome"),
    [
        ([], "protocol_error"),
        ([["Location", ""]], "protocol_error"),
        ([["Location", "#part"]], "redirected"),  # to itself
        ([["Location", URL]], "redirected"),
        ([["Location", "javascript:alert(1)"]], "redirected"),
        ([["Location", "data:text/html,x"]], "redirected"),
        ([["Location", "ftp://a.test/x"]], "redirected"),
        ([["Location", "http://"]], "redirected"),
        ([["Location", "http://[::1/x"]], "redirected"),
        ([["Location", "http://a.test:99999/"]], "redirected"),
        ([["Location", "http://a..test/"]], "redirected"),
        ([["Location", {"repeat": ["x", 9000]}]], "redirected"),
    ],
)
def test_a_redirect_to_nothing_that_can_be_crawled_is_no_link(headers: list[Any], outcome: str) -> None:
    ledger = MemoryLedger([URL])
    with site({URL: {"status": 302, "headers": headers, "body": "<a href=/trap>moved</a>"}}) as server:
        crawl(ledger, server)
    (row,) = ledger.rows["observation"]
    assert row["outcome"] == outcome
    assert ledger.rows["link"] == []


def test_of_two_locations_the_first_counts() -> None:
    ledger = MemoryLedger([URL])
    with site({URL: {"status": 301, "headers": [["Location", "/x"], ["Location", "/y"]]}}) as server:
        crawl(ledger, server)
    assert [link["target_url"] for link in ledger.rows["link"]] == ["http://a.test/x"]


def test_where_a_redirect_leads_is_asked_under_its_own_robots_txt_and_delay() -> None:
    routes = {
        "http://a.test/in": {"status": 302, "headers": [["Location", "/private/x"]]},
        "http://a.test/out": {"status": 302, "headers": [["Location", "http://b.test/x"]]},
        "http://a.test/robots.txt": {"body": "User-agent: *\nDisallow: /private/\n"},
        "http://b.test/robots.txt": {"body": "User-agent: *\nDisallow: /x\n"},
        "http://a.test/private/x": {"body": PAGE},
    }
    first = MemoryLedger(["http://a.test/in", "http://a.test/out"])
    with site(routes, hosts=["a.test", "b.test"]) as server:
        crawl(first, server)
        assert server.requests("http://b.test/*") == []
        second = MemoryLedger([link["target_url"] for link in first.rows["link"]])
        crawl(second, server)
        assert server.requests("http://a.test/private/x") == server.requests("http://b.test/x") == []
    assert set(second.outcomes().values()) == {"denied_by_robots"}
