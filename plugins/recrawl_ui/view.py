"""What the page shows of a lake, as plain values: cycles, partitions, the command that fills gaps, the summaries.

Reads what publish summarised, and from `crawler.store.overview` how the newest cycles stand. The api-server also
serves Airflow's tasks, so DuckDB gets one thread, little memory and a few seconds here, one look is taken at a time,
and those who ask within seconds share it. Knows no Airflow.
"""

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from crawler.core.clock import open_clock
from crawler.core.config import load_settings
from crawler.core.cycle import Cycle
from crawler.core.progress import Progress
from crawler.store import overview
from crawler.store.lake import Lake
from crawler.store.overview import CycleRow, Partition, State
from crawler.store.query import Interrupted
from crawler.store.summary import Summary, summaries

GRID_CYCLES = 14
PLOT_CYCLES = 90
KEEP_SECONDS = 3.0
MOST_SECONDS = 10.0
ENGINE = {"threads": 1, "memory_limit": "256MB"}
# A backfill of such cycles completes them; `running` ones complete themselves.
GAPS = (State.MISSING, State.FAILED, State.STOPPED)


class Run(Protocol):
    """A run of Airflow that goes on."""

    @property
    def cycle(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Day:
    """One cycle of the grid. state: of the cycle, or `due` for today's before it begins. run: Airflow's, if active."""

    cycle: str
    state: str
    row: CycleRow | None
    parts: list[Partition]
    did: dict[str, Any]
    run: Run | None

    @property
    def live(self) -> Progress | None:
        """What its running fetches say, together; None if none says anything."""
        said = [part.live.progress for part in self.parts if part.live is not None]
        return Progress.total(said) if said else None


@dataclass(frozen=True, slots=True)
class Gap:
    """Days in a row that are not complete, and the command that completes them."""

    first: str
    last: str
    command: str


@dataclass(frozen=True, slots=True)
class View:
    """Everything that the page shows. days: newest first.

    newest: the summary that was written last; it may be of a backfill. audits: those of the newest cycles, newest
    first. elsewhere: cycles before those of `days` that a run works on.
    """

    dag_id: str
    root: str
    user_agent: str
    now: datetime
    buckets: int
    days: list[Day]
    gaps: list[Gap]
    newest: Summary | None
    elsewhere: list[Day] = field(default_factory=list)
    audits: list[Summary] = field(default_factory=list)
    plot: dict[str, list[Any]] = field(default_factory=dict)

    @property
    def active(self) -> list[Day]:
        """The cycles that something works on."""
        return [day for day in [*self.days, *self.elsewhere] if day.run is not None or day.state == State.RUNNING]

    @property
    def mark(self) -> str:
        """Changes when the rest of the page no longer shows how things stand."""
        newest = f"{self.newest.cycle}/{self.newest.number}" if self.newest else "nothing"
        return ";".join([newest, *(f"{day.cycle} {day.state}" for day in self.days)])


def look(dag_id: str, settings_path: Path, runs: Iterable[Run]) -> View:
    """How the crawl of `settings_path` stands. Raises RecrawlError without a lake, TookTooLong."""
    settings = load_settings(settings_path)
    settings = settings.model_copy(update={"engine": settings.engine.model_copy(update=ENGINE)})
    lake = _HurriedLake.open(settings, open_clock(settings.clock.simulated or None))
    now = lake.clock.now()
    by_cycle = {run.cycle: run for run in runs}
    stand = _LOOKS.at(lake)
    known, rows = stand.known, stand.rows
    did = {summary.cycle: summary.did for summary in known}
    days = [_day(row, stand.parts, did, by_cycle) for row in rows]
    days += [_later(day, now.date(), by_cycle) for day in _days_after(lake, rows, now.date())]
    shown = {day.cycle for day in days[-GRID_CYCLES:]}
    return View(
        dag_id=dag_id,
        root=lake.files.root,
        user_agent=settings.crawl.user_agent,
        now=now,
        buckets=lake.buckets,
        days=days[::-1][:GRID_CYCLES],
        gaps=list(_gaps(dag_id, days[-GRID_CYCLES:])),
        newest=max(known, key=lambda summary: summary.created_at, default=None),
        elsewhere=[Day(cycle, "due", None, [], {}, run) for cycle, run in by_cycle.items() if cycle not in shown],
        audits=known[::-1][:GRID_CYCLES],
        plot=_plot(known),
    )


def _day(row: CycleRow, parts: list[Partition], did: dict[str, dict[str, Any]], runs: dict[str, Run]) -> Day:
    mine = [part for part in parts if part.cycle == row.cycle]
    return Day(row.cycle, row.state, row, mine, did.get(row.cycle, {}), runs.get(row.cycle))


def _later(day: date, today: date, runs: dict[str, Run]) -> Day:
    run = runs.get(day.isoformat())
    is_due = day == today or run is not None
    return Day(day.isoformat(), "due" if is_due else State.MISSING.value, None, [], {}, run)


def _days_after(lake: Lake, rows: list[CycleRow], today: date) -> list[date]:
    """The days after the newest planned cycle, which nobody began, up to today."""
    first = date.fromisoformat(rows[-1].cycle) + timedelta(days=1) if rows else lake.metadata.first_cycle
    first = max(first, today - timedelta(days=GRID_CYCLES))
    return [first + timedelta(days=number) for number in range((today - first).days + 1)]


def _gaps(dag_id: str, days: list[Day]) -> Iterable[Gap]:
    """Ranges of incomplete days that nobody works on, oldest first."""
    open_days = [Cycle.parse(day.cycle).day for day in days if day.state in GAPS and day.run is None]
    starts = [day for day in open_days if day - timedelta(days=1) not in open_days]
    ends = [day for day in open_days if day + timedelta(days=1) not in open_days]
    for first, last in zip(starts, ends, strict=True):
        yield Gap(
            str(first),
            str(last),
            f"airflow backfill create --dag-id {dag_id} --from-date {first} --to-date {last} "
            "--reprocess-behavior completed --max-active-runs 1",
        )


def _plot(known: list[Summary]) -> dict[str, list[Any]]:
    """Columns for the charts: how the crawl stood by the time of publishing, what was done by cycle."""
    in_time = sorted(known, key=lambda summary: summary.created_at)

    def share(part: str, whole: str) -> list[float | None]:
        return [round(100 * s.crawl[part] / s.crawl[whole], 2) if s.crawl[whole] else None for s in in_time]

    return {
        "published": [int(datetime.fromisoformat(summary.created_at).timestamp()) for summary in in_time],
        "covered": share("fetched", "known_urls"),
        "fresh_day": share("fresh_day", "live"),
        "fresh_week": share("fresh_week", "live"),
        "cycle": [int(Cycle.parse(summary.cycle).start.timestamp()) for summary in known],
        **{name: [summary.did[name] for summary in known] for name in ("first_fetched", "changed", "unchanged")},
    }


class TookTooLong(Exception):
    """The lake could not be looked at in the time that a page may take."""

    def __str__(self) -> str:
        return f"looking at the lake took more than {MOST_SECONDS:.0f} s; `recrawl status` takes the time that it needs"


class _HurriedLake(Lake):
    """A lake whose queries are stopped when they take too long."""

    def connect(self) -> Any:
        con = super().connect()
        stop = threading.Timer(MOST_SECONDS, con.interrupt)
        stop.daemon = True
        stop.start()
        return con


@dataclass(frozen=True, slots=True)
class _Look:
    """How a lake stood at an instant."""

    at: float
    parts: list[Partition]
    rows: list[CycleRow]
    known: list[Summary]


class _Looks:
    """The last look at each lake; whoever asks meanwhile waits for it instead of starting another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, _Look] = {}

    def at(self, lake: Lake) -> _Look:
        if not self._lock.acquire(timeout=MOST_SECONDS):
            raise TookTooLong
        try:
            kept = self._kept.get(lake.files.root)
            if kept is None or time.monotonic() - kept.at >= KEEP_SECONDS:
                parts = overview.partitions(lake, last=GRID_CYCLES)
                rows = overview.cycles(lake, last=GRID_CYCLES, parts=parts)
                kept = _Look(time.monotonic(), parts, rows, summaries(lake, PLOT_CYCLES))
                self._kept[lake.files.root] = kept
            return kept
        except Interrupted as stopped:
            raise TookTooLong from stopped
        finally:
            self._lock.release()


_LOOKS = _Looks()
