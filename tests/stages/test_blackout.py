"""A host is asked for nothing inside its blackout, however the fetch and the blackout lie to each other."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crawler.core.clock import SimulatedClock
from crawler.core.cycle import Cycle
from crawler.core.fetch_settings import HostSettings
from crawler.stages import fetch, plan, seed
from crawler.store.plans import read_plan
from tests.stages.memory_ledger import MemoryLedger, make_settings
from tests.store.small_lake import DAY, NOON, lake_at
from tests.web.server import ScriptedServer
from tests.web.site import site

DUSK = datetime(2026, 3, 1, 22, tzinfo=UTC)
HOSTS = ("a.test", "b.test")


def run(
    folder: Path, server: ScriptedServer, starts: datetime, *, seconds: float
) -> tuple[MemoryLedger, dict[str, int]]:
    """A fetch of both hosts that begins at `starts` and has so many seconds; a.test is closed from 22:00 to 22:01."""
    clock = SimulatedClock(folder / "clock.json")
    clock.set(starts)
    ledger = MemoryLedger([f"http://{host}/{number}" for host in HOSTS for number in range(40)])
    ledger.deadline = starts + timedelta(seconds=seconds)
    settings = make_settings(delay_seconds=0.05).model_copy(
        update={"host": {"a.test": HostSettings(blackout=("22:00-22:01",))}}
    )
    with server.intercept():
        return ledger, fetch.fetch(ledger, settings, clock, Cycle(starts.date()), 0, 1)


def asked(ledger: MemoryLedger, host: str) -> list[datetime]:
    rows = [*ledger.rows["observation"], *ledger.rows["robots"]]
    return sorted(row["fetched_at"] for row in rows if row["host"] == host and row["sent"])


def test_a_fetch_that_runs_into_a_blackout_leaves_the_host_alone_and_goes_on_with_others(tmp_path: Path) -> None:
    with site(hosts=HOSTS) as server:
        ledger, counts = run(tmp_path, server, DUSK - timedelta(seconds=0.7), seconds=20)
    assert 1 < len(asked(ledger, "a.test")) < 30
    assert max(asked(ledger, "a.test")) < DUSK < max(asked(ledger, "b.test"))
    assert (len(asked(ledger, "b.test")), counts["open"]) == (41, 41 - len(asked(ledger, "a.test")))


def test_a_fetch_that_begins_in_a_blackout_asks_when_it_ends(tmp_path: Path) -> None:
    with site(hosts=HOSTS) as server:
        ledger, counts = run(tmp_path, server, DUSK + timedelta(seconds=59), seconds=20)
    assert counts["open"] == 0
    assert len(asked(ledger, "a.test")) == 41
    assert min(asked(ledger, "b.test")) < DUSK + timedelta(minutes=1) <= min(asked(ledger, "a.test"))


@pytest.mark.parametrize(("blackout", "cap"), [((), 10), (("12:00-00:00",), 5), (("12:00-11:59",), 1)])
def test_a_plan_counts_only_what_of_its_window_is_open(tmp_path: Path, blackout: tuple[str, ...], cap: int) -> None:
    """At noon, with a window of 24 hours and a delay that leaves time for ten requests in it."""
    own = {"a.test": {"blackout": list(blackout), "delay_seconds": 8640}}
    lake = lake_at(tmp_path, host=own)
    seed.run(lake, [f"http://a.test/{number}" for number in range(20)])
    assert plan.run(lake, DAY, 0)["candidates"] == cap
    assert read_plan(lake, DAY, 0) is not None


def test_a_host_that_is_closed_for_the_whole_window_is_not_planned(tmp_path: Path) -> None:
    lake = lake_at(tmp_path, host={"a.test": {"blackout": ["11:00-15:00"]}}, fetch={"window_hours": 3})
    seed.run(lake, ["http://a.test/", "http://b.test/"])
    assert lake.clock.now() == NOON
    assert plan.run(lake, DAY, 0)["candidates"] == 1
