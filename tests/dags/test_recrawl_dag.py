"""The daily DAG, run in this process by `dag.test()`: real Airflow, a real lake, stages that only note their calls."""

import ast
import os
import subprocess
import sys
from base64 import b64encode
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from crawler.core.errors import BucketTaken, CorruptLake, LeaseLost
from crawler.core.secrets import Secrets
from crawler.store.lake import Lake
from tests.dags.support import BUCKETS, DAGS, Calls

pytestmark = [pytest.mark.airflow, pytest.mark.slow, pytest.mark.xdist_group("dag")]

EACH = range(BUCKETS)


def midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def states(run: Any) -> dict[tuple[str, int], str]:
    return {(task.task_id, task.map_index): str(task.state) for task in run.get_task_instances()}


def failures(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> str:
    """All that the tasks logged."""
    out, err = capfd.readouterr()
    return out + err + caplog.text


def test_the_folder_imports_without_an_error_and_holds_one_daily_dag(recrawl_dag: Any) -> None:
    assert recrawl_dag.timetable.expression == "0 0 * * *"
    assert recrawl_dag.max_active_runs == 1
    assert not recrawl_dag.catchup


def test_parsing_the_dag_loads_neither_duckdb_nor_the_crawler(airflow_home: Path) -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import recrawl; "
        "print([name for name in ('duckdb', 'pyarrow', 'lxml', 'crawler') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", program, str(DAGS)], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines()[-1] == "[]"


def test_the_dag_file_is_a_call_of_the_factory() -> None:
    _, *statements = ast.parse((DAGS / "recrawl.py").read_text()).body
    assert [type(statement) for statement in statements] == [ast.ImportFrom, ast.Assign]


def test_the_stages_follow_each_other_as_designed(recrawl_dag: Any) -> None:
    order = ["plan", "admit", "fetch", "fingerprint", "merge", "check", "publish", "announce", "report", "complete"]
    for before, after in pairwise(order):
        assert after in recrawl_dag.get_task(before).downstream_task_ids
    assert [task.task_id for task in recrawl_dag.leaves] == ["complete"]


def test_every_mapped_task_sits_in_a_pool_of_its_kind(recrawl_dag: Any) -> None:
    pools = {name: recrawl_dag.get_task(name).partial_kwargs["pool"] for name in ("plan", "fetch", "merge")}
    assert pools == {"plan": "recrawl_plan", "fetch": "recrawl_fetch", "merge": "recrawl_fold"}


def test_a_run_calls_every_stage_once_for_each_bucket(recrawl_dag: Any, lake: Lake, calls: Calls, day: date) -> None:
    run = recrawl_dag.test(logical_date=midnight(day))

    assert run.state == "success"
    for stage in ("plan", "fetch", "fingerprint", "merge"):
        assert calls.of(stage) == [(str(day), bucket) for bucket in EACH]
    for stage in ("admit", "check", "publish"):
        assert calls.of(stage) == [(str(day),)]


def test_the_parameter_names_the_cycle_when_it_is_given(recrawl_dag: Any, lake: Lake, calls: Calls, day: date) -> None:
    before = str(day - timedelta(days=2))

    run = recrawl_dag.test(logical_date=midnight(day), run_conf={"cycle": before})

    assert run.state == "success"
    assert calls.of("publish") == [(before,)]


