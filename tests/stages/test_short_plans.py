"""Plans that leave out what will hardly be admitted, and surveys: admitted is what complete plans of all URLs give."""

import random
import tempfile
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.core.cycle import Cycle
from crawler.stages import admit, plan, seed
from crawler.store import candidates, planning, purges, survey
from crawler.store.admission import Admission, read_admission
from crawler.store.erase import erase
from crawler.store.explain import explain
from crawler.store.forces import force
from crawler.store.lake import Lake
from crawler.store.ledger import FetchLedger
from crawler.store.plans import PlanFile, create_remainder, open_plan, read_plan, remainder_name
from crawler.store.state import open_state, write_checkpoint
from tests.stages.test_admit import BUCKETS, PLANS, Candidate, plain_choice, write_plan
from tests.store.small_lake import DAY, NOON, Row, asked_robots, bucket_of_url, known, lake_at, observed, write

# Admissions of plans with floors


def remainder_of(lake: Lake, plans: list[list[Candidate]]) -> Any:
    """What stands for `planning.complete` where plans are made up: the candidates below a plan's floor."""

    def complete(_: Lake, cycle: Cycle, bucket: int, found: PlanFile) -> PlanFile:
        assert cycle == DAY
        below = [each for each in plans[bucket] if each.priority < found.floor]
        return write_plan(lake, bucket, below, create=create_remainder)

    return complete


def open_keys(lake: Lake, bucket: int) -> set[int]:
    """The keys that a fetch of DAY would be given."""
    with lake.own("bucket", bucket, DAY) as owner:
        return {target.url_key for target in FetchLedger(lake, owner).todo()}


@settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(
    PLANS,
    st.lists(st.integers(-210, 210), min_size=BUCKETS, max_size=BUCKETS),
    st.integers(1, 30),
    st.sampled_from([0.0, 0.1, 0.6, 1.0]),
    st.sampled_from([0, 0, 20, 60]),
)
def test_an_admission_of_plans_that_end_at_floors_is_that_of_complete_plans(
    plans: list[list[Candidate]], floors: list[int], budget: int, new_share: float, budget_bytes: int
) -> None:
    with tempfile.TemporaryDirectory() as root, pytest.MonkeyPatch.context() as patch:
        limits = {"budget_urls": budget, "new_share": new_share, "budget_bytes": budget_bytes}
        lake = lake_at(root, buckets=BUCKETS, plan=limits)
        for bucket, floor in enumerate(floors):
            above = [each for each in plans[bucket] if each.priority >= floor]
            write_plan(lake, bucket, above, floor=floor)
        patch.setattr(admit, "complete", remainder_of(lake, plans))
        admit.run(lake, DAY)
        best, _ = plain_choice([each for each_plan in plans for each in each_plan], budget, new_share, budget_bytes)
        for bucket, each_plan in enumerate(plans):
            assert open_keys(lake, bucket) == {each.key for each in each_plan if each in best}


def test_only_plans_whose_floor_the_budget_reaches_are_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans = [[Candidate(900, 1), Candidate(10, 2)], [Candidate(800, 3), Candidate(700, 4)], [], []]
    lake = lake_at(tmp_path, buckets=BUCKETS, plan={"budget_urls": 3, "new_share": 0.0})
    for bucket, floor in enumerate((500, 750, 0, 0)):
        write_plan(lake, bucket, [each for each in plans[bucket] if each.priority >= floor], floor=floor)
    monkeypatch.setattr(admit, "complete", remainder_of(lake, plans))
    admit.run(lake, DAY)
    assert [lake.files.exists(remainder_name(lake, DAY, bucket)) for bucket in range(2)] == [True, True]
    assert open_keys(lake, 0) | open_keys(lake, 1) == {1, 3, 4}


def test_of_two_runs_that_admit_at_the_same_time_both_get_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans = [[Candidate(900, 1), Candidate(10, 2)], [Candidate(800, 3)], [], []]
    lake = lake_at(tmp_path, buckets=BUCKETS, plan={"budget_urls": 3, "new_share": 0.0})
    write_plan(lake, 0, plans[0][:1], floor=500)
    for bucket in range(1, BUCKETS):
        write_plan(lake, bucket, plans[bucket])
    complete = remainder_of(lake, plans)

    def be_overtaken(*arguments: Any) -> PlanFile:
        monkeypatch.setattr(admit, "complete", complete)
        other = lake_at(tmp_path, buckets=BUCKETS, plan={"budget_urls": 2, "new_share": 0.0})
        assert admit.run(other, DAY)["admitted"] == 2, "for it the plan reached far enough"
        found: PlanFile = complete(*arguments)
        return found

    monkeypatch.setattr(admit, "complete", be_overtaken)
    assert admit.run(lake, DAY)["admitted"] == 2
    assert open_keys(lake, 0) | open_keys(lake, 1) == {1, 3}, "a remainder that came later changes nothing"


