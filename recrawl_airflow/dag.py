"""The DAG of a crawl: names, schedule, wiring. What a task does around its stage is in `recrawl_airflow.tasks`.

Loaded each time a DAG file is parsed: reads no file and imports nothing heavy.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from airflow.sdk import DAG, Asset, CronTriggerTimetable, Param, TriggerRule, get_current_context, task

from recrawl_airflow import tasks

DOC = """\
Fetches what is due on one UTC day and publishes it whole: a cycle.

The day is the parameter `cycle`, else the run's logical date.

`resolve_cycle -> plan -> admit -> fetch -> fingerprint -> merge -> check -> publish -> announce -> report -> complete`

- A **missed day**: `airflow backfill create --dag-id {dag} --from-date D --to-date D --max-active-runs 1`.
- A **failed bucket** does not stop the others; `complete` turns the run red and prints the command that cures it.
- A bucket that another run works on is waited for without holding a slot.
- Settings: {settings}.
- Pools: {pools}.
"""
AT_ONCE = 4  # tasks of a stage that runs DuckDB, where no pool of its own bounds them
Options = dict[str, Any]  # of a task
WHATEVER_FAILED: Options = {"trigger_rule": TriggerRule.ALL_DONE}
UNLESS_ALL_FAILED: Options = {"trigger_rule": TriggerRule.ALL_DONE_MIN_ONE_SUCCESS}
BUCKET: Options = {"map_index_template": "bucket {{ task.op_kwargs['bucket'] }}"}


class Pools(NamedTuple):
    """Airflow's pool for each kind of task. A pool that does not exist makes its tasks wait for ever."""

    plan: str = "default_pool"
    fetch: str = "default_pool"
    fold: str = "default_pool"


SHARED_POOLS = Pools()
OWN_POOLS = Pools("recrawl_plan", "recrawl_fetch", "recrawl_fold")


def crawl_dag(
    dag_id: str,
    settings: str | PathLike[str] | None = None,
    *,
    schedule: str = "0 0 * * *",
    pools: Pools = SHARED_POOLS,
) -> DAG:
    """The DAG `dag_id` that runs the cycles of the crawl whose settings file is at the absolute path `settings`.

    settings: None takes what RECRAWL_SETTINGS names where the task runs, else recrawl.toml in AIRFLOW_HOME.
    schedule: cron in UTC; a cycle is a day, so it should fire once a day.
    pools: with the default pool, at most four tasks of a stage that runs DuckDB run at once.
    """
    crawl = crawl_of(settings)
    with DAG(
        dag_id,
        schedule=CronTriggerTimetable(schedule, timezone="UTC"),
        start_date=datetime(2020, 1, 1, tzinfo=UTC),
        catchup=False,
        max_active_runs=1,
        dagrun_timeout=timedelta(hours=36),
        params={"cycle": Param(None, type=["null", "string"], description="UTC day YYYY-MM-DD; empty: logical date")},
        default_args={"owner": "recrawl", "retries": 2, "retry_delay": timedelta(minutes=1)},
        doc_md=DOC.format(dag=dag_id, settings=settings or "what RECRAWL_SETTINGS names", pools=", ".join(pools)),
        tags=["recrawl"],
    ) as dag:
        _wire(crawl, dag_id, pools)
    return dag


def crawl_of(settings: str | PathLike[str] | None) -> tasks.Crawl:
    """The crawl of a settings file. Raises ValueError unless its path means the same wherever a task runs."""
    if settings is not None and not Path(settings).is_absolute():
        raise ValueError(f"settings {str(settings)!r}: tasks run in other folders; expected an absolute path")
    return tasks.Crawl(None if settings is None else Path(settings))


def _wire(crawl: tasks.Crawl, dag_id: str, pools: Pools) -> None:
    bound: Options = {"max_active_tis_per_dag": AT_ONCE}
    plan: Options = {"pool": pools.plan, "execution_timeout": timedelta(hours=2)}
    fetch: Options = {"pool": pools.fetch, "execution_timeout": timedelta(hours=24)}
    fold: Options = {"pool": pools.fold, "execution_timeout": timedelta(hours=4)}
    many_plans = plan | BUCKET | (bound if pools.plan == SHARED_POOLS.plan else {})
    many_folds = fold | BUCKET | UNLESS_ALL_FAILED | (bound if pools.fold == SHARED_POOLS.fold else {})
    # The page in Airflow's UI learns from here which crawl the DAG runs.
    named: dict[str, Any] = {"settings": str(crawl.settings)} if crawl.settings else {}
    published = Asset(name=f"{dag_id}_cycle", uri=f"recrawl://{dag_id}/cycle", extra=named)

    @task(**plan)
    def resolve_cycle() -> str:
        context = get_current_context()
        return crawl.cycle_of_run(context["params"], context["dag_run"].logical_date)

    @task(**plan)
    def list_buckets(cycle: str) -> list[int]:
        return list(range(crawl.number_of_buckets()))

    @task(**fold, outlets=[published])
    def announce(cycle: str) -> None:
        get_current_context()["outlet_events"][published].add_partitions(cycle)

    @task(**fold, **WHATEVER_FAILED, retries=0)
    def report(cycle: str | None) -> None:
        crawl.log_report(cycle)

    @task(**WHATEVER_FAILED, retries=0)
    def complete(cycle: str | None, checked: Mapping[str, Any] | None) -> None:
        tasks.require_complete(cycle, checked)

    cycle: Any = resolve_cycle()  # a promise of it, which Airflow's types do not know for a value
    each = {"bucket": list_buckets(cycle)}
    planned = crawl.stage("plan", **many_plans).partial(cycle=cycle).expand(**each)
    admitted = crawl.stage("admit", **plan)(cycle)
    fetched = crawl.stage("fetch", **fetch, **BUCKET).partial(cycle=cycle).expand(**each)
    fingerprinted = crawl.stage("fingerprint", **many_folds).partial(cycle=cycle).expand(**each)
    merged = crawl.stage("merge", **many_folds).partial(cycle=cycle).expand(**each)
    checked = crawl.stage("check", **fold, **UNLESS_ALL_FAILED)(cycle)
    publish = crawl.stage("publish", **fold)(cycle)
    planned >> admitted >> fetched >> fingerprinted >> merged >> checked >> publish
    publish >> announce(cycle) >> report(cycle) >> complete(cycle, checked)
