"""The demo: a web made for it, a throw-away Airflow, daily cycles with one missed and backfilled, then the tables.

Owns the folder `.demo`, which it empties first and leaves with the lake, the settings and all logs. Everything it
starts is on a leash and ends with it. Days pass by writing the simulated clock that the web and the crawl both read.
"""

import fcntl
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import FrameType
from typing import Any, TypeAlias

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import crawler
from crawler.core.clock import SimulatedClock
from crawler.core.config import load_settings
from crawler.demo.airflow import DemoFailed, ThrowAwayAirflow, clean_environment
from crawler.demo.airflow_api import AirflowRefused
from crawler.demo.leash import Leashed
from crawler.demo.tables import Run, eventful_url, make_report
from crawler.demo.truth import Truth
from crawler.stages import seed
from crawler.store.lake import Lake

FOLDER = Path(".demo")
DAG = "recrawl"
BUCKETS = 4
RUN_SECONDS = 900.0
WEB_SECONDS = 30.0
DAG_SECONDS = 60.0
PIPE_COLUMNS = 120
# One task each of: resolve_cycle, list_buckets, admit, check, publish, announce, report, complete.
TASKS = 4 * BUCKETS + 8

Explain: TypeAlias = Callable[[Lake, str], None]


@dataclass(frozen=True, slots=True)
class Story:
    """How large the web is and which days pass. days: before today; missed: the one of them that is left out."""

    hosts: int
    pages: int
    days: tuple[int, ...]
    missed: int


FULL = Story(hosts=64, pages=3200, days=(5, 4, 3, 2, 1), missed=3)
SHORT = Story(hosts=32, pages=640, days=(3, 2, 1), missed=2)


def run_demo(*, short: bool = False, folder: Path = FOLDER, explain: Explain | None = None) -> int:
    """Run the demo; 0 if every promise was kept, else 1. Leaves no process, whatever ends it.

    explain: shows the story of a URL in a lake, as `recrawl explain` does; given that of one URL to tell.
    """
    console = Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_COLUMNS)
    began = time.monotonic()
    try:
        with _ends_on_sigterm(), _own(folder):
            is_well = _play(SHORT if short else FULL, folder.resolve(), console, explain)
    except (DemoFailed, AirflowRefused) as failure:
        console.print(f"The demo failed: {failure}", style="red", markup=False)
        console.print(f"All logs are in {folder}.")
        return 1
    console.print(f"\n{time.monotonic() - began:.0f} s. The lake stays in {folder}/lake; ask it:")
    for question in ("select * from coverage", "select count(*) from observation where late"):
        console.print(f'  {_recrawl()} sql -c "{question}"', markup=False)
    console.print(f"  {_recrawl()} sql --list")
    return 0 if is_well else 1


def _play(story: Story, folder: Path, console: Console, explain: Explain | None) -> bool:
    days = [datetime.now(UTC).date() - timedelta(days=ago) for ago in story.days]
    missed = days[story.days.index(story.missed)]
    clock = SimulatedClock(folder / "clock.json")
    clock.set(_at(days[0], "00:05"))
    repository = Path(crawler.__file__).resolve().parents[1]
    if not (repository / "dags" / "recrawl.py").exists():
        raise DemoFailed(f"there is no dags/recrawl.py in {repository}: run the demo from a clone of the repository")
    airflow = ThrowAwayAirflow(
        folder / "airflow",
        dags=repository / "dags",
        plugins=repository / "plugins",
        pools={"recrawl_plan": 2, "recrawl_fetch": BUCKETS, "recrawl_fold": 2},
        variables={"RECRAWL_SETTINGS": str(folder / "recrawl.toml")},
    )
    with ExitStack() as stack:
        ready = stack.enter_context(_web(story, folder, days[0], console))
        lake = _make_lake(folder, ready, clock)
        with console.status("Airflow starts: SQLite, LocalExecutor, scheduler"):
            stack.enter_context(airflow)
            airflow.api.await_dag(DAG, DAG_SECONDS)
        console.print(f"Airflow: {airflow.api.address}, user admin, password {airflow.password}", markup=False)
        runs = list(_pass_days(airflow, clock, days, missed, console))
    clock.set(_at(days[-1], "23:59"))
    report = make_report(lake, Truth.from_ready(folder / "web.json"), folder / "requests.jsonl", runs)
    for table in report.tables:
        console.print()
        console.print(table)
    if explain and (url := eventful_url(lake)):
        console.print(f"\n$ {_recrawl()} explain {url}", markup=False)
        explain(lake, url)
    return report.is_well


def _pass_days(
    airflow: ThrowAwayAirflow, clock: SimulatedClock, days: list[date], missed: date, console: Console
) -> Iterator[Run]:
    """Run each day's cycle on its day but the missed one, then have Airflow backfill that one on the last day."""
    columns = (TextColumn("{task.description}"), BarColumn(24), MofNCompleteColumn(), TimeElapsedColumn())
    api = airflow.api
    with Progress(*columns, console=console, transient=True) as progress:
        for day in days:
            if day == missed:
                console.print(f"{day}  missed: nobody runs it on its day")
                continue
            clock.set(_at(day, "00:05"))
            yield _watch(airflow, api.trigger(DAG, day), Run(str(day), "daily", "", 0), progress)
        clock.set(_at(days[-1], "12:00"))
        api.backfill(DAG, missed, missed)
        while not (run := api.run_of_day(DAG, missed)):
            time.sleep(0.3)
        yield _watch(airflow, run, Run(str(missed), "backfill", "", 0), progress)


