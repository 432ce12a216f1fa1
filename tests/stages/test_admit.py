"""The admission is the exact best of all buckets' plans, and the first admission of a cycle stands."""

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.core.errors import NotPlanned
from crawler.stages import admit
from crawler.store import tables
from crawler.store.admission import Admission, read_admission
from crawler.store.lake import Lake
from crawler.store.ledger import FetchLedger
from crawler.store.plans import create_plan, plan_metadata
from tests.store.small_lake import DAY, NOON, lake_at

BUCKETS = 4
Candidate = tuple[int, int]  # priority and key


def write_plan(lake: Lake, bucket: int, candidates: list[Candidate], addresses: tuple[str, ...] = ()) -> None:
    rows = [
        {
            "cycle": DAY.day,
            "bucket": bucket,
            "url_key": key,
            "host_key": bucket,
            "url": f"http://{bucket}.test/{key}",
            "fetch_url": f"http://{bucket}.test/{key}",
            "host": f"{bucket}.test",
            "priority": priority,
            "host_rank": 1,
            "depth": 0,
            "hops": 0,
            "is_new": True,
        }
        for priority, key in candidates
    ]
    histogram = Counter(priority >> 6 for priority, _ in candidates)
    staged = lake.files.staged(".parquet")
    tables.write_rows(staged, "plan", rows, plan_metadata(0, NOON, histogram, addresses))
    create_plan(lake, DAY, bucket, staged)


def admitted(lake: Lake, plans: list[list[Candidate]], addresses: Any = ((),) * BUCKETS) -> Admission:
    for bucket in range(BUCKETS):
        write_plan(lake, bucket, plans[bucket], addresses[bucket])
    admit.run(lake, DAY)
    found = read_admission(lake, DAY)
    assert found is not None
    return found


def is_admitted(found: Admission, candidate: Candidate) -> bool:
    return (-candidate[0], candidate[1]) <= (-found.cutoff_priority, found.cutoff_url_key)


def without_equal_keys(plans: list[list[Candidate]]) -> list[list[Candidate]]:
    """Keys of two buckets differ in their top bits, so no key is in two plans or twice in one."""
    seen: set[int] = set()
    return [[(p, key) for p, key in plan if not (key in seen or seen.add(key))] for plan in plans]


KEYS = st.integers(0, 2**64 - 1) | st.sampled_from([0, 2**63, 2**64 - 1])
PRIORITIES = st.integers(-2, 2) | st.integers(-200, 200) | st.sampled_from([-200_000, 63, 64, -64, -65, 100_000])
PLANS = st.lists(st.lists(st.tuples(PRIORITIES, KEYS), max_size=12), min_size=BUCKETS, max_size=BUCKETS).map(
    without_equal_keys
)


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(PLANS, st.integers(1, 8) | st.integers(1, 40))
def test_the_admission_is_the_best_of_all_plans_and_no_row_more_or_less(
    plans: list[list[Candidate]], budget: int
) -> None:
    with tempfile.TemporaryDirectory() as root:
        found = admitted(lake_at(root, buckets=BUCKETS, plan={"budget_urls": budget}), plans)
        best = sorted((-priority, key) for plan in plans for priority, key in plan)[:budget]
        for plan, row in zip(plans, found.rows, strict=True):
            chosen = [candidate for candidate in plan if is_admitted(found, candidate)]
            assert chosen == [candidate for candidate in plan if (-candidate[0], candidate[1]) in best]
            assert (row["candidates"], row["admitted"]) == (len(plan), len(chosen))
            assert row["unspent"] == (budget - len(best)) // BUCKETS
        assert found.admitted == len(best)


def test_of_equal_priorities_the_smaller_key_is_admitted(tmp_path: Path) -> None:
    plans: list[list[Candidate]] = [[(7, 40), (7, 10)], [(7, 30)], [(7, 20)], []]
    found = admitted(lake_at(tmp_path, buckets=BUCKETS, plan={"budget_urls": 2}), plans)
    assert [row["admitted"] for row in found.rows] == [1, 0, 1, 0]


def test_plans_without_candidates_are_admitted_as_nothing(tmp_path: Path) -> None:
    lake = lake_at(tmp_path, buckets=BUCKETS, plan={"budget_urls": 10})
    assert admitted(lake, [[]] * BUCKETS).admitted == 0
    assert admit.run(lake, DAY) == {"candidates": 0, "admitted": 0}
    with lake.own("bucket", 2, DAY) as owner:
        assert list(FetchLedger(lake, owner).todo()) == []


def test_a_fetch_gets_the_admitted_rows_of_its_bucket_best_first(tmp_path: Path) -> None:
    lake = lake_at(tmp_path, buckets=BUCKETS, plan={"budget_urls": 4})
    top = 2**64 - 1
    admitted(lake, [[(-5, 1), (9, top), (9, 3), (-70, 2)], [(8, 4)], [], [(-6, 5)]])
    with lake.own("bucket", 0, DAY) as owner:
        assert [target.url_key for target in FetchLedger(lake, owner).todo()] == [3, top, 1]


def test_the_first_admission_of_a_cycle_stands(tmp_path: Path) -> None:
    lake = lake_at(tmp_path, buckets=BUCKETS, plan={"budget_urls": 1})
    plans: list[list[Candidate]] = [[(1, 1), (2, 2)], [], [], []]
    before = admitted(lake, plans)
    assert admit.run(lake_at(tmp_path, buckets=BUCKETS, plan={"budget_urls": 9}), DAY) == {
        "candidates": 2,
        "admitted": 1,
    }
    assert read_admission(lake, DAY) == before


def test_an_address_that_several_buckets_share_is_told_to_each_of_them(tmp_path: Path) -> None:
    addresses = (("192.0.2.1", "192.0.2.2"), ("192.0.2.1",), (), ("192.0.2.1", "192.0.2.3"))
    found = admitted(lake_at(tmp_path, buckets=BUCKETS), [[]] * BUCKETS, addresses)
    assert [found.shared_addresses(bucket) for bucket in range(BUCKETS)] == [
        {"192.0.2.1": 3},
        {"192.0.2.1": 3},
        {},
        {"192.0.2.1": 3},
    ]


def test_without_all_plans_nothing_is_admitted(tmp_path: Path) -> None:
    lake = lake_at(tmp_path, buckets=BUCKETS)
    for bucket in (0, 1, 3):
        write_plan(lake, bucket, [])
    with pytest.raises(NotPlanned, match="the plan of bucket 2 is missing"):
        admit.run(lake, DAY)
    assert read_admission(lake, DAY) is None
