"""What a fetch task has to do, from what date on and until when, and where its rows end up."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from crawler.core.cycle import Cycle
from crawler.core.errors import NotPlanned
from crawler.stages import admit, plan, seed
from crawler.store import ledger as ledgers
from crawler.store import tables
from crawler.store.lake import Lake
from crawler.store.ledger import FetchLedger
from crawler.store.state import open_state, write_checkpoint
from tests.store.small_lake import DAY, NOON, Row, captured, host_state, lake_at, linked, observed, read, write

URLS = ["http://a.test/1", "http://a.test/2", "http://a.test/3"]
NEXT = Cycle(DAY.day + timedelta(days=1))


def planned(root: Path, *cycles: Cycle, **sections: Any) -> Lake:
    lake = lake_at(root, plan={"min_interval_days": 0}, **sections)
    seed.run(lake, URLS)
    for cycle in cycles:
        plan.run(lake, cycle, 0)
        admit.run(lake, cycle)
    return lake


def todo(lake: Lake, cycle: Cycle = DAY) -> set[str]:
    with lake.own("bucket", 0, cycle) as owner:
        return {target.url for target in FetchLedger(lake, owner).todo()}


def rows_of(*urls: str) -> dict[str, list[Row]]:
    return {
        "observation": [observed(url, url) for url in urls],
        "capture": [captured(url, url) for url in urls],
        "link": [linked(url, f"{url}/link") for url in urls],
        "host_state": [host_state("a.test")],
    }


def test_what_is_written_down_is_not_to_do_any_more_neither_in_this_cycle_nor_in_an_overlapping_one(
    tmp_path: Path,
) -> None:
    lake = planned(tmp_path, DAY, NEXT)
    assert todo(lake) == todo(lake, NEXT) == set(URLS)
    with lake.own("bucket", 0, NEXT) as owner:
        FetchLedger(lake, owner).append(rows_of(URLS[0]))
    assert todo(lake) == todo(lake, NEXT) == set(URLS[1:])


def test_one_that_was_stopped_has_no_time_to_fold_but_for_the_observations_that_say_so(tmp_path: Path) -> None:
    lake = planned(tmp_path, DAY)
    with lake.own("bucket", 0, DAY) as owner:
        ledger = FetchLedger(lake, owner)
        ledger.append(rows_of(URLS[0]))
        ledger.finish(rows_of(URLS[1]), complete=False)
    settled = lake.settled("bucket", 0)
    for table, files in {"observation": 1, "link": 2, "host_state": 2}.items():
        assert len(lake.current(table, "bucket", 0, settled, DAY)) == files, table
    assert todo(lake) == {URLS[2]}
    assert len(read(lake, "link")) == 2


def test_a_later_plan_asks_again(tmp_path: Path) -> None:
    lake = planned(tmp_path, DAY)
    with lake.own("bucket", 0, DAY) as owner:
        FetchLedger(lake, owner).finish(rows_of(*URLS), complete=True)
    plan.run(lake, NEXT, 0)
    admit.run(lake, NEXT)
    assert todo(lake) == set()
    assert todo(lake, NEXT) == set(URLS)


def test_the_last_owner_s_segments_end_up_in_one_file_a_table_with_their_epochs_and_no_row_twice(
    tmp_path: Path,
) -> None:
    lake = planned(tmp_path, DAY)
    with pytest.raises(ZeroDivisionError), lake.own("bucket", 0, DAY) as owner:
        killed_after(FetchLedger(lake, owner), rows_of(URLS[0]), rows_of(URLS[1]))
    with lake.own("bucket", 0, DAY) as owner:
        ledger = FetchLedger(lake, owner)
        assert ledger.taken_over
        assert [target.url for target in ledger.todo()] == URLS[2:]
        ledger.finish(rows_of(URLS[2]), complete=True)
    found = [(row["url"], row["epoch"], row["sequence"]) for row in read(lake, "observation")]
    first = found[0][1]
    assert found == [(URLS[0], first, 1), (URLS[1], first, 2), (URLS[2], first + 1, 1)]
    settled = lake.settled("bucket", 0)
    for table, files in {"observation": 1, "link": 1, "host_state": 1, "capture": 3}.items():
        assert len(lake.current(table, "bucket", 0, settled, DAY)) == files, table
    assert len(read(lake, "link")) == len(read(lake, "capture")) == 3
    assert len(read(lake, "host_state")) == 1, "the newest state of each host"


def test_links_that_are_sorted_range_by_range_are_those_that_are_sorted_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for rows in (2, 1000):
        monkeypatch.setattr(ledgers, "_FOLD_ROWS", rows)
        lake = planned(tmp_path / str(rows), DAY)
        with lake.own("bucket", 0, DAY) as owner:
            ledger = FetchLedger(lake, owner)
            for number in range(5):
                links = [linked(URLS[0], f"http://h{(number * 7 + n) % 9}.test/{number}") for n in range(4)]
                ledger.append({"link": links})
            ledger.finish({"link": [linked(URLS[1], "http://h3.test/last")]}, complete=True)
        found.append([(row["target_host_key"], row["target_url"], row["sequence"]) for row in read(lake, "link")])
        (file,) = lake.current("link", "bucket", 0, lake.settled("bucket", 0), DAY)
        keys = pq.read_table(lake.path(file))["target_host_key"].to_pylist()
        assert keys == sorted(keys)
    assert sorted(found[0]) == sorted(found[1])
    assert len(found[0]) == 21


def killed_after(ledger: FetchLedger, *segments: dict[str, list[Row]]) -> None:
    for rows in segments:
        ledger.append(rows)
    raise ZeroDivisionError


def test_a_finished_fetch_says_whether_anything_is_left(tmp_path: Path) -> None:
    lake = planned(tmp_path, DAY)
    for complete in (False, True):
        with lake.own("bucket", 0, DAY) as owner:
            FetchLedger(lake, owner).finish({}, complete=complete)
        (file,) = lake.current("observation", "bucket", 0, lake.settled("bucket", 0), DAY)
        assert tables.read_metadata(lake.path(file)) == {"complete": str(complete).lower()}


@pytest.mark.parametrize(
    ("planned_at", "hours", "deadline"),
    [
        (NOON, 24, NEXT.start),
        (NOON, 6, NOON + timedelta(hours=6)),
        (DAY.start - timedelta(hours=3), 6, DAY.start + timedelta(hours=6)),
        (NEXT.start, 24, NEXT.end),
        (NOON + timedelta(days=9), 2, NOON + timedelta(days=9, hours=2)),
    ],
    ids=["to the end of the day", "a short window", "planned early", "late by no time", "late by days"],
)
def test_a_cycle_fetches_in_its_day_and_a_late_one_for_as_long_from_its_plan_on(
    tmp_path: Path, planned_at: Any, hours: float, deadline: Any
) -> None:
    lake = lake_at(tmp_path, fetch={"window_hours": hours})
    lake.clock.instant = planned_at
    plan.run(lake, DAY, 0)
    admit.run(lake, DAY)
    with lake.own("bucket", 0, DAY) as owner:
        assert FetchLedger(lake, owner).deadline == deadline


def test_hosts_are_told_their_newest_state_and_their_requests_of_the_last_day(tmp_path: Path) -> None:
    lake = planned(tmp_path, DAY)
    for minutes, delay in ((-1441, 1.0), (-60, 3.0)):
        at = NOON + timedelta(minutes=minutes)
        hosts = [host_state("a.test", delay_seconds=delay), host_state("else.test")]
        write(lake, 0, {"observation": [observed(URLS[0], at=at)], "host_state": hosts})
        write_checkpoint(open_state(lake, lake.connect(), 0, lake.settled("bucket", 0)))
    write(lake, 0, {"observation": [observed(URLS[1], at=NOON), observed(URLS[2], at=NOON, sent=False)]})
    plan.run(lake, NEXT, 0)
    admit.run(lake, NEXT)
    with lake.own("bucket", 0, NEXT) as owner:
        ledger = FetchLedger(lake, owner)
        ledger.todo()
        hosts = ledger.hosts()
    assert set(hosts) == {"a.test"}
    assert hosts["a.test"].delay_seconds == 3.0
    assert hosts["a.test"].requests_last_day == 2


def test_without_plan_or_admission_there_is_nothing_to_fetch(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    with pytest.raises(NotPlanned, match="the plan is missing"):
        todo(lake)
    plan.run(lake, DAY, 0)
    with pytest.raises(NotPlanned, match="the admission is missing"):
        todo(lake)
