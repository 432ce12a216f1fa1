"""A URL's story says why it was or was not planned, by the tables that the plan chose from."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from crawler.core.cycle import Cycle
from crawler.core.errors import BadHost, BadQuery, NotHeld
from crawler.core.fetch_settings import HostSettings
from crawler.stages import admit, plan, seed
from crawler.store import holds
from crawler.store.explain import Explanation, Verdict, explain
from crawler.store.lake import Lake
from crawler.store.ledger import FetchLedger
from tests.store.small_cycle import CYCLES, run_whole, seeded_lake
from tests.store.small_lake import (
    DAY,
    NOON,
    asked_robots,
    bucket_of_url,
    digest,
    known,
    lake_at,
    linked,
    observed,
    write,
)
from tests.store.small_web import PAGES, A

URL = "http://a.test/1"


def a_lake(root: Path, *urls: str, **sections: Any) -> Lake:
    """A lake of one bucket whose seed is on the host of URL, with `urls` known besides."""
    lake = lake_at(root, **sections)
    seed.run(lake, ["http://a.test/"])
    write(lake, 0, {"url": [known(url) for url in urls]})
    return lake


def planned(lake: Lake, url: str = URL, *, cycle: Cycle = DAY) -> Explanation:
    """The story of `url` once a plan of `cycle` is admitted."""
    plan.run(lake, cycle, 0)
    admit.run(lake, cycle)
    return explain(lake, url)


def codes(story: Explanation) -> tuple[str, str]:
    return story.last_plan.code, story.next_plan.code


def test_a_url_that_no_page_names_was_never_found(tmp_path: Path) -> None:
    story = planned(a_lake(tmp_path))
    assert (codes(story), story.state, story.history) == (("never_found", "never_found"), None, [])
    assert codes(explain(a_lake(tmp_path), "http://elsewhere.test/")) == ("never_found", "never_found")
    assert "scope.hosts" in explain(a_lake(tmp_path), "http://elsewhere.test/").next_plan.reason


def test_a_known_url_that_a_trap_keeps_out_of_plans_names_the_rule(tmp_path: Path) -> None:
    urls = [f"http://a.test/{number}" for number in range(4)]
    story = planned(a_lake(tmp_path, *urls[:3], traps={"max_urls_per_pattern": 2}), urls[0])
    every = [explain(a_lake(tmp_path, traps={"max_urls_per_pattern": 2}), url) for url in urls[:3]]
    assert sorted(one.next_plan.code for one in every) == ["eligible", "eligible", "trap"]
    assert codes(story)[0] in ("open", "trap")
    (trapped,) = (one for one in every if one.next_plan.code == "trap")
    assert "traps.max_urls_per_pattern" in trapped.next_plan.reason
    assert trapped.last_plan.code == "trap"


@pytest.mark.parametrize(
    ("url", "link", "code"),
    [
        (URL, {"nofollow": True}, "nofollow"),
        (URL, {"trap": "traps.max_depth"}, "trap"),
        ("http://elsewhere.test/", {}, "scope"),
        (URL, {}, "not_kept"),
    ],
)
def test_a_url_that_was_found_and_not_kept_says_what_stopped_it(tmp_path: Path, url: str, link: Any, code: str) -> None:
    lake = a_lake(tmp_path)
    write(lake, 0, {"link": [linked("http://a.test/", url, **link)], "observation": [observed("http://a.test/")]})
    story = explain(lake, url)
    assert story.next_plan.code == code
    assert (story.links["pages"], story.links["example"]) == (1, "http://a.test/")
    assert story.last_plan.code == "no_plan"


def test_a_planned_url_is_open_until_it_is_asked_for(tmp_path: Path) -> None:
    lake = a_lake(tmp_path, URL)
    story = planned(lake, "HTTP://A.test/1#top")
    assert (story.url, codes(story)) == (URL, ("open", "eligible"))
    assert story.last_plan.cycle == str(DAY)
    write(lake, 0, {"observation": [observed(URL, "text", late=True)]})
    story = explain(lake, URL)
    assert codes(story) == ("fetched", "resting")
    assert "ok, late" in story.last_plan.reason
    assert story.next_plan.not_before == NOON + timedelta(days=0.9)
    assert [(row["cycle"], row["outcome"]) for row in story.history] == [(str(DAY), "ok")]
    assert story.state is not None
    assert (story.state["outcome"], story.state["fetches"]) == ("ok", 1)


def test_what_a_robots_txt_decided_is_told_with_its_version(tmp_path: Path) -> None:
    lake = a_lake(tmp_path, URL)
    earlier, later = digest("earlier"), digest("later")
    hour = timedelta(hours=1)
    asked = [
        observed(URL, "text", at=NOON - 3 * hour, robots_digest=earlier),
        observed(URL, outcome="denied_by_robots", at=NOON - hour, sent=False, robots_digest=later),
    ]
    decided = [
        asked_robots("a.test", at=NOON - 4 * hour, read_at=NOON - 4 * hour, body_digest=earlier, body=b"earlier"),
        asked_robots("a.test", at=NOON - 2 * hour, read_at=NOON - 5 * hour, body_digest=later, body=b"later"),
        asked_robots("a.test", at=NOON - 2 * hour, final=False, url="http://x.test/"),
        asked_robots("b.test", at=NOON - 2 * hour),
    ]
    write(lake, 0, {"observation": asked, "robots": decided})
    told = [(row["outcome"], row["robots_read_at"], row["robots_version"]) for row in explain(lake, URL).history]
    assert told == [
        ("ok", NOON - 4 * hour, earlier.hex()[:12]),
        ("denied_by_robots", NOON - 5 * hour, later.hex()[:12]),
    ]
    assert {row["robots_url"] for row in explain(lake, URL).history} == {"http://a.test/robots.txt"}
    assert explain(lake, URL).robots_txt == b"later"
    assert explain(lake, URL).to_dict()["robots_txt"] == "later"


def test_what_a_fetch_has_written_so_far_is_told(tmp_path: Path) -> None:
    lake = a_lake(tmp_path, URL)
    planned(lake)
    with lake.own("bucket", 0, DAY) as owner:
        FetchLedger(lake, owner).append({"observation": [observed(URL, "text")]})
        assert explain(lake, URL).last_plan.code == "fetched"


def test_a_url_rests_after_a_failure_as_long_as_its_outcome_says(tmp_path: Path) -> None:
    lake = a_lake(tmp_path, URL)
    gone = [observed(URL, outcome="gone", status=404, at=NOON - timedelta(days=days)) for days in (9, 3)]
    for row in gone:
        write(lake, 0, {"observation": [row]})
    story = planned(lake)
    assert codes(story) == ("resting", "resting")
    assert story.next_plan.not_before == NOON - timedelta(days=3) + timedelta(days=6.9)


def test_a_url_below_the_cut_off_says_where_the_budget_ended(tmp_path: Path) -> None:
    week_ago = NOON - timedelta(days=7)
    lake = a_lake(tmp_path, URL, plan={"budget_urls": 1})
    write(lake, 0, {"observation": [observed(url, "text", at=week_ago) for url in ("http://a.test/", URL)]})
    stories = [planned(lake, url) for url in ("http://a.test/", URL)]
    assert sorted(story.last_plan.code for story in stories) == ["bucket_budget", "open"]
    two = lake_at(tmp_path / "two", buckets=2, plan={"budget_urls": 1})
    seed.run(two, ["http://a.test/", "http://b.test/"])
    for url in ("http://a.test/", "http://b.test/"):
        write(two, bucket_of_url(two, url), {"observation": [observed(url, "text", at=week_ago)]})
    found = plans_of(two, "http://a.test/", "http://b.test/")
    assert sorted(each.code for each in found) == ["below_cutoff", "open"]
    assert any("the budget ended at priority" in each.reason for each in found)


def test_a_new_url_beyond_the_share_of_new_ones_says_so(tmp_path: Path) -> None:
    """In a plan, or left out of it, as long as known URLs need the rest of the budget."""
    lake = a_lake(tmp_path, URL, "http://a.test/2", plan={"budget_urls": 2, "new_share": 0.5})
    write(lake, 0, {"observation": [observed("http://a.test/", "text", at=NOON - timedelta(days=99))]})
    stories = [planned(lake, url) for url in (URL, "http://a.test/2")]
    assert sorted(story.last_plan.code for story in stories) == ["new_share", "open"]
    two = lake_at(tmp_path / "two", buckets=2, plan={"budget_urls": 1})
    seed.run(two, ["http://a.test/", "http://b.test/"])
    found = plans_of(two, "http://a.test/", "http://b.test/")
    assert sorted(each.code for each in found) == ["new_share", "open"]
    assert any("plan.new_share is now 0.6" in each.reason for each in found)


def plans_of(lake: Lake, *urls: str) -> list[Verdict]:
    for bucket in range(lake.buckets):
        plan.run(lake, DAY, bucket)
    admit.run(lake, DAY)
    return [explain(lake, url).last_plan for url in urls]


def test_a_url_beyond_its_hosts_cap_says_its_rank(tmp_path: Path) -> None:
    lake = a_lake(tmp_path, URL)
    capped = lake.settings.model_copy(update={"host": {"a.test": HostSettings(max_urls=1)}})
    lake = Lake(lake.files, lake.metadata, capped, lake.clock, lake.guard)
    stories = [planned(lake, url) for url in ("http://a.test/", URL)]
    assert sorted(story.last_plan.code for story in stories) == ["host_cap", "open"]
    assert sorted((story.next_plan.host_rank, story.next_plan.host_cap) for story in stories) == [(1, 1), (2, 1)]


def test_a_url_out_of_scope_names_the_rule(tmp_path: Path) -> None:
    lake = a_lake(tmp_path, URL, scope={"rules": [{"deny": "/1"}]})
    story = planned(lake)
    assert codes(story) == ("scope", "scope")
    assert "scope.rules deny /1" in story.last_plan.reason


def test_a_url_that_became_known_after_the_plan_says_so(tmp_path: Path) -> None:
    lake = a_lake(tmp_path)
    planned(lake)
    write(lake, 0, {"url": [known(URL)]})
    assert codes(explain(lake, URL)) == ("later_known", "eligible")


def test_settings_that_have_changed_since_the_plan_are_named_as_the_cause(tmp_path: Path) -> None:
    lake = a_lake(tmp_path, URL, scope={"rules": [{"deny": "/1"}]})
    planned(lake)
    assert codes(explain(lake_at(tmp_path), URL)) == ("settings_changed", "eligible")


def test_a_url_of_a_held_host_says_since_when_and_why(tmp_path: Path) -> None:
    lake = a_lake(tmp_path, URL)
    planned(lake)
    holds.hold(lake, "a.test", "they complained")
    story = explain(lake, URL)
    assert codes(story) == ("open", "held")
    assert "its host is held" in story.last_plan.reason
    assert "they complained" in story.next_plan.reason
    tomorrow = Cycle(DAY.day + timedelta(days=1))
    assert codes(planned(lake, cycle=tomorrow)) == ("held", "held"), "a held host takes no place in a plan"
    holds.release(lake, "http://a.test/some/page")
    assert codes(explain(lake, URL)) == ("settings_changed", "eligible")


def test_the_newest_decision_about_a_host_counts(tmp_path: Path) -> None:
    lake = lake_at(tmp_path, buckets=2)
    for host in ("a.test", "b.test"):
        holds.hold(lake, host)
    holds.release(lake, "A.TEST")
    holds.hold(lake, "b.test", "again")
    assert [(each.host, each.reason) for each in holds.all_held(lake)] == [("b.test", "again")]
    with pytest.raises(NotHeld, match=r"a\.test is not held\. Held hosts: b\.test"):
        holds.release(lake, "a.test")
    for wrong in ("", "a b", "a.test:81", "a.test/x", "mailto:x@a.test"):
        with pytest.raises(BadHost):
            holds.hold(lake, wrong)


def test_every_page_of_a_crawl_has_a_story_and_what_is_no_url_has_none(tmp_path: Path) -> None:
    lake = seeded_lake(tmp_path)
    for cycle in CYCLES[:3]:
        run_whole(lake, cycle)
    for url in PAGES:
        story = explain(lake, url)
        assert codes(story) == ("fetched", "eligible")
        assert {row["outcome"] for row in story.history} <= {"ok", "not_modified"}
    assert explain(lake, f"{A}/2").links["pages"] == 3
    with pytest.raises(BadQuery, match="is no URL to crawl"):
        explain(lake, "mailto:x@a.test")
