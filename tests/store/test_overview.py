"""How cycles and buckets stand: missing, planned, running, failed, stopped, finished, published."""

import contextlib
import itertools
from pathlib import Path

import pytest

from crawler.core.errors import BucketTaken
from crawler.stages import check
from crawler.store import overview
from crawler.store.lake import Lake
from crawler.store.ledger import FetchLedger
from tests.store.small_cycle import CYCLES, fetch_all, fold, prepare, run_whole, seeded_lake
from tests.store.small_lake import lake_at
from tests.store.small_web import A, bucket_of_url, fetch


def states(lake: Lake) -> dict[tuple[str, int], str]:
    return {(part.cycle, part.bucket): part.state for part in overview.partitions(lake)}


def cycle_states(lake: Lake) -> dict[str, str]:
    return {row.cycle: row.state for row in overview.cycles(lake)}


def test_a_lake_without_a_plan_has_no_cycle(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    assert (overview.partitions(lake), overview.cycles(lake)) == ([], [])


def test_a_cycle_goes_from_planned_to_published(tmp_path: Path) -> None:
    lake = seeded_lake(tmp_path)
    cycle = CYCLES[0]
    prepare(lake, cycle)
    assert cycle_states(lake) == {str(cycle): "planned"}
    (row,) = overview.cycles(lake)
    assert (row.planned, row.done, row.open, row.late) == (2, 0, 2, 0)
    fetch_all(lake, cycle)
    (row,) = overview.cycles(lake)
    assert (row.state, row.planned, row.done, row.open) == ("finished", 2, 2, 0)
    assert row.published_at is None
    run_whole(lake, cycle)
    (row,) = overview.cycles(lake)
    assert (row.state, row.failed, row.lagging) == ("published", [], [])
    assert row.published_at is not None
    assert row.wire_bytes > 0


def test_days_between_the_first_cycle_and_the_newest_that_were_never_planned_are_missing(tmp_path: Path) -> None:
    lake = seeded_lake(tmp_path)
    run_whole(lake, CYCLES[0])
    run_whole(lake, CYCLES[3])
    first, one, two, last = map(str, CYCLES)
    assert cycle_states(lake) == {first: "published", one: "missing", two: "missing", last: "published"}
    assert {part.planned for part in overview.partitions(lake) if part.state == "missing"} == {0}
    run_whole(lake, CYCLES[1])  # a backfill
    rows = {row.cycle: row for row in overview.cycles(lake)}
    assert rows[one].state == "published"
    assert [part.cycle for part in overview.partitions(lake, last=1)] == [last] * lake.buckets


def test_late_observations_are_counted_for_their_cycle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = seeded_lake(tmp_path)
    prepare(lake, CYCLES[0])
    append, finish = FetchLedger.append, FetchLedger.finish

    def late(rows):
        return {
            table: [{**row, **({"late": True} if table == "observation" else {})} for row in found]
            for table, found in rows.items()
        }

    monkeypatch.setattr(FetchLedger, "append", lambda self, rows: append(self, late(rows)))
    monkeypatch.setattr(FetchLedger, "finish", lambda self, rows, **more: finish(self, late(rows), **more))
    fetch_all(lake, CYCLES[0])
    (row,) = overview.cycles(lake)
    assert (row.done, row.late) == (2, 2)


def test_a_bucket_at_work_is_running_with_what_its_segments_hold(tmp_path: Path) -> None:
    lake = seeded_lake(tmp_path)
    run_whole(lake, CYCLES[0])
    prepare(lake, CYCLES[1])
    bucket = bucket_of_url(f"{A}/")
    seen: list[tuple[str, int, int]] = []

    def look(*_: object) -> None:
        part = next(p for p in overview.partitions(lake) if (p.cycle, p.bucket) == (str(CYCLES[1]), bucket))
        seen.append((part.state, part.done, part.open))

    fetch(lake, CYCLES[1], bucket, tokens=itertools.count(), asked=look)
    assert {state for state, _, _ in seen} == {"running"}
    assert [(done, left) for _, done, left in seen] == [(n, len(seen) - n) for n in range(len(seen))]
    assert len(seen) > 1
    assert states(lake)[str(CYCLES[1]), bucket] == "finished"


def test_a_bucket_whose_owner_died_is_failed_until_it_is_fetched_again(tmp_path: Path) -> None:
    lake = seeded_lake(tmp_path)
    prepare(lake, CYCLES[0])
    bucket = bucket_of_url(f"{A}/")

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(lake, CYCLES[0], bucket, tokens=itertools.count(), asked=die)
    assert states(lake)[str(CYCLES[0]), bucket] == "failed"
    fold(lake, CYCLES[0])  # merge takes the dead owner's lease over, so that only check still tells
    check.run(lake, CYCLES[0])
    (row,) = overview.cycles(lake)
    assert (row.state, row.failed) == ("failed", [0, 1])
    fetch_all(lake, CYCLES[0])
    assert cycle_states(lake) == {str(CYCLES[0]): "finished"}


def test_an_owner_that_takes_over_while_one_looks_is_not_taken_for_a_dead_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = seeded_lake(tmp_path)
    prepare(lake, CYCLES[0])
    with pytest.raises(KeyboardInterrupt), lake.own("bucket", 0, CYCLES[0]):
        raise KeyboardInterrupt
    assert states(lake)[str(CYCLES[0]), 0] == "failed"
    look = lake.guard.holder
    with contextlib.ExitStack() as owners:

        def be_overtaken(partition: str) -> str | None:
            monkeypatch.setattr(lake.guard, "holder", look)
            found = look(partition)
            owners.enter_context(lake.own("bucket", 0, CYCLES[0]))
            return found

        monkeypatch.setattr(lake.guard, "holder", be_overtaken)
        assert states(lake)[str(CYCLES[0]), 0] == "running"


def test_a_bucket_that_check_missed_is_failed(tmp_path: Path) -> None:
    lake = seeded_lake(tmp_path)
    prepare(lake, CYCLES[0])
    fetch_all(lake, CYCLES[0], [0])
    fold(lake, CYCLES[0])
    assert states(lake)[str(CYCLES[0]), 1] == "planned"
    check.run(lake, CYCLES[0])
    assert states(lake)[str(CYCLES[0]), 1] == "failed"


def test_a_fetch_that_was_stopped_leaves_a_stopped_bucket(tmp_path: Path) -> None:
    lake = seeded_lake(tmp_path)
    prepare(lake, CYCLES[0])
    with lake.own("bucket", 0, CYCLES[0]) as owner:
        FetchLedger(lake, owner).finish({}, complete=False)
    assert states(lake)[str(CYCLES[0]), 0] == "stopped"


def test_what_an_overlapping_cycle_fetched_since_the_plan_is_not_open(tmp_path: Path) -> None:
    lake = seeded_lake(tmp_path)
    prepare(lake, CYCLES[0])
    prepare(lake, CYCLES[1])
    fetch_all(lake, CYCLES[1])
    done = {row.cycle: (row.planned, row.done, row.open) for row in overview.cycles(lake)}
    assert done == {str(CYCLES[0]): (2, 2, 0), str(CYCLES[1]): (2, 2, 0)}


def test_looking_who_holds_a_bucket_keeps_nobody_from_it(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    assert lake.guard.holder("bucket=0000") is None
    for _ in range(2):
        let_go = lake.guard.hold("bucket=0000", "me")
        assert lake.guard.holder("bucket=0000") == "me"
        with pytest.raises(BucketTaken, match="held by me"):
            lake.guard.hold("bucket=0000", "another")
        let_go()
        assert lake.guard.holder("bucket=0000") is None