def test_a_failing_bucket_stops_no_other_and_turns_the_run_red_with_the_command_that_cures_it(
    recrawl_dag: Any,
    lake: Lake,
    calls: Calls,
    day: date,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail_bucket_2(stage: str, *partition: int) -> None:
        if (stage, *partition) == ("fetch", 2):
            raise CorruptLake("some.parquet", "is torn")

    calls.fails, calls.incomplete = fail_bucket_2, [2]
    run = recrawl_dag.test(logical_date=midnight(day))

    assert run.state == "failed"
    ended = states(run)
    assert [ended["fetch", bucket] for bucket in EACH] == ["success", "success", "failed", "success"]
    assert {ended["merge", bucket] for bucket in EACH} == {"success"}
    assert ended["publish", -1] == ended["announce", -1] == "success"
    assert ended["complete", -1] == "failed"
    said = failures(caplog, capfd)
    assert f"cycle {day} lacks buckets [2]" in said
    assert "failed: fetch_2" in said
    assert f"airflow tasks clear recrawl --start-date {day}T00:00:00+0000" in said
    assert "--task-regex fetch --downstream" in said


def test_clearing_a_red_run_once_the_cause_is_gone_completes_the_cycle(
    recrawl_dag: Any, lake: Lake, calls: Calls, day: date
) -> None:
    def fail_once(stage: str, *partition: int) -> None:
        if (stage, *partition) == ("fetch", 2) and calls.count(("fetch", str(day), 2)) == 1:
            raise CorruptLake("some.parquet", "is torn")

    calls.fails = fail_once
    assert recrawl_dag.test(logical_date=midnight(day)).state == "failed"
    assert recrawl_dag.test(logical_date=midnight(day)).state == "success"


def test_a_fetch_says_how_far_it_is_in_its_log_every_minute_and_no_more_often(
    recrawl_dag: Any,
    lake: Lake,
    calls: Calls,
    day: date,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    def run(lake: Lake, cycle: object, bucket: int, *, progress: Any, **_: object) -> dict[str, int]:
        if bucket == 0:
            for seconds in range(150):
                clock.now += 1.0
                progress(f"after {seconds + 1} s")
        return {"open": 0}

    clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(sys.modules["recrawl_airflow.tasks"], "time", clock)
    sys.modules["crawler.stages.fetch"].run = run  # type: ignore[attr-defined]

    assert recrawl_dag.test(logical_date=midnight(day)).state == "success"

    logged = failures(caplog, capfd)
    said = [seconds for seconds in range(1, 151) if f"after {seconds} s" in logged]
    assert said == [60, 120]


def test_a_failing_check_stops_the_publication(recrawl_dag: Any, lake: Lake, calls: Calls, day: date) -> None:
    def fail_check(stage: str, *partition: int) -> None:
        if stage == "check":
            raise CorruptLake("some.parquet", "has rows that break a promise")

    calls.fails = fail_check
    run = recrawl_dag.test(logical_date=midnight(day))

    assert run.state == "failed"
    assert calls.of("publish") == []
    assert states(run)["announce", -1] == "upstream_failed"


def test_buckets_that_check_finds_open_turn_the_run_red_even_if_no_task_failed(
    recrawl_dag: Any, lake: Lake, calls: Calls, day: date
) -> None:
    calls.incomplete = [1, 3]
    run = recrawl_dag.test(logical_date=midnight(day))
    assert run.state == "failed"
    assert calls.of("publish") == [(str(day),)]


def test_a_merge_that_lags_turns_the_run_red_and_is_what_the_command_clears(
    recrawl_dag: Any,
    lake: Lake,
    calls: Calls,
    day: date,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    calls.lagging = ["merge[1]"]
    assert recrawl_dag.test(logical_date=midnight(day)).state == "failed"
    assert "--task-regex merge --downstream" in failures(caplog, capfd)


@pytest.mark.parametrize(
    ("cycle", "said"),
    [
        ("2021-01-01", "is before the lake's first cycle"),
        ("2999-01-01", "is in the future"),
        ("yesterday", "is no day"),
        ("2026-02-30", "day is out of range"),
    ],
)
def test_a_day_that_cannot_be_run_fails_the_run_at_once_and_says_why(
    recrawl_dag: Any,
    lake: Lake,
    calls: Calls,
    day: date,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    cycle: str,
    said: str,
) -> None:
    run = recrawl_dag.test(logical_date=midnight(day), run_conf={"cycle": cycle})

    assert run.state == "failed"
    assert calls == []
    logged = failures(caplog, capfd)
    assert said in logged
    assert "no cycle was run: resolve_cycle failed" in logged


def test_a_cycle_that_cannot_fit_on_the_disk_fails_before_anything_is_planned(
    recrawl_dag: Any,
    lake: Lake,
    calls: Calls,
    day: date,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("RECRAWL_LAKE__MIN_FREE_BYTES", str(10**18))
    run = recrawl_dag.test(logical_date=midnight(day))

    assert run.state == "failed"
    assert calls == []
    assert "nothing was planned" in failures(caplog, capfd)


def test_a_connection_of_airflow_reaches_the_fetch_and_nothing_that_is_written_down(
    recrawl_dag: Any,
    lake: Lake,
    calls: Calls,
    day: date,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    with Path(os.environ["RECRAWL_SETTINGS"]).open("a") as file:
        file.write('[host."a.test"]\ncredentials = "airflow:site"\nheaders = {X-Key = "env:SITE_KEY"}\n')
    monkeypatch.setenv("AIRFLOW_CONN_SITE", "http://joe:hunter2@a.test")
    monkeypatch.setenv("SITE_KEY", "k3y-hunter2")

    run = recrawl_dag.test(logical_date=midnight(day))

    assert run.state == "success"
    secrets = calls.given["secrets"]
    assert isinstance(secrets, Secrets)
    assert secrets.login["airflow:site"].reveal() == f"Basic {b64encode(b'joe:hunter2').decode()}"
    assert secrets.text["env:SITE_KEY"].reveal() == "k3y-hunter2"
    logged = "".join(capfd.readouterr()) + caplog.text
    assert not any(secret in logged for secret in ("hunter2", b64encode(b"joe:hunter2").decode()))


def test_a_connection_that_is_not_there_fails_the_fetch_before_any_request_and_says_how_to_add_it(
    recrawl_dag: Any,
    lake: Lake,
    calls: Calls,
    day: date,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    with Path(os.environ["RECRAWL_SETTINGS"]).open("a") as file:
        file.write('[host."a.test"]\ncredentials = "airflow:nowhere"\n')

    run = recrawl_dag.test(logical_date=midnight(day))

    assert run.state == "failed"
    assert calls.of("fetch") == []
    assert "airflow connections add nowhere" in failures(caplog, capfd)


def test_a_run_without_a_date_says_that_it_needs_one(
    recrawl_dag: Any, lake: Lake, calls: Calls, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    run = recrawl_dag.test(logical_date=None)
    assert run.state == "failed"
    assert "the run has no date" in failures(caplog, capfd)


def test_a_bucket_of_another_owner_is_waited_for_without_a_slot(recrawl_dag: Any) -> None:
    from airflow.sdk.exceptions import AirflowRescheduleException

    from recrawl_airflow import tasks

    with pytest.raises(AirflowRescheduleException) as waits, tasks.errors_for_airflow():
        raise BucketTaken("bucket=0002", "process 4711")
    assert waits.value.reschedule_date > datetime.now(UTC)


def test_a_retryable_error_is_left_to_the_retries_and_any_other_fails_at_once(recrawl_dag: Any) -> None:
    from airflow.sdk.exceptions import AirflowFailException

    from recrawl_airflow import tasks

    with pytest.raises(LeaseLost), tasks.errors_for_airflow():
        raise LeaseLost("bucket=0002", 7)
    with pytest.raises(AirflowFailException, match="is torn"), tasks.errors_for_airflow():
        raise CorruptLake("some.parquet", "is torn")
