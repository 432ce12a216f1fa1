"""Conditional requests over several cycles: what is sent back, what a 304 keeps, and servers that lie."""

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any

import pytest

from crawler.core.clock import SystemClock
from crawler.core.config import Settings
from crawler.core.cycle import Cycle
from crawler.core.model import Row
from crawler.stages import fetch
from tests.stages.memory_ledger import MemoryLedger, make_settings, target
from tests.web.recipes import make
from tests.web.server import Request, ScriptedServer
from tests.web.site import PAGE, site

URL = "http://a.test/x"
DATE = "Mon, 01 Jan 2024 00:00:00 GMT"
OTHER = {"html": {"title": "B", "words": [120, 2]}}
VERSION = (
    "etag", "last_modified", "body_digest", "text_digest", "copy_digest", "simhash", "text_bytes", "body_bytes",
)  # fmt: skip


@dataclass
class Days:
    """Fetches the same pages day after day and remembers what a lake would fold."""

    server: ScriptedServer
    urls: Sequence[str] = (URL,)
    settings: Settings = field(default_factory=make_settings)
    ledger: MemoryLedger = field(default_factory=MemoryLedger)
    known: dict[str, dict[str, Any]] = field(default_factory=dict)
    # Which pages are audited follows from the day; on this one the first two of a host come late.
    day: Cycle = field(default_factory=lambda: Cycle(date(2025, 3, 1)))

    def next(self) -> list[Row]:
        """The observations of one more day, in the order of the pages."""
        ledger = self.ledger
        ledger.rows["observation"] = []
        ledger.targets = [target(url, priority=-n, **self.known.get(url, {})) for n, url in enumerate(self.urls)]
        with self.server.intercept():
            fetch.fetch(ledger, self.settings, SystemClock(), self.day, 0, 1)
        self.day = Cycle(self.day.day + timedelta(days=1))
        found = {row["url"]: row for row in ledger.rows["observation"]}
        for url, row in found.items():
            if row["outcome"] == "ok":
                self.known[url] = {name: row[name] for name in VERSION}
            elif row["outcome"] == "not_modified":
                self.known[url] |= {name: row[name] for name in ("etag", "last_modified")}
        return [found[url] for url in self.urls]

    def sent(self) -> list[tuple[str | None, str | None]]:
        """If-None-Match and If-Modified-Since of each request for URL."""
        return [_conditions(request) for request in self.server.requests(URL)]


def _conditions(request: Request) -> tuple[str | None, str | None]:
    return request.header("if-none-match"), request.header("if-modified-since")


def answering(*exchanges: dict[str, Any]) -> ScriptedServer:
    return site({URL: list(exchanges)})


def page(body: Any = PAGE, **headers: str) -> dict[str, Any]:
    return {"body": body, "headers": [[name.replace("_", "-"), value] for name, value in headers.items()]}


# What is sent back


@pytest.mark.parametrize(
    "headers",
    [
        {"ETag": '"v1"'},
        {"ETag": 'W/"v1"'},
        {"ETag": "v1"},  # no quotes, against RFC 9110 8.8.3
        {"ETag": '"a, \\"b"'},
        {"Last_Modified": DATE},
        {"Last_Modified": "monday  1 january"},
        {"ETag": '"v1"', "Last_Modified": DATE},
    ],
)
def test_both_validators_go_back_as_they_came(headers: dict[str, str]) -> None:
    with answering(page(**headers), {"status": 304}) as server:
        days = Days(server)
        outcomes = [days.next()[0]["outcome"] for _ in range(3)]
        assert outcomes == ["ok", "not_modified", "not_modified"]
        came = (headers.get("ETag"), headers.get("Last_Modified"))
        assert days.sent() == [(None, None), came, came]


