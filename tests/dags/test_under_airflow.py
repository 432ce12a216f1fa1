"""The daily DAG under a real scheduler, with stages that do as a file tells them: fail, or find a bucket taken."""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from crawler.core.config import load_settings
from crawler.demo.airflow import ThrowAwayAirflow
from crawler.store.lake import Lake
from tests.dags.support import BUCKETS, DAGS, STAGES, USER_AGENT, HundredDaysAgo

pytestmark = [pytest.mark.airflow, pytest.mark.slow, pytest.mark.xdist_group("scheduler")]

DAG = "recrawl"
TODAY = datetime.now(UTC).date()
FAST_STAGES = f"""
import os, sys, time, types
from pathlib import Path

def stage(name):
    def run(lake, cycle, *partition, stop=None, **more):
        told = Path(os.environ["ORDERS"], "-".join([name, *map(str, partition)]))
        if told.exists() and told.read_text() == "WaitForStop":
            told.with_suffix(".pid").write_text(str(os.getpid()))
            while not stop():
                time.sleep(0.1)
            return {{"stopped": 1, "open": 7}}
        if told.exists():
            from crawler.core import errors
            raise getattr(errors, told.read_text())("bucket", "told so")
        return {{"failed": [], "lagging": []}}
    module = types.ModuleType(f"crawler.stages.{{name}}")
    module.run = run
    return module

sys.modules.update({{f"crawler.stages.{{name}}": stage(name) for name in {STAGES!r}}})
"""


class Scene:
    """An Airflow that runs, and the orders that its stages follow."""

    def __init__(self, airflow: ThrowAwayAirflow, orders: Path) -> None:
        self.airflow = airflow
        self.api = airflow.api
        self.orders = orders

    def tell(self, stage: str, error: str) -> None:
        (self.orders / stage).write_text(error)

    def tell_no_more(self, stage: str) -> None:
        (self.orders / stage).unlink()

    def run(self, day: date) -> str:
        return self.api.trigger(DAG, day)

    def ends(self, run: str) -> str:
        return self.api.wait(DAG, run, seconds=240)

    def tasks(self, run: str) -> dict[tuple[str, int], dict[str, Any]]:
        return {(task["task_id"], task["map_index"]): task for task in self.api.task_instances(DAG, run)}

    def tries(self, run: str, task: str) -> list[int]:
        return [instance["try_number"] for key, instance in sorted(self.tasks(run).items()) if key[0] == task]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("scene")
    for name in ("plugins", "orders", "path"):
        (folder / name).mkdir()
    (folder / "path" / "sitecustomize.py").write_text(FAST_STAGES)
    settings = folder / "recrawl.toml"
    settings.write_text(f'[crawl]\nuser_agent = "{USER_AGENT}"\n[lake]\nbuckets = {BUCKETS}\n')
    Lake.create(load_settings(settings, {}), HundredDaysAgo())
    airflow = ThrowAwayAirflow(
        folder / "airflow",
        dags=DAGS,
        plugins=folder / "plugins",
        pools={"recrawl_plan": 2, "recrawl_fetch": BUCKETS, "recrawl_fold": 2},
        variables={
            "RECRAWL_SETTINGS": str(settings),
            "ORDERS": str(folder / "orders"),
            "PYTHONPATH": f"{folder / 'path'}:{DAGS.parent}",
        },
    )
    with airflow:
        airflow.api.await_dag(DAG, 60)
        yield Scene(airflow, folder / "orders")


def test_the_command_of_a_red_run_completes_it_and_repeats_no_plan(scene: Scene) -> None:
    day = TODAY - timedelta(days=9)
    scene.tell("fetch-2", "CorruptLake")
    run = scene.run(day)
    assert scene.ends(run) == "failed"
    assert scene.tasks(run)["merge", 2]["state"] == "success"
    errors = scene.airflow.errors_of(run)
    assert [error.partition(":")[0] for error in errors] == ["complete", "fetch"]
    command = errors[0].partition("Once the cause is gone: airflow ")[2].partition(" (failed: fetch_2)")[0]

    scene.tell_no_more("fetch-2")
    subprocess.run(
        [sys.executable, "-m", "airflow", *shlex.split(command)],
        env=scene.airflow.environment,
        check=True,
        capture_output=True,
    )

    assert scene.ends(run) == "success"
    assert scene.tries(run, "plan") == [1] * BUCKETS
    assert scene.tries(run, "fetch") == [2] * BUCKETS


def test_clearing_one_bucket_by_hand_repeats_no_other_fetch(scene: Scene) -> None:
    scene.tell("fetch-0", "CorruptLake")
    run = scene.run(TODAY - timedelta(days=8))
    assert scene.ends(run) == "failed"

    scene.tell_no_more("fetch-0")
    scene.api.clear(DAG, run, [("fetch", 0)])

    assert scene.ends(run) == "success"
    assert scene.tries(run, "fetch") == [2, *[1] * (BUCKETS - 1)]


def test_a_missed_day_is_filled_by_backfill_with_its_own_date(scene: Scene) -> None:
    day = TODAY - timedelta(days=7)
    scene.api.backfill(DAG, day, day)
    wait_until(lambda: scene.api.run_of_day(DAG, day) is not None)
    run = scene.api.run_of_day(DAG, day)
    assert run is not None
    assert run.startswith("backfill__")
    assert scene.ends(run) == "success"


def test_a_taken_bucket_waits_without_a_slot_or_a_retry_while_the_others_go_on(scene: Scene) -> None:
    scene.tell("fetch-1", "BucketTaken")
    run = scene.run(TODAY - timedelta(days=6))
    wait_until(lambda: scene.tasks(run).get(("fetch", 1), {}).get("state") == "up_for_reschedule")
    others = [("fetch", bucket) for bucket in range(BUCKETS) if bucket != 1]
    wait_until(lambda: all(scene.tasks(run)[other]["state"] == "success" for other in others))
    assert scene.api.open_slots("recrawl_fetch") == BUCKETS

    scene.tell_no_more("fetch-1")

    assert scene.ends(run) == "success"
    assert scene.tries(run, "fetch") == [1] * BUCKETS


def test_a_fetch_whose_process_is_told_to_end_is_run_again_and_no_try_is_used_up(scene: Scene) -> None:
    scene.tell("fetch-3", "WaitForStop")
    run = scene.run(TODAY - timedelta(days=5))
    pid = scene.orders / "fetch-3.pid"
    wait_until(lambda: pid.exists() and pid.read_text() != "")
    scene.tell_no_more("fetch-3")
    os.kill(int(pid.read_text()), signal.SIGTERM)
    wait_until(lambda: scene.tasks(run)["fetch", 3]["state"] == "up_for_reschedule")

    assert scene.ends(run) == "success"
    assert scene.tries(run, "fetch") == [1] * BUCKETS


def wait_until(reached: Callable[[], bool], seconds: float = 120) -> None:
    limit = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < limit
        time.sleep(0.3)
