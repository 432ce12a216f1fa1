"""Surveys: what a plan of a large bucket need not find out each day.

A plan that has scored a large bucket whole leaves two files. The beliefs say what its hosts' pages add up to and what
the whole crawl's did; the plans of the days up to the next survey start from them. The list holds the pages, as the
checkpoint has them, that can be worth its floor within HORIZON_DAYS. A page's value changes with its age only as
long as nothing in the log touches it, and grows by no more than the square of what its age grows by; so a plan that
scores the list and what the log has touched since has seen every URL that is worth the floor.

A list holds for its checkpoint, beliefs and settings. Where one of them is another, or a lower floor is wanted, the
bucket is scored whole again; so a list changes no plan. Beliefs that are some days old do: they are part of the rule,
and a plan names those that it started from. Files are named by what they follow from and are written once.
"""

import json
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb

from crawler.core.cycle import Cycle
from crawler.core.model import Row
from crawler.store import query, tables
from crawler.store.forces import forces
from crawler.store.lake import Lake, partition_name
from crawler.store.state import State, checkpoint_name

SURVEYS = "survey"

LARGE = 100_000
"""Rows of a checkpoint from which on a bucket is surveyed."""

DAYS = 7
"""From a survey of a bucket to the next; the buckets' days are spread over them."""

HORIZON_DAYS = DAYS + 1

_KEPT_DAYS = 4 * DAYS  # so that what was planned can be explained
_GENERATION_SECONDS = 7_776_000  # as macro evidence_generation: beyond it evidence counts less
_NOT_SCORED_BY = {"budget_urls", "budget_bytes", "new_share", "max_urls_per_host"}


@dataclass(frozen=True, slots=True)
class Listed:
    """A list that holds. floor: the priority from which on it is complete."""

    path: str
    floor: int


def is_large(lake: Lake, state: State) -> bool:
    """Whether the bucket of `state` is surveyed."""
    if not state.from_epoch:
        return False
    path = lake.files.path(checkpoint_name(lake, state.bucket, state.from_epoch, "page"))
    return tables.count_rows(path) >= LARGE


def newest_beliefs(lake: Lake, bucket: int, cycle: Cycle) -> str | None:
    """The name of the beliefs that a plan of a large bucket and cycle starts from; None if it makes new ones."""
    since = (cycle.day.toordinal() + bucket) % DAYS
    names = _names(lake, bucket, cycle.day - timedelta(days=since), cycle.day, "host")
    return names[-1] if names else None


def open_beliefs(lake: Lake, con: duckdb.DuckDBPyConnection, name: str) -> Row | None:
    """Make the view survey_host of the beliefs `name`; returns what they say of the crawl. None if they are gone."""
    if not lake.files.exists(name):
        return None
    path = lake.files.path(name)
    con.read_parquet(path).create_view("survey_host", replace=True)
    found: Row = json.loads(tables.read_metadata(path)["crawl"])
    return found


def keep_beliefs(
    lake: Lake, con: duckdb.DuckDBPyConnection, bucket: int, cycle: Cycle, epoch: int, now: datetime
) -> str:
    """Write the tables host_sums and crawl_belief of `con` as beliefs; returns their name. Older ones are deleted."""
    _forget(lake, bucket, cycle)
    name = _name(lake, bucket, cycle, epoch, now, "host")
    (crawl,) = query.rows(con.execute("FROM crawl_belief"))
    found = con.sql("FROM host_sums ORDER BY host_key").to_arrow_table()
    staged = lake.files.staged(".parquet")
    tables.write_table(staged, found, metadata={"crawl": json.dumps(crawl)})
    lake.files.create(staged, name)
    return name


def find_list(lake: Lake, state: State, cycle: Cycle, beliefs: str, now: datetime) -> Listed | None:
    """The newest list that holds for a plan of `cycle` at `now` that starts from `beliefs`."""
    wanted = _conditions(lake, state, beliefs, now)
    names = _names(lake, state.bucket, cycle.day - timedelta(days=HORIZON_DAYS), cycle.day, "page")
    for name in reversed(names):
        path = lake.files.path(name)
        told = tables.read_metadata(path)
        listed_at = datetime.fromisoformat(told["listed_at"])
        is_over = not listed_at <= now <= listed_at + timedelta(days=HORIZON_DAYS)
        if is_over or json.loads(told["conditions"]) != wanted:
            continue
        if any(datetime.fromisoformat(force.at) > listed_at for force in forces(lake, state.bucket)):
            return None
        return Listed(path, int(told["floor"]))
    return None


def keep_list(lake: Lake, state: State, cycle: Cycle, beliefs: str, now: datetime, floor: int) -> Listed:
    """Write the pages that the table `scored` of the whole bucket says can be worth `floor` within the horizon."""
    name = _name(lake, state.bucket, cycle, state.settled.last, now, f"page-{floor + 2**31:010d}")
    parameters = {"floor": floor, "seeds": lake.settings.plan.recheck_seeds_days > 0}
    reader = query.arrow(state.con, "plan/listed", parameters)
    conditions = _conditions(lake, state, beliefs, now)
    told = {"floor": str(floor), "listed_at": now.isoformat(), "conditions": json.dumps(conditions)}
    staged: Path = lake.files.staged(".parquet")
    tables.write_result(staged, "page", reader, told)
    lake.files.create(staged, name)
    return Listed(lake.files.path(name), floor)


def drop_lists(lake: Lake, bucket: int) -> None:
    """Delete the lists of a bucket, which hold pages; a plan makes them anew."""
    for name in _names(lake, bucket, date.min, date.max, "page"):
        lake.files.delete(name)


def _conditions(lake: Lake, state: State, beliefs: str, now: datetime) -> dict[str, Any]:
    """What a list depends on."""
    rules = lake.settings.plan.model_dump_json(exclude=_NOT_SCORED_BY)
    rules += str(lake.settings.sitemaps.interval_days)
    return {
        "checkpoint": checkpoint_name(lake, state.bucket, state.from_epoch, "page"),
        "beliefs": beliefs,
        "settings": sha256(rules.encode()).hexdigest(),
        "generation": int(now.timestamp()) // _GENERATION_SECONDS,
    }


def _folder(lake: Lake, bucket: int) -> str:
    return f"{lake.layout}/{SURVEYS}/{partition_name('bucket', bucket)}"


def _name(lake: Lake, bucket: int, cycle: Cycle, epoch: int, now: datetime, part: str) -> str:
    return f"{_folder(lake, bucket)}/cycle={cycle}/e{epoch:08d}-{now:%Y%m%dT%H%M%S%f}-{part}.parquet"


def _names(lake: Lake, bucket: int, first: date, last: date, part: str) -> list[str]:
    """The files of a part in the surveys of the cycles from `first` to `last`, oldest first."""
    return [
        f"{folder}/{name}"
        for day, folder in _days(lake, bucket)
        if first <= day <= last
        for name in lake.files.names(folder)
        if f"-{part}" in name
    ]


def _days(lake: Lake, bucket: int) -> list[tuple[date, str]]:
    folder = _folder(lake, bucket)
    names = lake.files.folders(folder)
    return [(date.fromisoformat(name.removeprefix("cycle=")), f"{folder}/{name}") for name in names]


def _forget(lake: Lake, bucket: int, cycle: Cycle) -> None:
    for day, folder in _days(lake, bucket):
        if day < cycle.day - timedelta(days=_KEPT_DAYS):
            for name in lake.files.names(folder):
                lake.files.delete(f"{folder}/{name}")
