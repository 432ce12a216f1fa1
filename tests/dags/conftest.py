"""A migrated metadata database of Airflow in a throw-away home, a lake, and stages that only note their calls."""

import os
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from crawler.core.clock import open_clock
from crawler.core.config import load_settings
from crawler.store.lake import Lake
from tests.dags.support import BUCKETS, DAGS, STAGES, USER_AGENT, Calls, HundredDaysAgo


@pytest.fixture(scope="session")
def airflow_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """AIRFLOW_HOME of this test session; Airflow reads it when it is first imported."""
    assert "airflow" not in sys.modules, "Airflow was imported before its home was set; import it in a fixture"
    home = tmp_path_factory.mktemp("airflow")
    os.environ.update(
        {
            "AIRFLOW_HOME": str(home),
            "AIRFLOW__CORE__DAGS_FOLDER": str(DAGS),
            "AIRFLOW__CORE__PLUGINS_FOLDER": str(home / "plugins"),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__CORE__UNIT_TEST_MODE": "False",
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home / 'airflow.db'}",
        }
    )
    subprocess.run([sys.executable, "-m", "airflow", "db", "migrate"], check=True, capture_output=True)
    return home


@pytest.fixture
def recrawl_dag(airflow_home: Path) -> Any:
    """The DAG, as Airflow's DAG processor finds it; a new one each time, since `dag.test()` changes its params."""
    from airflow.dag_processing.dagbag import BundleDagBag

    bag = BundleDagBag(dag_folder=str(DAGS), bundle_path=DAGS, bundle_name="dags-folder")
    assert bag.import_errors == {}
    return bag.dags["recrawl"]


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    """A lake whose first cycle was 100 days ago, named by RECRAWL_SETTINGS."""
    path = tmp_path / "recrawl.toml"
    path.write_text(f'[crawl]\nuser_agent = "{USER_AGENT}"\n[lake]\nbuckets = {BUCKETS}\n')
    monkeypatch.setenv("RECRAWL_SETTINGS", str(path))
    settings = load_settings(path)
    Lake.create(settings, HundredDaysAgo())
    return Lake.open(settings, open_clock(None))


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """Stages that do nothing but note that they were called."""
    noted = Calls()
    for name in STAGES:
        module = ModuleType(f"crawler.stages.{name}")

        def run(lake: Lake, cycle: object, *partition: int, _name: str = name, **more: object) -> dict[str, object]:
            noted.append((_name, str(cycle), *partition))
            noted.given.update(more)
            noted.fails(_name, *partition)
            return {"failed": noted.incomplete, "lagging": noted.lagging} if _name == "check" else {"rows": 1}

        module.run = run  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return noted


_DAYS = count(1)


@pytest.fixture
def day() -> date:
    """A past day that no other test has: runs stay in Airflow's database."""
    return datetime.now(UTC).date() - timedelta(days=next(_DAYS))
