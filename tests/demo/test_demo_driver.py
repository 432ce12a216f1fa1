"""The parts of the demo's driver that can be had without an Airflow: its settings, its folder, its judgement."""

import fcntl
import json
import os
from pathlib import Path
from typing import Any

import pytest

from crawler.core.config import load_settings
from crawler.demo.airflow import ThrowAwayAirflow, clean_environment
from crawler.demo.hosts import Role
from crawler.demo.run import FULL, SHORT, run_demo, settings_text
from crawler.demo.tables import Report, Run, add_cycles, add_politeness, add_traps, read_log
from crawler.demo.traps import FETCH_LIMITS

CYCLE = {
    "planned": 9, "fetched": 8, "unchanged": 3, "changed": 1, "first_fetched": 4, "late": 0, "open": 0, "new_urls": 5,
    "failed_buckets": 0,
}  # fmt: skip
RUNS = [Run("2026-11-25", "daily", "success", 9.0), Run("2026-11-24", "backfill", "success", 9.0)]
BEGINNINGS = {
    Role.CALENDAR: "/maze/", Role.FACETS: "/list?size=", Role.PATH_SESSIONS: "/s/", Role.QUERY_SESSIONS: "/read?item=",
    Role.SOFT_404: "/nothing",
}  # fmt: skip
REQUESTS = {"pages": 2, "robots": 1, "violations": 0}


def test_the_demo_settings_are_valid_name_a_contact_and_stay_on_loopback(tmp_path: Path) -> None:
    path = tmp_path / "recrawl.toml"
    path.write_text(settings_text({"hub.demo.test": "127.0.20.10"}))
    settings = load_settings(path, {})
    settings.require_contact()
    assert settings.fetch.resolve == {"hub.demo.test": "127.0.20.10"}
    assert settings.fetch.allow_private == ("127.0.0.0/8",)
    assert settings.lake.root == str(tmp_path / "lake")
    assert settings.clock.simulated == str(tmp_path / "clock.json")


@pytest.mark.parametrize("story", [FULL, SHORT])
def test_a_story_misses_a_day_that_is_neither_its_first_nor_its_last(story: Any) -> None:
    assert story.missed in story.days[1:-1]
    assert list(story.days) == sorted(story.days, reverse=True)


def test_a_folder_that_another_demo_uses_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "lake").mkdir()
    handle = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        assert run_demo(short=True, folder=tmp_path) == 1
    finally:
        os.close(handle)
    assert (tmp_path / "lake").exists()
    assert "another demo runs" in capsys.readouterr().out


def test_variables_of_another_airflow_and_crawl_do_not_reach_the_demo() -> None:
    kept = clean_environment(
        {
            "AIRFLOW_HOME": "/x",
            "AIRFLOW__CORE__EXECUTOR": "x",
            "RECRAWL_SETTINGS": "x",
            "http_proxy": "x",
            "PATH": "/bin",
        }
    )
    assert kept == {"PATH": "/bin"}


def test_airflow_listens_on_loopback_only_and_starts_no_cycle_by_itself(tmp_path: Path) -> None:
    pools = {"one": 2, "other": 4}
    airflow = ThrowAwayAirflow(tmp_path, dags=tmp_path, plugins=tmp_path, pools=pools, variables={})
    variables = airflow.environment
    assert variables["AIRFLOW__API__HOST"] == "127.0.0.1"
    assert variables["AIRFLOW__SCHEDULER__USE_JOB_SCHEDULE"] == "False"
    assert variables["AIRFLOW__CORE__PARALLELISM"] == variables["AIRFLOW__CORE__MAX_ACTIVE_TASKS_PER_DAG"] == "4"


def test_cycles_are_well_when_all_are_published_and_only_the_backfilled_one_is_late() -> None:
    report = Report()
    add_cycles(report, [{**CYCLE, "cycle": "2026-11-24", "late": 3}, {**CYCLE, "cycle": "2026-11-25"}], RUNS)
    assert report.is_well


@pytest.mark.parametrize(
    "cycles",
    [
        [{**CYCLE, "cycle": "2026-11-24", "late": 3}],
        [{**CYCLE, "cycle": "2026-11-24", "late": 3}, {**CYCLE, "cycle": "2026-11-25", "late": 1}],
        [{**CYCLE, "cycle": "2026-11-24"}, {**CYCLE, "cycle": "2026-11-25"}],
        [{**CYCLE, "cycle": "2026-11-24", "late": 3}, {**CYCLE, "cycle": "2026-11-25", "failed_buckets": 1}],
    ],
    ids=["a cycle is missing", "a daily row is late", "no backfilled row is late", "a bucket is missing"],
)
def test_cycles_are_not_well_when_a_promise_is_broken(cycles: list[dict[str, Any]]) -> None:
    report = Report()
    add_cycles(report, cycles, RUNS)
    assert not report.is_well


def requests(tmp_path: Path, *starts: float) -> Path:
    """A server's log of requests to one host, each answered in 10 ms."""
    log = tmp_path / "requests.jsonl"
    lines = [
        {"host": "a.demo.test", "path": "/", "instant_start": "2026-11-25T00:00:00+00:00", "monotonic_start": start,
         "monotonic_last_write": start + 0.01, "monotonic_end": start + 0.01}
        for start in starts
    ]  # fmt: skip
    log.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return log


def test_politeness_is_judged_by_both_logs(tmp_path: Path) -> None:
    report = Report()
    add_politeness(report, REQUESTS, read_log(requests(tmp_path, 1.0, 2.02, 3.04)), {"a.demo.test": 1.0})
    assert report.is_well

    by_the_server = Report()
    add_politeness(by_the_server, REQUESTS, read_log(requests(tmp_path, 1.0, 1.5, 3.0)), {"a.demo.test": 1.0})
    assert not by_the_server.is_well

    by_ours = Report()
    add_politeness(by_ours, {**REQUESTS, "violations": 1}, read_log(requests(tmp_path, 1.0)), {"a.demo.test": 1.0})
    assert not by_ours.is_well


def test_a_request_that_only_the_server_knows_of_is_found(tmp_path: Path) -> None:
    report = Report()
    add_politeness(report, {**REQUESTS, "pages": 0}, read_log(requests(tmp_path, 1.0, 5.0)), {"a.demo.test": 1.0})
    assert not report.is_well


def test_a_trap_is_well_when_it_was_met_and_cost_no_more_than_its_limit() -> None:
    rows = [{"host": "facets.demo.test", "rule": "traps.max_query_combinations", "urls": 70, "held": 3}]
    met = [{"host": f"{role}.demo.test", "path": f"{path}1"} for role, path in BEGINNINGS.items()]
    report = Report()
    add_traps(report, rows, [*met, *met, {"host": "hub.demo.test", "path": "/"}])
    assert report.is_well
    assert report.tables[0].row_count == len(FETCH_LIMITS)

    unmet = Report()
    add_traps(unmet, rows, met[1:])
    assert not unmet.is_well

    costly = Report()
    add_traps(costly, rows, [*met, *({"host": "facets.demo.test", "path": f"/list?page={n}"} for n in range(200))])
    assert not costly.is_well
