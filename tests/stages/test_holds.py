"""A host that an operator holds is asked for nothing more, by a running fetch and by later ones."""

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from crawler.core.clock import SystemClock
from crawler.core.config import parse_settings
from crawler.core.cycle import Cycle
from crawler.stages import admit, fetch, plan, seed
from crawler.stages.fetch import engine
from crawler.store import holds
from crawler.store.lake import Lake
from crawler.store.overview import partitions
from tests.stages.memory_ledger import USER_AGENT, MemoryLedger, make_settings
from tests.web.server import ScriptedServer
from tests.web.site import site

HOSTS = ("a.test", "b.test")


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at the holds at every turn of the supervising thread, so that a test need not wait."""
    assert engine._HOLDS_SECONDS + engine._SUPERVISE_SECONDS <= 20, "an operator is promised a minute"
    monkeypatch.setattr(engine, "_HOLDS_SECONDS", 0.0)
    monkeypatch.setattr(engine, "_SUPERVISE_SECONDS", 0.02)


def run(ledger: MemoryLedger, server: ScriptedServer, **politeness: Any) -> dict[str, int]:
    cycle = Cycle(datetime.now(UTC).date())
    with server.intercept():
        return fetch.fetch(ledger, make_settings(**politeness), SystemClock(), cycle, 0, 1)


def asked(server: ScriptedServer, host: str) -> list[str]:
    return [request.url for request in list(server.log) if request.url.startswith(f"http://{host}/")]


def urls(host: str, count: int) -> list[str]:
    return [f"http://{host}/{number}" for number in range(count)]


class WhenAsked:
    """Calls `act` once `host` of the server has been asked so many times."""

    def __init__(self, server: ScriptedServer, host: str, times: int, act: Callable[[], Any]) -> None:
        self.at: float | None = None
        self._thread = threading.Thread(target=self._run, args=(server, host, times, act), daemon=True)

    def _run(self, server: ScriptedServer, host: str, times: int, act: Callable[[], Any]) -> None:
        while len(asked(server, host)) < times:
            time.sleep(0.005)
        act()
        self.at = time.monotonic()

    def __enter__(self) -> "WhenAsked":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join(timeout=10)


def test_a_host_that_is_held_from_the_start_is_never_asked_and_its_urls_stay_open() -> None:
    ledger = MemoryLedger(urls("a.test", 3) + urls("b.test", 3))
    ledger.holds = frozenset({"a.test"})
    with site(hosts=HOSTS) as server:
        counts = run(ledger, server)
        assert asked(server, "a.test") == []
    assert (counts["observed"], counts["open"], ledger.complete) == (3, 3, True)
    assert set(ledger.outcomes()) == set(urls("b.test", 3))


def test_a_fetch_of_held_hosts_only_ends_at_once() -> None:
    ledger = MemoryLedger(urls("a.test", 3))
    ledger.holds = frozenset({"a.test"})
    with site() as server:
        assert run(ledger, server)["open"] == 3
        assert server.log == []


def test_a_running_fetch_obeys_a_hold_and_goes_on_with_other_hosts() -> None:
    ledger = MemoryLedger(urls("a.test", 60) + urls("b.test", 20))

    def hold() -> None:
        ledger.holds = frozenset({"a.test"})

    with site(hosts=HOSTS) as server, WhenAsked(server, "a.test", 5, hold):
        counts = run(ledger, server, delay_seconds=0.05)
        assert 5 <= len(asked(server, "a.test")) <= 12
        assert len(asked(server, "b.test")) == 21
    assert counts["open"] >= 48
    assert ledger.complete is True
    assert ledger.early() == []


def test_a_release_is_obeyed_while_the_fetch_still_runs() -> None:
    ledger = MemoryLedger(urls("a.test", 5) + urls("b.test", 30))
    ledger.holds = frozenset({"a.test"})

    def release() -> None:
        ledger.holds = frozenset()

    with site(hosts=HOSTS) as server, WhenAsked(server, "b.test", 5, release):
        counts = run(ledger, server, delay_seconds=0.05)
        assert asked(server, "b.test")[4:5]
        assert len(asked(server, "a.test")) == 6
    assert counts["open"] == 0


def test_a_host_whose_robots_txt_is_at_a_held_host_stays_open_and_keeps_nobody_waiting() -> None:
    onward = {"http://a.test/robots.txt": {"status": 301, "headers": [["Location", "http://b.test/robots.txt"]]}}
    ledger = MemoryLedger([*urls("a.test", 2), *urls("b.test", 2)], window_seconds=60)
    ledger.holds = frozenset({"b.test"})
    with site(onward, hosts=HOSTS) as server:
        began = time.monotonic()
        counts = run(ledger, server)
        assert time.monotonic() - began < 30, "it waits for a robots.txt that will not come"
        assert asked(server, "b.test") == []
        assert asked(server, "a.test") == ["http://a.test/robots.txt"]
    assert (counts["observed"], counts["open"]) == (0, 4)


def test_a_hold_in_the_lake_stops_a_fetch_that_runs_and_the_next_one_until_it_is_released(tmp_path: Path) -> None:
    lake = _lake(tmp_path)
    cycle = Cycle(datetime.now(UTC).date())
    seed.run(lake, urls("a.test", 40) + urls("b.test", 10))
    plan.run(lake, cycle, 0)
    admit.run(lake, cycle)
    with site(hosts=HOSTS) as server, server.intercept():
        with WhenAsked(server, "a.test", 5, lambda: holds.hold(_lake(tmp_path), "a.test", "they wrote to us")):
            first = fetch.run(lake, cycle, 0)
        seen = len(asked(server, "a.test"))
        assert 5 <= seen <= 12
        assert len(asked(server, "b.test")) == 11
        (part,) = partitions(lake)
        assert (part.state, part.open) == ("finished", first["open"])
        assert fetch.run(lake, cycle, 0)["open"] == first["open"]
        assert len(asked(server, "a.test")) == seen
        holds.release(lake, "a.test")
        assert fetch.run(lake, cycle, 0)["open"] == 0
        assert len(asked(server, "a.test")) == 41


def _lake(root: Path) -> Lake:
    tables = {
        "crawl": {"user_agent": USER_AGENT},
        "lake": {"root": str(root), "buckets": 1},
        "engine": {"threads": 1},
        "fetch": {"allow_private": ["127.0.0.0/8"], "threads": 4},
        "politeness": {"delay_seconds": 0.05, "delay_factor": 0, "address_delay_seconds": 0},
    }
    return Lake.create(parse_settings(tables), SystemClock())
