"""A fetch that is told to end early, and what it says while it runs."""

import threading
from datetime import UTC, datetime
from typing import Any

import pytest

from crawler.core.clock import SystemClock
from crawler.core.cycle import Cycle
from crawler.core.progress import Progress
from crawler.stages import fetch
from crawler.stages.fetch import engine
from tests.stages.memory_ledger import MemoryLedger, make_settings
from tests.web.server import ScriptedServer
from tests.web.site import PAGE, site

PATIENT = {"connect_seconds": 60, "read_seconds": 60, "total_seconds": 60, "segment_seconds": 60}
QUICK, HANGING = "http://a.test/quick", "http://b.test/hanging"


def run(ledger: MemoryLedger, server: ScriptedServer, **options: Any) -> dict[str, int]:
    with server.intercept():
        settings = make_settings(fetch=PATIENT, delay_seconds=0.5)
        return fetch.fetch(ledger, settings, SystemClock(), Cycle(datetime.now(UTC).date()), 0, 1, **options)


@pytest.mark.parametrize(
    "exchange",
    [{"body": PAGE, "delay_before_headers_s": 60}, {"body": {"random": [4000, 1]}, "framing": "drip:20"}],
    ids=["silent", "byte by byte"],
)
def test_a_stop_abandons_what_hangs_and_keeps_what_is_known(exchange: dict[str, Any]) -> None:
    ledger = MemoryLedger([QUICK, HANGING])
    with site({HANGING: exchange}, hosts=["a.test", "b.test"]) as server:
        counts = run(ledger, server, stop=lambda: {QUICK, HANGING} <= asked(server))
    assert (counts["stopped"], counts["open"]) == (1, 1)
    assert ledger.complete is False
    assert ledger.outcomes() == {QUICK: "ok"}
    assert ledger.segments >= 1, "what was known was not written before the wait for what hangs"
    allowed = ledger.hosts()["b.test"].allowed_at - datetime.now(UTC)
    assert 0 < allowed.total_seconds() <= 0.5
    assert ledger.hosts()["b.test"].error_streak == 0


def asked(server: ScriptedServer) -> set[str]:
    return {request.url for request in server.log}


def test_a_request_that_ends_in_time_after_a_stop_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_LET_END_SECONDS", 30.0)
    ledger = MemoryLedger([HANGING])
    with site({HANGING: {"body": PAGE, "delay_before_headers_s": 1.5}}, hosts=["b.test"]) as server:
        counts = run(ledger, server, stop=lambda: HANGING in asked(server))
    assert (counts["stopped"], counts["open"]) == (1, 0)
    assert ledger.outcomes() == {HANGING: "ok"}


def test_a_stop_sends_nothing_more() -> None:
    ledger = MemoryLedger([f"http://a.test/{number}" for number in range(500)])
    with site() as server:
        counts = run(ledger, server, stop=lambda: len(server.log) > 1)
    assert counts["stopped"] == 1
    assert len(ledger.outcomes()) + 1 == len(server.log) < 10  # and one robots.txt


def test_what_is_said_while_it_runs_adds_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_PROGRESS_SECONDS", 0.0)
    monkeypatch.setattr(engine, "_SUPERVISE_SECONDS", 0.05)
    told: list[Progress] = []
    ledger = MemoryLedger([QUICK, "http://a.test/gone", HANGING, "http://c.test/held"])
    ledger.holds = frozenset({"c.test"})
    routes = {HANGING: {"body": PAGE, "delay_before_headers_s": 60}, "http://a.test/gone": {"status": 410}}
    with site(routes, hosts=["a.test", "b.test", "c.test"]) as server:
        settings = make_settings(fetch=PATIENT, delay_seconds=0.3)
        with server.intercept():
            fetch.fetch(
                ledger, settings, SystemClock(), Cycle(datetime.now(UTC).date()), 0, 1,
                progress=told.append, stop=lambda: bool(told) and told[-1].observed == 2,
            )  # fmt: skip
    assert any((each.ready, each.waiting, each.held) == (1, 1, 1) for each in told), "a.test waits, b.test is asked"
    last = told[-1]
    assert (last.planned, last.observed, last.held) == (4, 2, 1)
    assert last.outcomes == {"ok": 1, "gone": 1}
    assert last.requests == 5  # two of them for robots.txt
    assert last.pages_per_second == pytest.approx(2 / last.seconds)
    assert last.to_dict()["outcomes"] == {"ok": 1, "gone": 1}
    assert str(last).startswith("2 of 4 URLs; ")
    assert str(last).endswith("hosts: 0 ready, 0 waiting, 1 held; 1 gone, 1 ok")


def test_no_thread_outlives_a_fetch_that_was_stopped() -> None:
    before = set(threading.enumerate())
    ledger = MemoryLedger([HANGING])
    with site({HANGING: {"body": PAGE, "delay_before_headers_s": 60}}, hosts=["b.test"]) as server:
        run(ledger, server, stop=lambda: HANGING in asked(server))
        left = [thread for thread in set(threading.enumerate()) - before if thread.name.startswith("fetch")]
    assert left == []