# Surveys


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Buckets of few URLs are large for a plan; the value grows by `list` for each plan of a list."""
    used: list[str] = []

    def note(*arguments: Any) -> survey.Listed | None:
        found = survey.find_list(*arguments)
        used.extend(["list"] if found else [])
        return found

    monkeypatch.setattr(survey, "LARGE", 1)
    for name, value in {"FEW": 1, "SPARE": 1.2, "MARGIN": 64, "LISTED": 1, "find_list": note}.items():
        monkeypatch.setattr(candidates, name, value)
    return used


def a_lake(root: Path, chance: random.Random, urls: list[str], **sections: Any) -> Lake:
    """A lake of two buckets with a checkpoint of pages checked up to 120 days ago, and its first admission."""
    lake = lake_at(root, buckets=2, **sections)
    seed.run(lake, [f"http://h{number}.test/" for number in range(8)])
    for bucket in range(2):
        own = [url for url in urls if bucket_of_url(lake, url) == bucket]
        write(lake, bucket, {"url": [known(url, depth=2) for url in own]})
        for _ in range(2):
            asked = [url for url in own if chance.random() < 0.8]
            write(lake, bucket, {"observation": [seen(chance, lake, url, chance.uniform(1, 120)) for url in asked]})
        write_checkpoint(open_state(lake, lake.connect(), bucket, lake.settled("bucket", bucket)))
    pass_day(lake, DAY)
    return lake


def seen(chance: random.Random, lake: Lake, url: str, days_ago: float = 0.0) -> Row:
    at = lake.clock.now() - timedelta(days=days_ago)
    outcome = chance.choice(["ok"] * 6 + ["gone", "timed_out", "denied_by_robots"])
    has_changed = chance.random() < 0.4
    fields = {"outcome": outcome, "status": 200 if outcome == "ok" else None, "sent": outcome != "denied_by_robots"}
    if outcome == "ok":
        fields |= {"content_changed": has_changed, "counts_as_changed": has_changed}
    return observed(url, f"{url} {chance.random() if has_changed else 0}", at=at, **fields)


def pass_day(lake: Lake, cycle: Cycle) -> Admission:
    for bucket in range(lake.buckets):
        plan.run(lake, cycle, bucket)
    admit.run(lake, cycle)
    found = read_admission(lake, cycle)
    assert found is not None
    return found


def within(rows: list[Row], limits: Any) -> dict[str, tuple[int, str, int]]:
    """What of the rows of plans is admitted by `limits`, by URL with what the plan says of it."""
    cut = (limits["cutoff_priority"], -limits["cutoff_url_key"])
    new_cut = (limits["new_cutoff_priority"], -limits["new_cutoff_url_key"])
    return {
        row["url"]: (row["priority"], row["reason"], row["host_rank"])
        for row in rows
        if (place := (row["priority"], -row["url_key"])) >= cut and (row["reason"] != "new" or place >= new_cut)
    }


def admitted(lake: Lake, cycle: Cycle) -> dict[str, tuple[int, str, int]]:
    """What plan and admit choose for a cycle."""
    rows = pass_day(lake, cycle).rows
    plans = [found for bucket in range(lake.buckets) if (found := read_plan(lake, cycle, bucket))]
    return within([row for found in plans for path in found.paths for row in rows_of(path)], rows[0])


def best_of_all(lake: Lake, cycle: Cycle, folder: Path) -> dict[str, tuple[int, str, int]]:
    """What complete plans of all URLs would choose, as a dry run makes them."""
    paths = [folder / f"{cycle}-{bucket}.parquet" for bucket in range(lake.buckets)]
    for bucket, path in enumerate(paths):
        planning.choose(lake, lake.connect(), cycle, bucket, lake.clock.now(), path, whole=True)
    limits = admit.choose(lake, cycle, [open_plan(str(path)) for path in paths])[0]
    return within([row for path in paths for row in rows_of(path)], limits)


def rows_of(path: str | Path) -> list[Row]:
    found: list[Row] = pq.read_table(path, partitioning=None).to_pylist()
    return found


URLS = [f"http://h{host}.test/{number}" for host in range(8) for number in range(20)]


@pytest.mark.parametrize(("objective", "days"), [("freshness", 5), ("age", 2)])
def test_plans_of_lists_choose_day_by_day_what_complete_plans_of_all_urls_would(
    tmp_path: Path, small: list[str], objective: str, days: int
) -> None:
    chance = random.Random(7)
    rules = [{"path": "/1", "max_days": 60.0}]
    sections: dict[str, Any] = {"budget_urls": 8, "new_share": 0.3, "objective": objective, "intervals": rules}
    lake = a_lake(tmp_path / "lake", chance, URLS, plan=sections)
    for number in range(1, days + 1):
        lake.clock.instant = NOON + timedelta(days=number)
        cycle = Cycle(lake.clock.now().date())
        if number == 3:
            force(lake, URLS[5], "news")
        if number == 4:
            write_checkpoint(open_state(lake, lake.connect(), 0, lake.settled("bucket", 0)))
        expected = best_of_all(lake, cycle, tmp_path)
        found = admitted(lake, cycle)
        assert found == expected, cycle
        assert len(found) == 8
        for bucket in range(2):
            asked = [seen(chance, lake, url) for url in found if bucket_of_url(lake, url) == bucket]
            robots = [asked_robots(f"h{host}.test", at=lake.clock.now(), verdict="allow") for host in range(2)]
            robots = [row for row in robots if bucket_of_url(lake, row["url"]) == bucket]
            new = [known(f"http://h{number}.test/new-{bucket}", depth=2)]
            new = [row for row in new if bucket_of_url(lake, row["url"]) == bucket]
            write(lake, bucket, {"observation": asked, "robots": robots}, cycle=cycle)
            write(lake, bucket, {"url": new}, cycle=cycle)
    assert small.count("list") >= days // 2


def test_the_beliefs_of_hosts_are_kept_until_the_day_of_the_next_survey_and_plans_name_them(
    tmp_path: Path, small: list[str]
) -> None:
    chance = random.Random(1)
    lake = a_lake(tmp_path / "lake", chance, URLS, plan={"budget_urls": 8})
    names = []
    for number in (1, 6, 7):
        cycle = Cycle((NOON + timedelta(days=number)).date())
        lake.clock.instant = NOON + timedelta(days=number)
        plan.run(lake, cycle, 0)
        found = read_plan(lake, cycle, 0)
        assert found is not None
        names.append((cycle.day.toordinal() % survey.DAYS, found.beliefs))
    assert None not in dict(names).values()
    begins = [day == 0 for day, _ in names[1:]]
    assert [name != before for (_, before), (_, name) in pairwise(names)] == begins


def test_a_url_that_a_plan_left_out_below_its_floor_is_below_the_cut_off(tmp_path: Path, small: list[str]) -> None:
    lake = a_lake(tmp_path / "lake", random.Random(3), URLS, plan={"budget_urls": 8})
    lake.clock.instant = NOON + timedelta(days=1)
    cycle = Cycle(lake.clock.now().date())
    complete = tmp_path / "complete.parquet"
    planning.choose(lake, lake.connect(), cycle, 0, lake.clock.now(), complete, whole=True)
    admitted(lake, cycle)
    found = read_plan(lake, cycle, 0)
    assert found is not None
    there = {row["url"] for row in rows_of(found.path)}
    left_out = [row["url"] for row in rows_of(complete) if row["url"] not in there]
    assert left_out
    story = explain(lake, left_out[0])
    assert (story.last_plan.code, story.last_plan.cycle) == ("below_cutoff", str(cycle))


def test_a_purge_deletes_lists_of_pages(tmp_path: Path, small: list[str]) -> None:
    lake = a_lake(tmp_path / "lake", random.Random(3), URLS, plan={"budget_urls": 8})
    lake.clock.instant = NOON + timedelta(days=1)
    pass_day(lake, Cycle(lake.clock.now().date()))

    def lists() -> list[Path]:
        return list(Path(lake.files.root).rglob("survey/**/*-page-*.parquet"))

    assert lists()
    erase(lake, purges.purge(lake, URLS[0]))
    assert not lists()
