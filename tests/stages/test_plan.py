"""A plan is what a plain reading of the rules would choose, and the first plan of a cycle stands."""

import math
import tempfile
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.core.config import ScopeSettings
from crawler.core.fetch_settings import HostSettings
from crawler.core.outcomes import CONSEQUENCES, RETIRED_DAYS, Outcome
from crawler.core.scope import Scope
from crawler.stages import plan, seed
from crawler.store import query
from crawler.store.explain import explain
from crawler.store.lake import Lake
from crawler.store.plans import read_plan
from crawler.store.state import open_state, write_checkpoint
from tests.store.small_lake import (
    DAY,
    NOON,
    Row,
    asked_robots,
    digest,
    host_state,
    known,
    lake_at,
    make_known,
    observed,
    write,
)

URL = "http://a.test/1"
PAGE = "http://a.test/2"  # no seed
OTHER = "http://b.test/1"


def planned(lake: Lake, bucket: int = 0) -> list[Row]:
    """The rows of the plan of DAY that stands, as they are in its file."""
    found = read_plan(lake, DAY, bucket)
    assert found is not None
    return pq.read_table(found.path, partitioning=None).to_pylist()


def plan_of(lake: Lake, **sections: Any) -> list[str]:
    """The URLs that would be planned now under `sections` of the settings, best first; the plan is taken back."""
    changed = lake.settings.model_copy(update=sections)
    trial = Lake(lake.files, lake.metadata, changed, lake.clock, lake.guard)
    plan.run(trial, DAY, 0)
    rows = planned(trial)
    lake.files.delete(f"{lake.layout}/plan/bucket=0000/cycle={DAY}/plan.parquet")
    return [row["url"] for row in rows]


def seeded(root: Path, *urls: str, **sections: Any) -> Lake:
    lake = lake_at(root, **sections)
    seed.run(lake, urls or (URL,))
    return lake


def ask(lake: Lake, outcome: str, *, days_ago: float, url: str = URL, **fields: Any) -> None:
    row = observed(url, outcome=outcome, at=lake.clock.now() - timedelta(days=days_ago), **fields)
    write(lake, 0, {"observation": [row]})


def test_the_first_plan_of_a_bucket_and_cycle_stands(tmp_path: Path) -> None:
    lake = seeded(tmp_path)
    assert plan.run(lake, DAY, 0) == {"bucket": 0, "candidates": 1}
    before = lake.files.read(f"{lake.layout}/plan/bucket=0000/cycle={DAY}/plan.parquet")
    seed.run(lake, [OTHER])
    assert plan.run(lake, DAY, 0) == {"bucket": 0, "candidates": 1}
    assert lake.files.read(f"{lake.layout}/plan/bucket=0000/cycle={DAY}/plan.parquet") == before


def test_of_two_runs_that_plan_at_the_same_time_both_get_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = seeded(tmp_path)
    order = query.arrow

    def be_overtaken(*arguments: Any) -> Any:
        monkeypatch.undo()
        seed.run(lake, [OTHER])
        assert plan.run(lake, DAY, 0)["candidates"] == 2
        return order(*arguments)

    monkeypatch.setattr(query, "arrow", be_overtaken)
    assert plan.run(lake, DAY, 0)["candidates"] == 2


def test_a_plan_tells_what_it_read_and_what_an_admission_needs(tmp_path: Path) -> None:
    lake = seeded(tmp_path, URL, OTHER)
    hosts = [host_state("a.test", address="192.0.2.1"), host_state("b.test", address="192.0.2.1")]
    write(lake, 0, {"observation": [], "host_state": hosts})
    plan.run(lake, DAY, 0)
    found = read_plan(lake, DAY, 0)
    assert found is not None
    assert found.epoch == lake.settled("bucket", 0).last
    assert found.planned_at == NOON
    counted = Counter((row["priority"] >> 6, row["reason"] == "new") for row in planned(lake))
    assert {(bin_.number, bin_.is_share): bin_.urls for bin_ in found.histogram} == counted
    assert found.addresses == ("192.0.2.1",)


