"""What every task does around its stage: settings, the lake, and errors turned into Airflow's words.

The only place that maps errors: `retryable = False` fails the task at once, a bucket that another process owns makes
it wait without a slot and without using up a retry, everything else is retried as the DAG says. A fetch that a worker's
shutdown stops gives its bucket back and is rescheduled likewise. Heavy imports stay inside the functions: the DAG
processor imports this module every time it parses.
"""

import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.sdk import Connection, get_current_context, task
from airflow.sdk.exceptions import AirflowFailException, AirflowNotFoundException, AirflowRescheduleException

if TYPE_CHECKING:
    from crawler.core.config import Settings
    from crawler.core.secrets import Secrets
    from crawler.store.lake import Lake

LOOK_AGAIN = timedelta(seconds=60)
SAY_EVERY = timedelta(minutes=1)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Crawl:
    """The crawl of one settings file, as a worker sees it. None: the file that the worker's environment names."""

    settings: Path | None = None

    def stage(self, name: str, **options: Any) -> Any:
        """The task that runs `crawler.stages.<name>` for a cycle, and for a bucket (or a digest shard) when mapped.

        What it returns, a small dict of counts, is its XCom.
        """

        @task(task_id=name, **options)
        def run(cycle: str, bucket: int | None = None) -> dict[str, Any]:
            with errors_for_airflow():
                lake = self.open_lake()
                partition = () if bucket is None else (bucket,)
                stage = import_module(f"crawler.stages.{name}").run
                run_stage = partial(stage, lake, lake.cycle(cycle), *partition)
                counts = fetch_until_stopped(lake, run_stage) if name == "fetch" else run_stage()
            return dict(counts)

        return run

    def cycle_of_run(self, params: Mapping[str, Any], logical_date: datetime | None) -> str:
        """The cycle of a run: its parameter, else the day of its logical date. Never its data interval.

        Fails for what is no day, lies before the lake's first cycle, or after the lake's today, and if the lake's disk
        has no room for the cycle.
        """
        from crawler.store.space import require_space

        if not params.get("cycle") and logical_date is None:
            raise AirflowFailException('the run has no date: give it a logical date or {"cycle": "YYYY-MM-DD"}')
        text = params.get("cycle") or f"{logical_date:%Y-%m-%d}"
        with errors_for_airflow():
            lake = self.open_lake()
            lake.settings.require_contact()
            cycle = lake.cycle(str(text))
            require_space(lake, cycle)
            return str(cycle)

    def number_of_buckets(self) -> int:
        """How many buckets the lake has."""
        with errors_for_airflow():
            return self.open_lake().buckets

    def log_report(self, cycle: str | None) -> None:
        """Write how the cycle stands into the task's log."""
        from crawler.store import query
        from crawler.store.reader import open_reader

        if cycle is None:
            return
        with errors_for_airflow():
            lake = self.open_lake()
            published = query.rows(query.run(open_reader(lake), "publish/cycle", {"cycle": cycle}))
        for counts in published:
            log.info("%s", ", ".join(f"{name} {value}" for name, value in counts.items()))
        if not published:
            log.warning("cycle %s is not published", cycle)

    def keep_up(self, *, dry_run: bool) -> dict[str, Any]:
        """Run the upkeep of the lake and write into the task's log what it did; returns the same."""
        from crawler.store.upkeep import upkeep

        with errors_for_airflow():
            report = upkeep(self.open_lake(), dry_run=dry_run)
        for row in report.rows():
            log.info("%s%s", "would " if dry_run else "", ", ".join(f"{name} {value}" for name, value in row.items()))
        for skipped in report.skipped:
            log.warning("left alone: %s", skipped)
        return report.to_dict()

    def open_lake(self) -> "Lake":
        """The lake that the settings name."""
        from crawler.core.clock import open_clock
        from crawler.core.config import load_settings
        from crawler.store.lake import Lake

        settings = load_settings(self.settings or default_settings())
        return Lake.open(settings, open_clock(settings.clock.simulated or None))


