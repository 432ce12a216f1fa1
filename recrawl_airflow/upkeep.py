"""The DAG of a crawl's upkeep: weekly, one task. What it merges and deletes is `[upkeep]` of the crawl's settings.

Loaded each time a DAG file is parsed: reads no file and imports nothing heavy.
"""

from datetime import UTC, datetime, timedelta
from os import PathLike
from typing import Any

from airflow.sdk import DAG, CronTriggerTimetable, Param, get_current_context, task

from recrawl_airflow.dag import SHARED_POOLS, Pools, crawl_of

DOC = """\
Merges small files of old cycles, lets expire what `[upkeep]` says, and deletes what nobody needs: `recrawl upkeep`.

Safe beside cycles, backfills and readers: a bucket at work is left for the next run, and what was replaced stays for
`upkeep.grace_hours`. The parameter `dry_run` only says in the task's log what would be done: look at that first.

- Settings: {settings}.
"""


def upkeep_dag(
    dag_id: str,
    settings: str | PathLike[str] | None = None,
    *,
    schedule: str = "0 3 * * 0",
    pools: Pools = SHARED_POOLS,
) -> DAG:
    """The DAG `dag_id` that keeps the lake of the crawl whose settings file is at the absolute path `settings`.

    settings, pools: as of `crawl_dag`; the task runs in the pool of folds. schedule: cron in UTC.
    """
    crawl = crawl_of(settings)
    with DAG(
        dag_id,
        schedule=CronTriggerTimetable(schedule, timezone="UTC"),
        start_date=datetime(2020, 1, 1, tzinfo=UTC),
        catchup=False,
        max_active_runs=1,
        dagrun_timeout=timedelta(hours=36),
        params={"dry_run": Param(default=False, type="boolean", description="Only say what would be done")},
        default_args={"owner": "recrawl", "retries": 2, "retry_delay": timedelta(minutes=1)},
        doc_md=DOC.format(settings=settings or "what RECRAWL_SETTINGS names"),
        tags=["recrawl"],
    ) as dag:

        @task(pool=pools.fold, execution_timeout=timedelta(hours=24))
        def upkeep() -> dict[str, Any]:
            return crawl.keep_up(dry_run=bool(get_current_context()["params"]["dry_run"]))

        upkeep()
    return dag
