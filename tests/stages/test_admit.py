"""The admission is the exact best of all buckets' plans, and the first admission of a cycle stands."""

import tempfile
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.core.cycle import Cycle
from crawler.core.errors import NotPlanned
from crawler.stages import admit
from crawler.store import tables
from crawler.store.admission import Admission, crawl_belief, read_admission
from crawler.store.lake import Lake
from crawler.store.ledger import FetchLedger
from crawler.store.plans import EVERYTHING, PlanFile, create_plan, plan_metadata
from tests.store.small_lake import DAY, NOON, lake_at

BUCKETS = 4


class Candidate(NamedTuple):
    """A row of a plan, as far as an admission looks at it."""

    priority: int
    key: int
    is_share: bool = False
    expected_bytes: int = 0


Pair = tuple[int, int]  # the priority and key of a candidate that is not new
BELIEF = {"urls": 2, "sums": {f"k{rate}": 250_000 + rate for rate in range(8)}, "asked": 5, "useful": 3}


def write_plan(
    lake: Lake,
    bucket: int,
    pairs: Sequence[Pair | Candidate],
    addresses: tuple[str, ...] = (),
    *,
    floor: int = EVERYTHING,
    create: Callable[[Lake, Cycle, int, Path], PlanFile] = create_plan,
) -> PlanFile:
    candidates = [Candidate(*pair) for pair in pairs]
    rows = [
        {
            "cycle": DAY.day,
            "bucket": bucket,
            "url_key": each.key,
            "host_key": bucket,
            "url": f"http://{bucket}.test/{each.key}",
            "fetch_url": f"http://{bucket}.test/{each.key}",
            "host": f"{bucket}.test",
            "priority": each.priority,
            "reason": "new" if each.is_share else "priority",
            "expected_bytes": each.expected_bytes,
            "host_rank": 1,
            "depth": 0,
            "hops": 0,
            "is_new": each.is_share,
            "signalled": False,
            "modified_trusted": False,
            "noisy": False,
            "is_sitemap": False,
        }
        for each in candidates
    ]
    bins: dict[tuple[int, bool], list[int]] = {}
    for each in candidates:
        bins.setdefault((each.priority >> 6, each.is_share), []).append(each.expected_bytes)
    histogram = [(*place, len(found), sum(found)) for place, found in bins.items()]
    staged = lake.files.staged(".parquet")
    tables.write_rows(staged, "plan", rows, plan_metadata(0, NOON, histogram, addresses, BELIEF, floor))
    return create(lake, DAY, bucket, staged)


def admitted(lake: Lake, plans: Sequence[Sequence[Pair | Candidate]], addresses: Any = ((),) * BUCKETS) -> Admission:
    for bucket in range(BUCKETS):
        write_plan(lake, bucket, plans[bucket], addresses[bucket])
    admit.run(lake, DAY)
    found = read_admission(lake, DAY)
    assert found is not None
    return found


def without_equal_keys(plans: list[list[Candidate]]) -> list[list[Candidate]]:
    """Keys of two buckets differ in their top bits, so no key is in two plans or twice in one."""
    seen: set[int] = set()
    return [[each for each in plan if not (each.key in seen or seen.add(each.key))] for plan in plans]


def plain_choice(
    candidates: list[Candidate], budget: int, new_share: float, budget_bytes: int
) -> tuple[list[Candidate], bool]:
    """The choice by a walk over all rows, best first, and whether it ended because a budget did."""
    others = sum(not each.is_share for each in candidates)
    room = max(int(budget * new_share), budget - others) if new_share else 0
    chosen: list[Candidate] = []
    for each in sorted(candidates, key=lambda each: (-each.priority, each.key)):
        if each.is_share and room <= 0:
            continue
        if budget_bytes and sum(one.expected_bytes for one in chosen) + each.expected_bytes > budget_bytes:
            return chosen, True
        room -= each.is_share
        chosen.append(each)
        if len(chosen) == budget:
            return chosen, True
    return chosen, False


