"""Every fault of the misbehaving web at once, through the whole fetch stage."""

from datetime import UTC, datetime
from pathlib import Path

from crawler.core.clock import SystemClock
from crawler.core.cycle import Cycle
from crawler.stages import fetch
from tests.stages.memory_ledger import MemoryLedger, make_settings
from tests.web.faults import FAULTS, host_of, script
from tests.web.server import ScriptedServer

LIMITS = {"connect_seconds": 2, "read_seconds": 3, "total_seconds": 6, "max_body_bytes": 1 << 20, "threads": 40}


def test_each_fault_ends_with_its_outcome_and_holds_no_other_up() -> None:
    with ScriptedServer(script()) as server, server.intercept():
        ledger = MemoryLedger(server.script["plan"], window_seconds=60)
        settings = make_settings(fetch=LIMITS)
        fetch.fetch(ledger, settings, SystemClock(), Cycle(datetime.now(UTC).date()), 0, 1)
    found = {row["host"]: row["outcome"] for row in ledger.rows["observation"]}
    wrong = {
        name: found.get(host_of(name)) for name, each in FAULTS.items() if found.get(host_of(name)) not in each.outcomes
    }
    assert wrong == {}


def test_the_readme_names_every_fault() -> None:
    readme = (Path(__file__).parents[1] / "web/README.md").read_text()
    assert [name for name in FAULTS if f"| `{name}` |" not in readme] == []