def test_a_bucket_that_knows_nothing_has_an_empty_plan(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    assert plan.run(lake, DAY, 0) == {"bucket": 0, "candidates": 0}
    assert planned(lake) == []


def test_a_row_of_a_plan_carries_what_a_conditional_request_needs(tmp_path: Path) -> None:
    lake = seeded(tmp_path)
    ask(lake, "ok", days_ago=1, body="one", etag='"1"', last_modified="yesterday")
    plan.run(lake, DAY, 0)
    (row,) = planned(lake)
    assert (row["etag"], row["last_modified"], row["body_digest"]) == ('"1"', "yesterday", digest("one"))
    assert (row["is_new"], row["depth"], row["host_rank"]) == (False, 0, 1)


@pytest.mark.parametrize(("days", "is_planned"), [(0.89, False), (0.9, True), (5, True)])
def test_a_page_rests_for_the_least_interval(tmp_path: Path, days: float, is_planned: bool) -> None:
    lake = seeded(tmp_path, plan={"min_interval_days": 0.9})
    ask(lake, "ok", days_ago=days)
    assert plan_of(lake) == ([URL] if is_planned else [])


@pytest.mark.parametrize(
    ("outcomes", "days"),
    [
        (["gone"], 1),
        (["gone", "gone"], 7),
        (["gone"] * 5, 365),
        (["gone"] * 6, RETIRED_DAYS),
        (["timed_out"] * 5 + ["gone"], 1),
        (["refused", "client_error"], 7),
        (["refused"] * 6, 90),
        (["timed_out"], 1),
        (["timed_out", "server_error"], 2),
        (["timed_out"] * 6, 30),
        (["timed_out"] * 10, 90),
        (["unwanted_type"], 90),
        (["denied_by_robots"], 7),
        (["denied_by_robots"] * 3, 90),
        (["robots_unreachable"], 1),
        (["robots_unreachable"] * 4, 4),
        (["gone", "ok"], 0.5),
        (["ok", "gone"], 1),
    ],
    ids=lambda value: ", ".join(value) if isinstance(value, list) else None,
)
def test_a_url_rests_after_what_it_met_and_longer_each_time_in_a_row(
    tmp_path: Path, outcomes: list[str], days: float
) -> None:
    lake = seeded(tmp_path, plan={"min_interval_days": 0.5})
    make_known(lake, PAGE)
    for outcome in outcomes:
        ask(lake, outcome, days_ago=days if days == 0.5 else days - 0.1, url=PAGE)
    lake.clock.instant += timedelta(seconds=1)
    assert PAGE in plan_of(lake)
    lake.clock.instant -= timedelta(seconds=2)
    assert PAGE not in plan_of(lake)


@pytest.mark.parametrize(
    ("denied_by", "newest", "is_planned"),
    [
        ("old", {"body_digest": digest("new")}, True),
        ("old", {"verdict": "allow"}, True),
        ("old", {"body_digest": digest("old")}, False),
        ("old", {"verdict": "disallow"}, False),
        ("old", {"body_digest": digest("new"), "final": False}, False),
        ("old", {"body_digest": digest("new"), "origin": "https://a.test"}, False),
        (None, {"body_digest": digest("new")}, False),
    ],
    ids=["another", "none any more", "the same", "unreachable", "a hop", "of another origin", "not known by which"],
)
@pytest.mark.parametrize("has_checkpoint", [False, True])
def test_what_robots_txt_denied_is_a_candidate_again_when_it_has_changed(
    tmp_path: Path, has_checkpoint: bool, denied_by: str | None, newest: Row, is_planned: bool
) -> None:
    lake = seeded(tmp_path)
    make_known(lake, PAGE)
    version = digest(denied_by) if denied_by else None
    ask(lake, "denied_by_robots", days_ago=1, url=PAGE, sent=False, robots_digest=version)
    write(lake, 0, {"robots": [asked_robots("a.test", at=NOON - timedelta(days=2), body_digest=digest("old"))]})
    write(lake, 0, {"robots": [asked_robots("a.test", at=NOON, **newest)]})
    if has_checkpoint:
        write_checkpoint(open_state(lake, lake.connect(), 0, lake.settled("bucket", 0)))
    assert (PAGE in plan_of(lake)) is is_planned
    assert ("robots.txt is another" in explain(lake, PAGE).next_plan.reason) is is_planned


@pytest.mark.parametrize("verdict", ["rules", "allow", "disallow"])
def test_what_waited_for_a_robots_txt_is_a_candidate_again_when_it_can_be_read(tmp_path: Path, verdict: str) -> None:
    lake = seeded(tmp_path)
    make_known(lake, PAGE)
    for days_ago in (9, 8, 7, 1):  # the fourth time in a row rests for four days
        ask(lake, "robots_unreachable", days_ago=days_ago, url=PAGE, sent=False)
    write(lake, 0, {"robots": [asked_robots("a.test", at=NOON, verdict=verdict, body_digest=digest("now"))]})
    assert (PAGE in plan_of(lake)) is (verdict != "disallow")


def test_a_page_that_answers_410_skips_the_first_look_after_a_404_and_a_seed_rests_a_year_at_most(
    tmp_path: Path,
) -> None:
    lake = seeded(tmp_path)
    make_known(lake, PAGE)
    ask(lake, "gone", days_ago=6, url=PAGE, status=410)
    for _ in range(6):
        ask(lake, "gone", days_ago=365, url=URL)
    assert plan_of(lake) == [URL]
    lake.clock.instant += timedelta(days=1)
    assert sorted(plan_of(lake)) == [URL, PAGE]


def test_the_longer_a_page_was_not_looked_at_the_earlier_it_comes_and_a_new_one_is_worth_a_half_year_of_it(
    tmp_path: Path,
) -> None:
    urls = [f"http://a.test/{name}" for name in ("yesterday", "last-week", "last-year", "new")]
    lake = seeded(tmp_path, *urls)
    for url, days in zip(urls, (1, 7, 365), strict=False):
        ask(lake, "ok", days_ago=days, url=url)
    assert [url.rpartition("/")[2] for url in plan_of(lake)] == ["last-year", "new", "last-week", "yesterday"]


@pytest.mark.parametrize(("days", "most"), [(0, 4), (1, 4), (2, 9), (None, 9)])
def test_a_host_that_was_too_busy_today_or_yesterday_gets_half(tmp_path: Path, days: int | None, most: int) -> None:
    lake = seeded(tmp_path, *(f"http://a.test/{n}" for n in range(12)))
    busy_at = None if days is None else NOON.replace(hour=1) - timedelta(days=days)
    write(lake, 0, {"observation": [], "host_state": [host_state("a.test", busy_at=busy_at)]})
    write(lake, 0, {"observation": [], "host_state": [host_state("a.test")]})  # a later task knows of no newer one
    own = lake.settings.plan.model_copy(update={"max_urls_per_host": 9})
    assert len(plan_of(lake, plan=own)) == most


def test_a_host_gets_no_more_than_its_delay_its_setting_and_the_general_limit_allow(tmp_path: Path) -> None:
    lake = seeded(tmp_path, *(f"http://{host}.test/{n}" for host in "ab" for n in range(9)))
    write(lake, 0, {"observation": [], "host_state": [host_state("a.test", delay_seconds=3600.0)]})

    def per_host(**sections: Any) -> dict[str, int]:
        return dict(Counter(url[7] for url in plan_of(lake, **sections)))

    fetch = lake.settings.fetch.model_copy(update={"window_hours": 4})
    general = lake.settings.plan.model_copy(update={"max_urls_per_host": 5})
    assert per_host(fetch=fetch) == {"a": 4, "b": 9}
    assert per_host(fetch=fetch, plan=general) == {"a": 4, "b": 5}
    own = {"a.test": HostSettings(max_urls=3), "b.test": HostSettings(max_urls=8)}
    assert per_host(fetch=fetch, plan=general, host=own) == {"a": 3, "b": 8}, "an exception may be above the general"
    own = {"a.test": HostSettings(delay_seconds=7200), "b.test": HostSettings(delay_seconds=1800)}
    assert per_host(fetch=fetch, host=own) == {"a": 2, "b": 8}, "also for a host that was never asked"
    slow = lake.settings.politeness.model_copy(update={"delay_seconds": 1800})
    assert per_host(fetch=fetch, politeness=slow) == {"a": 4, "b": 8}
    assert per_host(host={"a.test": HostSettings(max_urls=0)}) == {"b": 9}
    assert per_host(fetch=fetch.model_copy(update={"window_hours": 0.5})) == {"a": 1, "b": 9}, "one page at least"


def test_a_plan_is_no_larger_than_the_budget(tmp_path: Path) -> None:
    lake = seeded(tmp_path, *(f"http://a.test/{n}" for n in range(9)))
    everything = plan_of(lake)
    assert plan_of(lake, plan=lake.settings.plan.model_copy(update={"budget_urls": 4})) == everything[:4]


def test_a_changed_scope_takes_effect_at_the_next_plan_in_both_directions(tmp_path: Path) -> None:
    lake = seeded(tmp_path, "http://a.test/docs/", "http://a.test/blog/", "http://b.test/")

    def scoped(**scope: Any) -> list[str]:
        return sorted(plan_of(lake, scope=ScopeSettings(**scope)))

    everything = ["http://a.test/blog/", "http://a.test/docs/", "http://b.test/"]
    assert scoped() == everything
    assert scoped(rules=[{"deny": "/blog/"}]) == ["http://a.test/docs/", "http://b.test/"]
    assert scoped(hosts=["b.test"]) == ["http://b.test/"]
    assert scoped(ports=[8080]) == []
    assert scoped(schemes=["https"]) == []
    assert scoped() == everything, "out of scope deletes nothing"


def test_a_page_of_another_host_is_planned_up_to_so_many_hops(tmp_path: Path) -> None:
    lake = seeded(tmp_path)
    write(lake, 0, {"url": [known(f"http://far.test/{hops}", hops=hops) for hops in (1, 2, 3)]})
    assert plan_of(lake) == [URL]
    two = plan_of(lake, scope=ScopeSettings(max_hops=2))
    assert sorted(two) == [URL, "http://far.test/1", "http://far.test/2"]


# The plan as a plain reading of the rules

HOSTS = ("a.test", "b.test", "[::1]:8080")
PATHS = ("/", "/docs/1", "/docs/2.zip", "/blog/3?q=1", "/blog/4")
RULES = st.lists(
    st.sampled_from(
        [{"deny": "/docs/"}, {"allow": "/docs/1"}, {"deny": "*.zip$"}, {"deny": "/blog/*?q", "host": "a.test"}]
    ),
    max_size=3,
)
ASKED = st.tuples(st.sampled_from(list(Outcome)), st.integers(1, 5), st.sampled_from([0.5, 1, 2, 7, 40, 100]))


@settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(
    asked=st.dictionaries(st.sampled_from([f"http://{h}{p}" for h in HOSTS for p in PATHS]), st.none() | ASKED),
    rules=RULES,
    ports=st.sampled_from([[], [80], [8080]]),
    budget=st.integers(1, 12),
    new_share=st.sampled_from([0.2, 0.6, 1.0]),
    max_urls_per_host=st.integers(1, 5),
    delay=st.sampled_from([0.0, 43_200.0, 20_000.0]),
    through_checkpoint=st.booleans(),
)
def test_a_plan_is_what_a_plain_reading_of_the_rules_chooses(
    asked: dict[str, tuple[Outcome, int, float] | None],
    rules: list[dict[str, str]],
    ports: list[int],
    budget: int,
    new_share: float,
    max_urls_per_host: int,
    delay: float,
    through_checkpoint: bool,
) -> None:
    with tempfile.TemporaryDirectory() as root:
        chosen = {"budget_urls": budget, "max_urls_per_host": max_urls_per_host, "new_share": new_share}
        scope = {"rules": rules, "ports": ports, "hosts": ["a.test", "b.test", "[::1]"]}
        lake = lake_at(root, plan=chosen, scope=scope)
        write(lake, 0, {"url": [known(url) for url in asked]})
        for turn in range(5):
            rows = [
                observed(url, outcome=found[0].value, at=NOON - timedelta(days=found[2]))
                for url, found in asked.items()
                if found and turn < found[1]
            ]
            write(lake, 0, {"observation": rows, "host_state": [host_state("a.test", delay_seconds=delay)]})
        if through_checkpoint:
            write_checkpoint(open_state(lake, lake.connect(), 0, lake.settled("bucket", 0)))
        plan.run(lake, DAY, 0)
        expected = plain_plan(lake, asked, delay)
        assert [(row["url"], row["priority"], row["host_rank"]) for row in planned(lake)] == expected


def plain_plan(
    lake: Lake, asked: dict[str, tuple[Outcome, int, float] | None], delay: float
) -> list[tuple[str, int, int]]:
    scope = Scope(lake.settings.scope, frozenset())
    plan_settings = lake.settings.plan
    asked_hosts = Counter(known(url)["host"] for url, found in asked.items() if found)
    rows = []
    for url, found in asked.items():
        row = known(url)
        worth = fresh_days(180) * 7 / (asked_hosts[row["host"]] + 10)
        if found:
            outcome, times, age = found
            rest = CONSEQUENCES[outcome].rest_days
            if age < max(rest[min(times, len(rest)) - 1] - 0.1 if rest else 0, plan_settings.min_interval_days):
                continue
            if outcome in (Outcome.OK, Outcome.NOT_MODIFIED, Outcome.REDIRECTED, Outcome.GONE):
                worth = index(age)
        if scope.decide(row["url"])[0]:
            rows.append((-math.floor(4096 * math.log2(worth)), row["url_key"], row["url"], row["host"], not found))
    taken: Counter[str] = Counter()
    capped = []
    for priority, _, url, host, is_new in sorted(rows):
        taken[host] += 1
        cap = plan_settings.max_urls_per_host
        if host == "a.test" and delay:
            cap = min(cap, int(86_400 / delay))
        if taken[host] <= cap:
            capped.append((url, -priority, taken[host], is_new))
    budget = plan_settings.budget_urls
    room = max(int(plan_settings.new_share * budget), budget - sum(not is_new for *_, is_new in capped))
    best = []
    for *row, is_new in capped:
        room -= is_new
        if not is_new or room >= 0:
            best.append(tuple(row))
    return best[:budget]


RATES = [2.0 ** (2 * k - 11) for k in range(8)]


def index(days: float) -> float:
    """The index of a page of which nothing is known, as scheduling derives it."""
    return sum((1 - math.exp(-r * days) * (1 + days * (1 - math.exp(-r)))) / r for r in RATES) / 8


def fresh_days(days: float) -> float:
    return sum((1 - math.exp(-r * days)) / r for r in RATES) / 8
