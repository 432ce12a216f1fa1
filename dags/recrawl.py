"""Fetches what is due on one UTC day and publishes it whole: a cycle.

The day is the parameter `cycle`, else the run's logical date.

`resolve_cycle -> plan -> admit -> fetch -> fingerprint -> merge -> check -> publish -> announce -> report -> complete`

- A **missed day**: `airflow backfill create --dag-id recrawl --from-date D --to-date D --max-active-runs 1`.
- A **failed bucket** does not stop the others; `complete` turns the run red and prints the command that cures it.
- A bucket that another run works on is waited for without holding a slot.
- Pools to create, and their slots: `recrawl_plan` (cores), `recrawl_fetch` (buckets), `recrawl_fold` (cores).
- Settings: the file that `RECRAWL_SETTINGS` names, else `recrawl.toml` beside the dags folder.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.sdk import Asset, CronTriggerTimetable, Param, TriggerRule, dag, get_current_context, task
from recrawl_airflow import cycle_of_run, log_report, number_of_buckets, require_complete, stage

CYCLE = Asset(name="recrawl_cycle", uri="recrawl://lake/cycle")
BUCKET = {"map_index_template": "bucket {{ task.op_kwargs['bucket'] }}"}
WHATEVER_FAILED = {"trigger_rule": TriggerRule.ALL_DONE}
UNLESS_ALL_FAILED = {"trigger_rule": TriggerRule.ALL_DONE_MIN_ONE_SUCCESS}
PLAN = {"pool": "recrawl_plan", "execution_timeout": timedelta(hours=2)}
FETCH = {"pool": "recrawl_fetch", "execution_timeout": timedelta(hours=24)}
FOLD = {"pool": "recrawl_fold", "execution_timeout": timedelta(hours=4)}


@dag(
    schedule=CronTriggerTimetable("0 0 * * *", timezone="UTC"),
    start_date=datetime(2020, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    dagrun_timeout=timedelta(hours=36),
    params={"cycle": Param(None, type=["null", "string"], description="UTC day YYYY-MM-DD; empty: the logical date")},
    default_args={"owner": "recrawl", "retries": 2, "retry_delay": timedelta(minutes=1)},
    doc_md=__doc__,
    tags=["recrawl"],
)
def recrawl() -> None:
    """The wiring; `stage` tasks run the function of that name in `crawler.stages`."""

    @task(**PLAN)
    def resolve_cycle() -> str:
        context = get_current_context()
        return cycle_of_run(context["params"], context["dag_run"].logical_date)

    @task(**PLAN)
    def list_buckets(cycle: str) -> list[int]:
        return list(range(number_of_buckets()))

    @task(**FOLD, outlets=[CYCLE])
    def announce(cycle: str) -> None:
        get_current_context()["outlet_events"][CYCLE].add_partitions(cycle)

    @task(**FOLD, **WHATEVER_FAILED, retries=0)
    def report(cycle: str | None) -> None:
        log_report(cycle)

    @task(**WHATEVER_FAILED, retries=0)
    def complete(cycle: str | None, checked: dict[str, Any] | None) -> None:
        require_complete(cycle, checked)

    cycle = resolve_cycle()
    each = {"bucket": list_buckets(cycle)}
    planned = stage("plan", **PLAN, **BUCKET).partial(cycle=cycle).expand(**each)
    admitted = stage("admit", **PLAN)(cycle)
    fetched = stage("fetch", **FETCH, **BUCKET).partial(cycle=cycle).expand(**each)
    fingerprinted = stage("fingerprint", **FOLD, **BUCKET, **UNLESS_ALL_FAILED).partial(cycle=cycle).expand(**each)
    merged = stage("merge", **FOLD, **BUCKET, **UNLESS_ALL_FAILED).partial(cycle=cycle).expand(**each)
    checked = stage("check", **FOLD, **UNLESS_ALL_FAILED)(cycle)
    published = stage("publish", **FOLD)(cycle)
    planned >> admitted >> fetched >> fingerprinted >> merged >> checked >> published
    published >> announce(cycle) >> report(cycle) >> complete(cycle, checked)


recrawl()
