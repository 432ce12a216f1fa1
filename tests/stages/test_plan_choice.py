"""What stands above the ranking by value, which hints a plan trusts, and that no URL is lost to its past."""

import math
import tempfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.core.outcomes import CONSEQUENCES, RETIRED_DAYS, Outcome
from crawler.stages import plan, seed
from crawler.store import candidates
from crawler.store.explain import explain
from crawler.store.lake import Lake
from crawler.store.plans import read_plan
from tests.stages.test_plan import planned
from tests.store.small_lake import DAY, NOON, Row, known, lake_at, observed, write

PAGES = [f"http://a.test/{number}" for number in range(60)]


def see_all(lake: Lake, body: str, at: datetime, pages: list[str] = PAGES, **fields: Any) -> None:
    write(lake, 0, {"observation": [observed(url, body, at=at, **fields) for url in pages]})


def choose(lake: Lake, *, again: bool = True) -> list[Row]:
    """The rows of the plan that is made now, best first; it is taken back if another is wanted."""
    plan.run(lake, DAY, 0)
    rows = planned(lake)
    if again:
        lake.files.delete(f"{lake.layout}/plan/bucket=0000/cycle={DAY}/plan.parquet")
    return rows


def test_a_short_list_and_two_threads_give_the_plan_of_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = lake_at(tmp_path, plan={"budget_urls": 12, "max_urls_per_host": 9}, scope={"rules": [{"deny": "/*3"}]})
    seed.run(lake, ["http://a.test/", "http://b.test/"])
    others = [url.replace("a.test", "b.test") for url in PAGES]
    write(lake, 0, {"url": [known(url) for url in [*PAGES, *others]]})
    looks: tuple[list[Row], list[Row]] = ([], [])
    for number, url in enumerate([*PAGES[:40], *others[:40]]):
        day = NOON - timedelta(days=200 + number)
        changed = {"content_changed": number % 3 == 0, "counts_as_changed": number % 3 == 0}
        looks[0].append(observed(url, "one", at=day))
        looks[1].append(observed(url, "two", at=day + timedelta(days=1 + number), **changed))
    for rows in looks:
        write(lake, 0, {"observation": rows})
    whole = choose(lake)
    monkeypatch.setattr(candidates, "FEW", 1)
    assert choose(lake) == whole
    monkeypatch.setattr(candidates, "SPARE", 0.1)  # the list is too short at first
    assert choose(lake) == whole
    two = lake_at(tmp_path, plan=lake.settings.plan.model_dump(), scope={"rules": [{"deny": "/*3"}]})
    engine = two.settings.engine.model_copy(update={"threads": 2})
    threaded = Lake(two.files, two.metadata, two.settings.model_copy(update={"engine": engine}), two.clock, two.guard)
    assert choose(threaded) == whole


