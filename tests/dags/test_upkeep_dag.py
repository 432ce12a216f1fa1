"""The weekly upkeep, run in this process by `dag.test()`: real Airflow, a real lake."""

import ast
import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from crawler.store.lake import Lake
from tests.dags.support import DAGS

pytestmark = [pytest.mark.airflow, pytest.mark.slow, pytest.mark.xdist_group("dag")]


@pytest.fixture
def upkeep_dag(airflow_home: Path) -> Any:
    return parsed()


def parsed() -> Any:
    """The DAG, as Airflow's DAG processor finds it; a new one each time, since `dag.test()` changes its params."""
    from airflow.dag_processing.dagbag import BundleDagBag

    bag = BundleDagBag(dag_folder=str(DAGS), bundle_path=DAGS, bundle_name="dags-folder")
    assert bag.import_errors == {}
    return bag.dags["recrawl_upkeep"]


def test_it_runs_weekly_in_the_pool_of_folds_and_its_file_is_a_call_of_the_factory(upkeep_dag: Any) -> None:
    assert upkeep_dag.timetable.expression == "0 3 * * 0"
    assert [(task.task_id, task.pool) for task in upkeep_dag.tasks] == [("upkeep", "recrawl_fold")]
    _, *statements = ast.parse((DAGS / "recrawl_upkeep.py").read_text()).body
    assert [type(statement) for statement in statements] == [ast.ImportFrom, ast.Assign]


def test_parsing_it_loads_neither_duckdb_nor_the_crawler(airflow_home: Path) -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import recrawl_upkeep; "
        "print([name for name in ('duckdb', 'pyarrow', 'lxml', 'crawler') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", program, str(DAGS)], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines()[-1] == "[]"


def test_a_dry_run_leaves_what_the_run_deletes(upkeep_dag: Any, lake: Lake) -> None:
    for number in range(1, 4):
        lake.files.put_bytes(b"{}", f"check/cycle=2026-01-01/{number:04d}.json")
    for path in Path(lake.files.root, "check").rglob("*.json"):
        os.utime(path, (0, time.time() - 80 * 3600))
    assert upkeep_dag.test(logical_date=datetime(2026, 1, 4, tzinfo=UTC), run_conf={"dry_run": True}).state == "success"
    assert lake.files.names("check/cycle=2026-01-01") == ["0001.json", "0002.json", "0003.json"]
    assert parsed().test(logical_date=datetime(2026, 1, 11, tzinfo=UTC)).state == "success"
    assert lake.files.names("check/cycle=2026-01-01") == ["0003.json"]