@pytest.mark.parametrize(
    "between",
    [
        [{"status": 301, "headers": [["Location", "/y"], ["ETag", '"moved"']]}],
        [{"status": 500, "headers": [["ETag", '"error"']], "body": "no"}],
        [{"status": 404, "headers": [["ETag", '"gone"'], ["Last-Modified", "never"]], "body": "no"}],
        [{"status": 429}],
        [page(OTHER, ETag='"half"') | {"framing": "wrong_length:+9"}],
        [page({"b64": "AAAA"}, ETag='"broken"', Content_Encoding="gzip")],
        [page("GIF89a", ETag='"image"', Content_Type="image/gif")],
        [page(OTHER, ETag='"part"') | {"status": 206}],
        [{"status": 204, "headers": [["ETag", '"nothing"']]}],
        [{"raw": ""}],
    ],
    ids=["redirect", "error", "gone", "busy", "cut", "undecodable", "type", "part", "no content", "no answer"],
)
def test_what_comes_between_neither_loses_validators_nor_brings_its_own(between: list[dict[str, Any]]) -> None:
    with answering(page(ETag='"v1"', Last_Modified=DATE), *between, {"status": 304}) as server:
        days = Days(server)
        rows = [days.next()[0] for _ in range(3)]
        assert rows[1]["outcome"] not in ("ok", "not_modified")
        assert [rows[1][name] for name in ("etag", "last_modified", "body_digest")] == [None] * 3
        assert days.sent()[-1] == ('"v1"', DATE)
        assert rows[2]["outcome"] == "not_modified"
        assert rows[2]["body_digest"] == rows[0]["body_digest"]


def test_a_page_without_validators_any_more_is_asked_for_without() -> None:
    with answering(page(ETag='"v1"'), page(OTHER)) as server:
        days = Days(server)
        for _ in range(3):
            days.next()
        assert days.sent() == [(None, None), ('"v1"', None), (None, None)]


def test_a_validator_that_no_server_would_take_back_is_not_kept() -> None:
    with answering(page(ETag=f'"{"x" * 9000}"', Last_Modified=DATE), {"status": 304}) as server:
        days = Days(server)
        assert [days.next()[0]["outcome"] for _ in range(2)] == ["ok", "not_modified"]
        assert days.sent() == [(None, None), (None, DATE)]


def test_a_validator_cannot_bring_a_header_into_our_request() -> None:
    head = b'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: "a\r\n X-Evil: 1\rX-Evil: 2\x00"\r\n\r\nhi'
    with answering({"raw": b64encode(head).decode()}, {"status": 304}) as server:
        days = Days(server)
        assert [days.next()[0]["outcome"] for _ in range(2)] == ["ok", "not_modified"]
        assert server.requests(URL)[-1].header("x-evil") is None


def test_without_a_stored_version_validators_are_not_sent() -> None:
    with answering(page()) as server:
        days = Days(server, known={URL: {"etag": '"v1"', "last_modified": DATE}})
        assert days.next()[0]["conditional"] is False
        assert days.sent() == [(None, None)]


# What an answer means


def test_a_304_with_new_validators_renews_them_and_keeps_the_version() -> None:
    renewing = {"status": 304, "headers": [["ETag", '"v2"'], ["Last-Modified", "later"]]}
    with answering(page(ETag='"v1"', Last_Modified=DATE), renewing, {"status": 304}) as server:
        days = Days(server)
        first, second, third = (days.next()[0] for _ in range(3))
        assert days.sent()[-1] == ('"v2"', "later")
        for name in ("body_digest", "text_digest", "copy_digest", "simhash", "text_bytes"):
            assert first[name] == second[name] == third[name] is not None
        assert (second["content_changed"], second["stored"], second["wire_bytes"]) == (False, False, 0)
        assert second["saved_bytes"] == first["body_bytes"] == len(make(PAGE))


def test_a_304_to_a_request_without_validators_is_believed_by_nobody() -> None:
    with answering({"status": 304, "headers": [["ETag", '"v1"']]}, page(ETag='"v2"')) as server:
        days = Days(server)
        (row,) = days.next()
        assert (row["outcome"], row["etag"], row["saved_bytes"]) == ("protocol_error", None, 0)
        assert days.next()[0]["outcome"] == "ok"
        assert days.sent() == [(None, None)] * 2


@pytest.mark.parametrize("etag", ['"v1"', '"v2"'])
def test_a_200_with_an_equal_body_is_unchanged_whatever_its_validator(etag: str) -> None:
    with answering(page(ETag='"v1"'), page(ETag=etag)) as server:
        days = Days(server)
        days.next()
        (row,) = days.next()
        assert (row["outcome"], row["content_changed"], row["stored"], row["etag"]) == ("ok", False, False, etag)
        assert row["body_digest"] == hashlib.sha256(make(PAGE)).digest()


# Servers that lie


def lying(*bodies: Any) -> list[dict[str, Any]]:
    """A page that changes daily, until the last of `bodies`, while its ETag does not: any condition is met by a 304."""
    claim = {"match": {"If-None-Match": True}, "status": 304}
    return [claim, *(page(body, ETag='"same"') for body in bodies)]


