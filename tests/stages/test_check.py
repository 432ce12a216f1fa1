"""Each promise that rows can break has a check that finds it and stops the cycle."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from crawler.core.errors import CheckFailed, NotPlanned
from crawler.stages import admit, check, plan, publish, seed
from crawler.store import query
from crawler.store.lake import Lake
from crawler.store.manifest import CHECKS, PUBLICATIONS, newest
from crawler.store.reader import open_reader
from tests.store.small_lake import DAY, NOON, Row, asked_robots, captured, lake_at, observed, write

ONE, TWO = "http://a.test/1", "http://a.test/2"
SOON = NOON + timedelta(seconds=0.5)
PLACE: Row = {"pattern_key": 5 << 20, "depth": 3, "hops": 0, "discovered_at": NOON}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """A lake whose cycle is to fetch two pages of one host, which is all of its budget."""
    made = lake_at(tmp_path, plan={"budget_urls": 2})
    seed.run(made, [ONE, TWO])
    plan.run(made, DAY, 0)
    admit.run(made, DAY)
    return made


def see(url: str = ONE, **fields: Any) -> Row:
    return observed(url, **{"stored": False, **fields})


def robots(verdict: str, **fields: Any) -> Row:
    return asked_robots("a.test", verdict, at=NOON - timedelta(seconds=9), **fields)


FINE: list[tuple[str, dict[str, list[Row]]]] = [
    ("two pages", {"observation": [see(delay_seconds=0.5), see(TWO, at=SOON)]}),
    ("a stored body", {"observation": [see(body="one", stored=True)], "capture": [captured(ONE, "one")]}),
    ("nothing sent", {"observation": [see(delay_seconds=9), see(TWO, at=SOON, sent=False)]}),
    ("robots allow", {"observation": [see()], "robots": [robots("rules")]}),
    ("robots deny", {"observation": [see(sent=False)], "robots": [robots("disallow")]}),
    ("a hop", {"observation": [see()], "robots": [robots("disallow", final=False)]}),
    ("no longer", {"observation": [see()], "robots": [robots("disallow", valid_until=NOON - timedelta(seconds=1))]}),
    ("another port", {"observation": [see()], "robots": [robots("disallow", origin="http://a.test:8080")]}),
]
BROKEN: list[tuple[str, dict[str, list[Row]]]] = [
    ("bodies", {"observation": [see(body="one", stored=True)], "capture": [captured(ONE, "two")]}),
    ("discovered", {"observation": [see("http://a.test/found", discovered=PLACE)]}),
    ("instants", {"observation": [see(at=NOON, ended_at=NOON - timedelta(seconds=1))]}),
    ("instants", {"observation": [see(at=NOON - timedelta(days=1))]}),
    ("one_outcome", {"observation": [see(), see(at=SOON)]}),
    ("planned", {"observation": [see("http://a.test/unplanned")]}),
    ("politeness", {"observation": [see(delay_seconds=0.6), see(TWO, at=SOON)]}),
    ("politeness", {"observation": [see()], "robots": [robots("rules", delay_seconds=9.1)]}),
    ("robots_first", {"observation": [see()], "robots": [robots("disallow")]}),
]


@pytest.mark.parametrize(("what", "rows"), FINE, ids=[what for what, _ in FINE])
def test_rows_that_keep_the_promises_pass(lake: Lake, what: str, rows: dict[str, list[Row]]) -> None:
    write(lake, 0, rows, finished=True)
    assert check.run(lake, DAY)["warnings"] == {}


@pytest.mark.parametrize(("name", "rows"), BROKEN, ids=[name for name, _ in BROKEN])
def test_a_broken_promise_is_named_and_nobody_sees_the_cycle(lake: Lake, name: str, rows: dict[str, list[Row]]) -> None:
    write(lake, 0, rows, finished=True)
    with pytest.raises(CheckFailed, match=rf"{name} has 1 rows \(check 0001\)"):
        check.run(lake, DAY)
    found = newest(lake, CHECKS, str(DAY))
    assert found is not None
    assert found[1].violations == {name: 1}
    with pytest.raises(CheckFailed, match=name):
        publish.run(lake, DAY)
    assert newest(lake, PUBLICATIONS, str(DAY)) is None
    with open_reader(lake) as con:
        assert con.execute("SELECT count(*) FROM observation").fetchone() == (0,)


def test_every_check_that_stops_a_cycle_has_a_case_here() -> None:
    stopping = {name for name, text in query.scripts("checks") if text.startswith("-- fail:")}
    assert stopping == {name for name, _ in BROKEN}


def test_a_warning_is_told_and_stops_nothing(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    addresses = [f"http://a.test/{number}" for number in range(10)]
    seed.run(lake, addresses)
    plan.run(lake, DAY, 0)
    admit.run(lake, DAY)
    rows = [
        see(url, outcome="ok" if number < 4 else "timed_out", at=NOON + timedelta(minutes=number))
        for number, url in enumerate(addresses)
    ]
    write(lake, 0, {"observation": rows}, finished=True)
    assert check.run(lake, DAY)["warnings"] == {"errors": 1}
    assert publish.run(lake, DAY)["number"] == 1


def test_a_check_names_the_buckets_without_a_finished_fetch_and_what_lags(tmp_path: Path) -> None:
    lake = lake_at(tmp_path, buckets=2)
    seed.run(lake, [ONE])
    for bucket in range(2):
        plan.run(lake, DAY, bucket)
    admit.run(lake, DAY)
    assert check.run(lake, DAY)["failed"] == [0, 1]
    write(lake, 0, {"observation": [see()]})
    assert check.run(lake, DAY)["failed"] == [0, 1], "segments are no finished fetch"
    write(lake, 0, {"observation": []}, finished=False)
    assert check.run(lake, DAY)["failed"] == [0, 1], "nor is a fetch that was stopped"
    write(lake, 1, {"observation": []}, finished=True)
    result = check.run(lake, DAY)
    assert (result["number"], result["failed"]) == (4, [0])
    assert result["lagging"] == ["fingerprint[0]", "fingerprint[1]", "merge[0]", "merge[1]"]


def test_a_cycle_that_was_not_admitted_cannot_be_checked_nor_one_unchecked_published(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    with pytest.raises(NotPlanned, match="the admission is missing"):
        check.run(lake, DAY)
    with pytest.raises(NotPlanned, match="a check is missing"):
        publish.run(lake, DAY)
