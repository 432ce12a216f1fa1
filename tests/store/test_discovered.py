"""A URL that a fetch found and fetched at once is known by its observation, whatever comes between."""

from pathlib import Path
from typing import Any

import pytest

from crawler.stages import admit, fingerprint, merge, plan
from crawler.store import query
from crawler.store.explain import explain
from crawler.store.lake import Lake
from crawler.store.state import open_state, write_checkpoint
from tests.store.small_lake import DAY, NOON, known, lake_at, linked, observed, read, write

FRONT, FOUND = "http://a.test/", "http://a.test/found"
PLACE: dict[str, Any] = {"pattern_key": 5 << 20, "depth": 3, "hops": 0, "discovered_at": NOON}
COLUMNS = "url, depth, hops, pattern_key, is_seed, discovered_at, outcome, fetches, inlinks, last_epoch"


def crawled(lake: Lake, *, checkpoint_after: int | None = None) -> None:
    """Four writes to a bucket: a page is known, fetched with what it leads to, merged, and fetched again."""
    steps: list[Any] = [
        lambda: write(lake, 0, {"url": [known(FRONT, is_seed=True)]}),
        lambda: write(
            lake,
            0,
            {
                "observation": [observed(FRONT, "a"), observed(FOUND, "b", discovered=PLACE)],
                "link": [linked(FRONT, FOUND), linked(FRONT, "http://a.test/other")],
            },
        ),
        lambda: write(lake, 0, {"url": [known("http://a.test/other")]}),
        lambda: write(lake, 0, {"observation": [observed(FOUND, "c", content_changed=True)]}),
    ]
    for number, step in enumerate(steps):
        step()
        if number == checkpoint_after:
            write_checkpoint(open_state(lake, lake.connect(), 0, lake.settled("bucket", 0)))


def pages(lake: Lake) -> list[dict[str, Any]]:
    con = lake.connect()
    open_state(lake, con, 0, lake.settled("bucket", 0))
    return query.rows(con.execute(f"SELECT {COLUMNS} FROM state_page ORDER BY url"))


@pytest.mark.parametrize("cut", [0, 1, 2, 3])
def test_the_state_is_the_same_over_a_checkpoint_anywhere(cut: int, tmp_path: Path) -> None:
    whole, parted = lake_at(tmp_path / "whole"), lake_at(tmp_path / "parted")
    crawled(whole)
    crawled(parted, checkpoint_after=cut)
    assert pages(parted) == pages(whole)
    found = next(row for row in pages(whole) if row["url"] == FOUND)
    assert (found["depth"], found["pattern_key"], found["fetches"]) == (3, 5 << 20, 2)


def test_a_merge_makes_it_known_no_second_time_but_counts_what_links_to_it(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    write(lake, 0, {"url": [known(FRONT, is_seed=True)]})
    rows = [observed(FRONT, "a"), observed(FOUND, "b", discovered=PLACE)]
    write(lake, 0, {"observation": rows, "link": [linked(FRONT, FOUND)]})
    fingerprint.run(lake, DAY, 0)
    merge.run(lake, DAY, 0)
    assert FOUND not in [row["url"] for row in read(lake, "url")]
    assert [(row["fetches"], row["inlinks"]) for row in pages(lake) if row["url"] == FOUND] == [(1, 1)]


def test_it_is_explained_and_not_planned_again_before_it_is_due(tmp_path: Path) -> None:
    lake = lake_at(tmp_path, scope={"hosts": ["a.test"]}, plan={"min_interval_days": 30})
    write(lake, 0, {"url": [known(FRONT, is_seed=True)]})
    plan.run(lake, DAY, 0)
    admit.run(lake, DAY)
    write(lake, 0, {"observation": [observed(FRONT, "a"), observed(FOUND, "b", discovered=PLACE)]})
    told = explain(lake, FOUND)
    assert told.last_plan.code == "discovered"
    assert told.state is not None
    assert told.next_plan.code != "never_found"