def numbered(count: int) -> list[Any]:
    return [{"html": {"title": str(n), "words": [120, n]}} for n in range(1, count + 1)]


def test_a_server_that_hides_its_changes_behind_304_is_found_out_and_asked_for_everything() -> None:
    urls = [f"http://a.test/{number}" for number in range(40)]
    routes = {url: lying(*numbered(12)) for url in urls}
    with site(routes) as server:
        days = Days(server, urls, make_settings(fetch={"audit_share": 0.1}))
        seen = [days.next() for _ in range(8)]
        states = [row for row in days.ledger.rows["host_state"] if row["host"] == "a.test"]
    assert not any(row["audit"] for row in seen[0])  # nothing to hold back yet
    believed = [sum(row["outcome"] == "not_modified" for row in rows) for rows in seen]
    _, second, *_ = (number for number, row in enumerate(seen[1]) if row["audit"])
    assert {row["outcome"] for row in seen[1][:second] if not row["audit"]} == {"not_modified"}  # one lie may be chance
    assert believed[1] >= 20
    assert believed[-1] == 0
    assert all(row["audit"] and not row["conditional"] for row in seen[-1])
    assert all(row["content_changed"] for row in seen[-1])
    assert states[-1]["validator_lies"] >= 2
    assert states[-1]["validator_audits"] <= 64


def test_an_honest_server_stays_trusted_and_an_audit_is_no_change() -> None:
    urls = [f"http://a.test/{number}" for number in range(40)]
    routes = {url: lying(PAGE) for url in urls}
    with site(routes) as server:
        days = Days(server, urls, make_settings(fetch={"audit_share": 0.1}))
        seen = [days.next() for _ in range(6)]
        (*_, state) = (row for row in days.ledger.rows["host_state"] if row["host"] == "a.test")
    later = [row for rows in seen[1:] for row in rows]
    audits = [row for row in later if row["audit"]]
    assert 5 <= len(audits) <= 40
    assert {row["outcome"] for row in later if not row["audit"]} == {"not_modified"}
    assert {(row["outcome"], row["content_changed"], row["conditional"]) for row in audits} == {("ok", False, False)}
    assert (state["validator_lies"], state["validator_audits"]) == (0, len(audits))
    assert sum(row["saved_bytes"] for row in later) == (len(later) - len(audits)) * len(make(PAGE))


def test_a_host_that_tells_the_truth_again_is_trusted_again() -> None:
    urls = [f"http://a.test/{number}" for number in range(10)]
    routes = {url: lying(*numbered(3)) for url in urls}
    with site(routes) as server:
        days = Days(server, urls, make_settings(fetch={"audit_share": 1e-9}))
        days.next()
        (row,) = (row for row in days.ledger.rows["host_state"][-1:])
        row |= {"validator_audits": 4, "validator_lies": 4}
        by_day = [sum(row["outcome"] == "not_modified" for row in days.next()) for _ in range(16)]
    assert by_day[:3] == [0, 0, 0]
    assert by_day[-1] == 10


def test_trust_is_of_one_host() -> None:
    urls = ["http://a.test/x", "http://b.test/x"]
    with site({url: lying(*numbered(9)) for url in urls}, hosts=["a.test", "b.test"]) as server:
        days = Days(server, urls, make_settings(fetch={"audit_share": 1e-9}))
        days.next()
        for row in days.ledger.rows["host_state"]:
            if row["host"] == "a.test":
                row |= {"validator_audits": 4, "validator_lies": 4}
        assert [(row["outcome"], row["audit"]) for row in days.next()] == [("ok", True), ("not_modified", False)]


def test_no_share_is_no_audit_even_of_a_liar() -> None:
    with site({URL: lying(*numbered(9))}) as server:
        days = Days(server, settings=make_settings(fetch={"audit_share": 0.0}))
        days.next()
        days.ledger.rows["host_state"][-1] |= {"validator_audits": 4, "validator_lies": 4}
        assert days.next()[0]["outcome"] == "not_modified"


def test_audits_do_not_depend_on_the_task_that_makes_them() -> None:
    urls = [f"http://a.test/{number}" for number in range(60)]
    with site({url: lying(PAGE) for url in urls}) as server:
        days = Days(server, urls, make_settings(fetch={"audit_share": 0.2}))
        days.next()
        again = replace(days, known=dict(days.known), ledger=MemoryLedger())
        chosen = [{row["url"] for row in each.next() if row["audit"]} for each in (days, again)]
    assert chosen[0] == chosen[1] != set()