def _watch(airflow: ThrowAwayAirflow, run_id: str, run: Run, progress: Progress) -> Run:
    """Show a run until it has ended."""
    began = time.monotonic()
    bar = progress.add_task(f"{run.cycle}  {run.kind}", total=TASKS)

    def show(instances: list[dict[str, Any]]) -> None:
        airflow.check()
        at_work = sorted({task["task_id"] for task in instances if task["state"] == "running"})
        done = sum(task["state"] in ("success", "failed", "upstream_failed") for task in instances)
        progress.update(bar, completed=done, description=f"{run.cycle}  {run.kind:8}  {' '.join(at_work):12}")

    state = airflow.api.wait(DAG, run_id, seconds=RUN_SECONDS, watch=show)
    progress.remove_task(bar)
    seconds = time.monotonic() - began
    progress.console.print(f"{run.cycle}  {run.kind:8}  {state}, {seconds:.0f} s")
    if state != "success":
        said = "\n".join(airflow.errors_of(run_id))
        raise DemoFailed(f"the run of {run.cycle} failed; its tasks say:\n{said}\nTheir logs: {airflow.home}/logs")
    return Run(run.cycle, run.kind, state, seconds)


@contextmanager
def _web(story: Story, folder: Path, first: date, console: Console) -> Iterator[dict[str, Any]]:
    """The demo web in a process of its own; what its ready file says."""
    ready = folder / "web.json"
    web = Leashed(
        "web",
        [sys.executable, "-m", "crawler.demo.web", "--clock", str(folder / "clock.json"), "--ready", str(ready)]
        + ["--log", str(folder / "requests.jsonl"), "--hosts", str(story.hosts), "--pages", str(story.pages)]
        + ["--start", str(first)] + ([] if sys.platform == "linux" else ["--one-address"]),
        log=folder / "web.log",
        environment=clean_environment(os.environ),
    )  # fmt: skip
    try:
        limit = time.monotonic() + WEB_SECONDS
        while not ready.exists():
            if web.exit_code is not None or time.monotonic() > limit:
                raise DemoFailed(f"the demo web did not start; the end of {web.log}:\n{web.last_lines()}")
            time.sleep(0.1)
        found: dict[str, Any] = json.loads(ready.read_text(encoding="utf-8"))
        console.print(f"Web: {len(found['resolve'])} hosts, {story.pages:,} pages, port {found['port']} of 127.0.0.0/8")
        yield found
    finally:
        web.stop()


def _make_lake(folder: Path, ready: dict[str, Any], clock: SimulatedClock) -> Lake:
    (folder / "recrawl.toml").write_text(settings_text(ready["resolve"]), encoding="utf-8")
    lake = Lake.create(load_settings(folder / "recrawl.toml", {}), clock)
    seed.run(lake, ready["seeds"])
    return lake


def settings_text(resolve: dict[str, str]) -> str:
    """The demo's recrawl.toml: short delays and windows, since a day passes in half a minute."""
    hosts = "\n".join(f'"{name}" = "{address}"' for name, address in sorted(resolve.items()))
    return f"""\
[crawl]
user_agent = "recrawl-demo/1.0 (+https://example.org/recrawl-demo)"

[lake]
buckets = {BUCKETS}

[scope]
hosts = ["*.demo.test"]

[politeness]
delay_seconds = 0.05
delay_factor = 2
address_delay_seconds = 0.02

[plan]
budget_urls = 2500

[traps]
max_urls_per_pattern = 60
max_urls_per_text = 20
max_barren_pages_per_host = 100

[engine]
threads = 1
memory_limit = "512MB"

[clock]
simulated = "clock.json"

[fetch]
threads = 16
window_hours = 0.0125
read_seconds = 5
total_seconds = 10
allow_private = ["127.0.0.0/8"]

[fetch.resolve]
{hosts}
"""


def _at(day: date, hour: str) -> datetime:
    return datetime.fromisoformat(f"{day}T{hour}:00+00:00")


def _recrawl() -> str:
    beside = Path(sys.executable).with_name("recrawl")
    shown = Path(os.path.relpath(beside))
    return str(shown if len(str(shown)) < len(str(beside)) else beside) if beside.exists() else "recrawl"


@contextmanager
def _own(folder: Path) -> Iterator[None]:
    """Have the folder to ourselves, emptied. Raises DemoFailed while another demo uses it."""
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DemoFailed(f"another demo runs in {folder.resolve()}; end it first") from None
        for entry in folder.iterdir():
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        yield
    finally:
        os.close(handle)


@contextmanager
def _ends_on_sigterm() -> Iterator[None]:
    """Make SIGTERM unwind like Ctrl-C does, so that everything started is stopped."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