def default_settings() -> Path:
    """Where the settings are when the DAG file names none: RECRAWL_SETTINGS, else recrawl.toml in AIRFLOW_HOME."""
    home = Path(os.environ.get("AIRFLOW_HOME", "~/airflow")).expanduser()
    return Path(os.environ.get("RECRAWL_SETTINGS") or home / "recrawl.toml")


def fetch_until_stopped(lake: "Lake", fetch: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    """Run a fetch, say each minute how far it is, and end it early when this process is told to end.

    Airflow tells by SIGTERM or SIGINT and kills five seconds later. What is left is fetched by the next try.
    """
    from crawler.core.stop import stop_on_signals

    next_line = time.monotonic() + SAY_EVERY.total_seconds()

    def say(progress: object) -> None:
        nonlocal next_line
        if time.monotonic() >= next_line:
            next_line = time.monotonic() + SAY_EVERY.total_seconds()
            log.info("%s", progress)

    with stop_on_signals() as stop:
        counts = fetch(secrets=read_secrets(lake.settings), progress=say, stop=stop)
    if counts.get("stopped"):
        log.warning("ended by signal %s; %s URLs stay open until this task runs again", stop.number, counts["open"])
        raise AirflowRescheduleException(datetime.now(UTC) + LOOK_AGAIN)
    return counts


def read_secrets(settings: "Settings") -> "Secrets":
    """What the settings refer to, in the worker's environment or as a Connection. Raises MissingSecret."""
    from crawler.core.secrets import resolve_secrets

    return resolve_secrets(settings, os.environ, _login)


def _login(conn_id: str) -> tuple[str, str] | None:
    try:
        found = Connection.get(conn_id)
    except AirflowNotFoundException:
        return None
    return found.login or "", found.password or ""


def require_complete(cycle: str | None, check: Mapping[str, Any] | None) -> None:
    """Fail the run if a task of it failed or `check` found work left to do, and say which command cures it."""
    from crawler.core.errors import CycleIncomplete

    context = get_current_context()
    run = context["dag_run"]
    states = context["ti"].get_task_states(dag_id=run.dag_id, run_ids=[run.run_id]).get(run.run_id, {})
    failed = sorted(name for name, state in states.items() if state == "failed")
    if cycle is None:
        raise AirflowFailException(f"no cycle was run: {', '.join(failed)} failed; the log of that task says why")
    buckets, lagging = (list(check["failed"]), list(check["lagging"])) if check else ([], [])
    if failed or buckets or lagging:
        order = [known.task_id for known in context["dag"].topological_sort()]
        stages = {name if name in order else name.rpartition("_")[0] for name in failed}
        stages |= {"fetch"} if buckets else {part.partition("[")[0] for part in lagging}
        cure = cure_of(run.dag_id, run.logical_date, cycle, min(stages, key=order.index))
        problem = CycleIncomplete(cycle, buckets, cure) if buckets else f"cycle {cycle} is not complete. {cure}"
        raise AirflowFailException(f"{problem} (failed: {', '.join([*failed, *lagging]) or 'no task'})")


def cure_of(dag: str, logical_date: datetime | None, cycle: str, stage: str) -> str:
    """The command that runs `stage` and what follows it again. What is done already is not done twice."""
    if logical_date is None:  # the command line finds runs by their logical date only
        return f"""Once the cause is gone: airflow dags trigger {dag} --conf '{{"cycle": "{cycle}"}}'"""
    day = f"{logical_date:%Y-%m-%dT%H:%M:%S%z}"
    return (
        f"Once the cause is gone: airflow tasks clear {dag} --start-date {day} --end-date {day} "
        f"--task-regex {stage} --downstream --yes"
    )


@contextmanager
def errors_for_airflow() -> Iterator[None]:
    """Turn our errors into what Airflow understands; see the module's docstring."""
    from crawler.core.errors import BucketTaken, RecrawlError

    try:
        yield
    except BucketTaken as taken:
        log.info("%s", taken)
        raise AirflowRescheduleException(datetime.now(UTC) + LOOK_AGAIN) from taken
    except RecrawlError as error:
        if error.retryable:
            raise
        raise AirflowFailException(str(error)) from error