def test_last_modified_is_trusted_once_a_host_s_has_proved_true(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    seed.run(lake, PAGES)
    see_all(lake, "one", NOON - timedelta(days=20))
    assert not any(row["modified_trusted"] for row in choose(lake))
    true = {"content_changed": False, "counts_as_changed": False, "modified_at": NOON - timedelta(days=30)}
    see_all(lake, "one", NOON - timedelta(days=10), **true)
    assert all(row["modified_trusted"] for row in choose(lake))
    wrong = {"content_changed": False, "counts_as_changed": False, "modified_at": NOON - timedelta(days=6)}
    see_all(lake, "one", NOON - timedelta(days=5), **wrong)
    assert not any(row["modified_trusted"] for row in choose(lake, again=False))


@pytest.mark.parametrize(("were_true", "is_earlier"), [(True, True), (False, False)])
def test_a_claimed_change_counts_as_far_as_such_claims_of_the_host_were_true(
    tmp_path: Path, were_true: bool, is_earlier: bool
) -> None:
    lake = lake_at(tmp_path)
    seed.run(lake, PAGES)
    see_all(lake, "one", NOON - timedelta(days=20))
    see_all(
        lake, "two", NOON - timedelta(days=10), signalled=True, content_changed=were_true, counts_as_changed=were_true
    )
    mention = {"url": PAGES[7], "inlinks": 0, "lastmod": NOON - timedelta(days=1), "is_sitemap": False}
    plain = {row["url"]: row["priority"] for row in choose(lake)}
    write(lake, 0, {"mention": [{"url_key": known(PAGES[7])["url_key"], **mention}], "url": []})
    rows = {row["url"]: row for row in choose(lake, again=False)}
    assert [url for url, row in rows.items() if row["signalled"]] == [PAGES[7]]
    assert (rows[PAGES[7]]["priority"] > plain[PAGES[7]]) == is_earlier


def test_a_page_of_a_text_that_too_many_pages_of_its_host_have_counts_a_tenth(tmp_path: Path) -> None:
    lake = lake_at(tmp_path, traps={"max_urls_per_text": 2})
    seed.run(lake, PAGES[:5])
    other_host = PAGES[4].replace("a.test", "b.test")
    seed.run(lake, [other_host])
    see_all(lake, "not here", NOON - timedelta(days=3), [*PAGES[:3], other_host])
    see_all(lake, "twice", NOON - timedelta(days=3), PAGES[3:5])
    priority = {row["url"]: row["priority"] for row in choose(lake)}
    told = explain(lake, PAGES[0])
    usual = priority[other_host]
    assert {url: usual - priority[url] for url in PAGES[3:5]} == dict.fromkeys(PAGES[3:5], 0)
    assert {round((usual - priority[url]) / 4096, 2) for url in PAGES[:2]} == {round(math.log2(10), 2)}
    assert told.outlook is not None
    assert told.outlook.weight == pytest.approx(0.1)


def test_a_host_whose_pages_differ_at_every_look_is_noisy_and_the_settings_have_the_last_word(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    seed.run(lake, PAGES)
    see_all(lake, "one", NOON - timedelta(days=2))
    see_all(lake, "two", NOON - timedelta(days=2, minutes=-30), content_changed=True, counts_as_changed=True)
    assert all(row["noisy"] for row in choose(lake))
    told = lake_at(tmp_path, host={"a.test": {"noisy": False}})
    assert not any(row["noisy"] for row in choose(told, again=False))


def test_a_copy_that_is_too_old_by_its_rule_comes_before_what_is_worth_more(tmp_path: Path) -> None:
    rules = [{"host": "a.test", "path": "/1", "max_days": 3.0}]
    lake = lake_at(tmp_path, plan={"intervals": rules, "budget_urls": 40})
    seed.run(lake, PAGES)
    see_all(lake, "one", NOON - timedelta(days=90))
    for page, days in ((1, 3), (12, 5), (17, 4)):
        same = {"content_changed": False, "counts_as_changed": False}
        see_all(lake, "one", NOON - timedelta(days=days), pages=[PAGES[page]], **same)
    young = [page for page in range(10, 20) if page not in (12, 17)]
    see_all(lake, "one", NOON - timedelta(days=2), pages=[PAGES[page] for page in young])
    rows = choose(lake, again=False)
    first = [row["url"] for row in rows if row["reason"] == "max_interval"]
    assert first == [row["url"] for row in rows[: len(first)]]
    assert first == [PAGES[12], PAGES[17]], "the oldest first, a twentieth of the budget"
    assert len(rows) == 40


OUTCOMES = st.lists(st.sampled_from(list(Outcome)), min_size=1, max_size=4).flatmap(
    lambda few: st.lists(st.sampled_from(few), min_size=1, max_size=14)
)


@settings(max_examples=6, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(OUTCOMES)
def test_whatever_came_of_a_url_it_is_due_when_its_rest_is_over_and_a_seed_within_a_year(
    outcomes: list[Outcome],
) -> None:
    with tempfile.TemporaryDirectory() as root:
        lake = lake_at(root)
        seed.run(lake, [PAGES[0]])
        write(lake, 0, {"url": [known(PAGES[1])]})
        for outcome in outcomes:
            write(lake, 0, {"observation": [observed(url, outcome=outcome.value) for url in PAGES[:2]]})
        kinds = [CONSEQUENCES[outcome].kind for outcome in outcomes]
        streak = next((n for n, kind in enumerate(reversed(kinds)) if kind is not kinds[-1]), len(kinds))
        rests = CONSEQUENCES[outcomes[-1]].rest_days or (1,)
        rest = rests[min(streak, len(rests)) - 1]
        lake.clock.instant = NOON + timedelta(days=min(rest, 365))
        due = {row["url"] for row in choose(lake)}
        assert due == {PAGES[0]} if rest == RETIRED_DAYS else {PAGES[0], PAGES[1]}
        lake.clock.instant = NOON + timedelta(days=0.5)
        assert choose(lake) == []
        found = read_plan(lake, DAY, 0)
        assert found is None
