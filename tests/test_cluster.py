"""`make cluster`: a cycle against the demo web, run by two Celery workers, with Debian's PostgreSQL and Redis."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crawler.core.clock import SimulatedClock
from crawler.core.config import load_settings
from crawler.demo.airflow import SESSIONS, USER
from crawler.demo.airflow_api import AirflowApi
from crawler.demo.leash import Leashed, session_members
from crawler.demo.run import settings_text
from crawler.stages import seed
from crawler.store.lake import Lake
from tests.test_make_up import wait_until
from tools import local_airflow
from tools.cluster import STORES, ClusterAirflow, ClusterImpossible

pytestmark = [pytest.mark.airflow, pytest.mark.slow, pytest.mark.xdist_group("scheduler")]

TODAY = datetime.now(UTC).date()


@pytest.fixture
def crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A crawl of the demo web, seeded; its folder. The web's clock stands at today's midnight."""
    try:
        ClusterAirflow.require_programs()
    except ClusterImpossible as missing:
        pytest.skip(str(missing))
    monkeypatch.setenv("RECRAWL_AIRFLOW_HOME", str(tmp_path / "airflow"))
    clock = SimulatedClock(tmp_path / "clock.json")
    clock.set(datetime(TODAY.year, TODAY.month, TODAY.day, 0, 5, tzinfo=UTC))
    ready = tmp_path / "web.json"
    command = [sys.executable, "-m", "crawler.demo.web", "--clock", str(tmp_path / "clock.json")]
    command += ["--ready", str(ready), "--log", str(tmp_path / "requests.jsonl")]
    command += ["--hosts", "28", "--pages", "340", "--start", str(TODAY)]
    web = Leashed("web", command, log=tmp_path / "web.log", environment=os.environ)
    try:
        wait_until(ready.exists)
        told = json.loads(ready.read_text())
        # The demo's window, seconds after the plan, may pass before Celery begins to fetch. Only the seeds are fetched.
        hours = "window_hours = 1\ndiscover_urls = 0"
        settings = settings_text(told["resolve"]).replace("window_hours = 0.0125", hours)
        (tmp_path / "recrawl.toml").write_text(settings)
        seed.run(Lake.create(load_settings(tmp_path / "recrawl.toml", {}), clock), told["seeds"])
        yield tmp_path
    finally:
        web.stop()


def make(*command: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "tools.local_airflow", *command]
    return subprocess.run(words, cwd=local_airflow.ROOT, capture_output=True, text=True, check=False)


def ask(crawl: Path, query: str) -> str:
    program = [sys.executable, "-c", "from crawler.cli import main; main()"]
    words = [*program, "sql", "--settings", str(crawl), "-c", query]
    return subprocess.run(words, cwd=local_airflow.ROOT, capture_output=True, text=True, check=True).stdout.strip()


def test_two_workers_run_a_cycle_of_the_demo_web_and_nothing_stays_behind(crawl: Path) -> None:
    home = crawl / "airflow"
    begun: list[int] = []
    try:
        started = make("cluster", str(crawl), "--unpause")
        assert started.returncode == 0, started.stderr + (home / "up.log").read_text()
        begun = [int(line.split()[1]) for line in (home / SESSIONS).read_text().splitlines()]
        stores = Path((home / STORES).read_text())
        told = json.loads((home / "running.json").read_text())
        api = AirflowApi(told["address"], USER, told["password"])
        wait_until(lambda: api.run_of_day("recrawl", TODAY) is not None)
        run = api.run_of_day("recrawl", TODAY)
        assert run is not None
        assert api.wait("recrawl", run, seconds=300) == "success"
    finally:
        ended = make("cluster-down", str(crawl))
    assert ended.returncode == 0
    assert "succeeded" in (home / "worker-1.log").read_text()
    assert "succeeded" in (home / "worker-2.log").read_text()
    assert int(ask(crawl, "select planned from cycle")) > 10
    assert ask(crawl, f"select count(*) from cycle where cycle = '{TODAY}' and fetched = planned and open = 0") == "1"
    assert ask(crawl, "select count(*) from politeness_audit") == "0"
    assert [member for session in begun for member in session_members(session)] == []
    assert not stores.exists()