KEYS = st.integers(0, 2**64 - 1) | st.sampled_from([0, 2**63, 2**64 - 1])
PRIORITIES = st.integers(-2, 2) | st.integers(-200, 200) | st.sampled_from([-200_000, 63, 64, -64, -65, 100_000])
CANDIDATES = st.builds(Candidate, PRIORITIES, KEYS, st.booleans(), st.integers(0, 9))
PLANS = st.lists(st.lists(CANDIDATES, max_size=12), min_size=BUCKETS, max_size=BUCKETS).map(without_equal_keys)


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(
    PLANS,
    st.integers(1, 8) | st.integers(1, 40),
    st.sampled_from([0.0, 0.1, 0.6, 1.0]),
    st.sampled_from([0, 0, 1, 20, 60]),
)
def test_the_admission_is_the_best_of_all_plans_and_no_row_more_or_less(
    plans: list[list[Candidate]], budget: int, new_share: float, budget_bytes: int
) -> None:
    with tempfile.TemporaryDirectory() as root:
        limits = {"budget_urls": budget, "new_share": new_share, "budget_bytes": budget_bytes}
        lake = lake_at(root, buckets=BUCKETS, plan=limits)
        found = admitted(lake, plans)
        best, is_ended = plain_choice([each for plan in plans for each in plan], budget, new_share, budget_bytes)
        for bucket, (plan, row) in enumerate(zip(plans, found.rows, strict=True)):
            chosen = [each for each in plan if each in best]
            with lake.own("bucket", bucket, DAY) as owner:
                assert {target.url_key for target in FetchLedger(lake, owner).todo()} == {each.key for each in chosen}
            assert (row["candidates"], row["admitted"]) == (len(plan), len(chosen))
            assert row["expected_bytes"] == sum(each.expected_bytes for each in chosen)
            assert row["unspent"] == (0 if is_ended or not new_share else (budget - len(best)) // BUCKETS)
        assert found.admitted == len(best) <= budget
        assert not budget_bytes or sum(row["expected_bytes"] for row in found.rows) <= budget_bytes


def test_the_value_of_the_last_url_that_is_admitted_is_told_and_none_if_all_are(tmp_path: Path) -> None:
    plans: list[list[Pair]] = [[(4096, 1), (0, 2)], [(-4096, 3)], [], []]
    assert admitted(lake_at(tmp_path / "a", buckets=BUCKETS, plan={"budget_urls": 1}), plans).cutoff_value == 2
    assert admitted(lake_at(tmp_path / "b", buckets=BUCKETS, plan={"budget_urls": 2}), plans).cutoff_value == 1
    assert admitted(lake_at(tmp_path / "c", buckets=BUCKETS, plan={"budget_urls": 4}), plans).cutoff_value is None
    forced: list[list[Pair]] = [[(4 << 20, 1), (4 << 20, 2)], [], [], []]
    assert admitted(lake_at(tmp_path / "d", buckets=BUCKETS, plan={"budget_urls": 1}), forced).cutoff_value is None


def test_what_the_buckets_believe_adds_up_to_the_prior_of_the_next_plans(tmp_path: Path) -> None:
    lake = lake_at(tmp_path, buckets=BUCKETS)
    assert crawl_belief(lake) is None
    admitted(lake, [[]] * BUCKETS)
    sums = {f"k{rate}": 1_000_000 + 4 * rate for rate in range(8)}
    assert crawl_belief(lake) == {"urls": 8, "sums": sums, "asked": 20, "useful": 12}
    assert crawl_belief(lake, DAY) is None, "a cycle does not begin from its own"
    assert crawl_belief(lake, Cycle(DAY.day + timedelta(days=1))) is not None


def test_of_equal_priorities_the_smaller_key_is_admitted(tmp_path: Path) -> None:
    plans: list[list[Pair]] = [[(7, 40), (7, 10)], [(7, 30)], [(7, 20)], []]
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
    plans: list[list[Pair]] = [[(1, 1), (2, 2)], [], [], []]
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
