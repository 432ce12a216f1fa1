"""What the operator's rules and forces say of a bucket's URLs, against a plain reading of them in Python."""

import math
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.core.config import parse_settings
from crawler.core.errors import BadForce
from crawler.core.keys import url_key
from crawler.core.patterns import path_regex
from crawler.store import query
from crawler.store.doctor import examine
from crawler.store.forces import all_forces, force, lift_force
from crawler.store.lake import Lake
from crawler.store.state import open_state
from crawler.store.steering import open_steering
from tests.store.small_lake import NOON, known, lake_at, make_known, observed, write

URLS = [
    f"http://{host}{path}"
    for host in ("a.org", "www.a.org", "b.org")
    for path in ("/", "/news/1", "/news/old.html", "/archive/?page=2")
]


def steered(lake: Lake, now: Any = NOON) -> tuple[dict[int, tuple[Any, ...]], dict[int, str]]:
    """The tables steering and forced of bucket 0, by key."""
    con = lake.connect()
    open_state(lake, con, 0, lake.settled("bucket", 0))
    query.view_query(con, "ready_page", "plan/every_page")
    open_steering(lake, con, 0, now)
    rules = {row[0]: row[1:] for row in con.execute("FROM steering").fetchall()}
    return rules, dict(con.execute("FROM forced").fetchall())


hosts = st.sampled_from(["*", "a.org", "*.a.org", "domain:a.org", "b.org"])
paths = st.sampled_from(["/", "/news/", "*.html$", "/archive/?page=*", "/none"])
weights = st.lists(
    st.fixed_dictionaries(
        {"host": hosts, "path": paths, "weight": st.sampled_from([0.25, 3.0, 7.0])},
        optional={"min_depth": st.integers(0, 2), "max_depth": st.integers(2, 3)},
    ),
    max_size=4,
)
intervals = st.lists(
    st.fixed_dictionaries(
        {"host": hosts, "path": paths, "max_days": st.integers(9, 10)}, optional={"min_days": st.just(2)}
    ),
    max_size=3,
)


def is_for(rule: dict[str, Any], url: str) -> bool:
    host, path = url.removeprefix("http://").split("/", 1)
    matches = {"*": True, "*.a.org": host.endswith("a.org"), "domain:a.org": host.endswith("a.org")}
    return matches.get(rule["host"], rule["host"] == host) and bool(re.match(path_regex(rule["path"]), "/" + path))


@pytest.fixture(scope="module")
def a_lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    lake = lake_at(tmp_path_factory.mktemp("lake"))
    for number, url in enumerate(URLS):
        make_known(lake, url, depth=number % 4)
    return lake


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(weights=weights, intervals=intervals)
def test_weights_multiply_and_the_first_interval_wins(
    a_lake: Lake, weights: list[dict[str, Any]], intervals: list[dict[str, Any]]
) -> None:
    given_settings = parse_settings({"plan": {"weights": weights, "intervals": intervals}})
    trial = a_lake.settings.model_copy(update={"plan": given_settings.plan})
    rules, forced = steered(Lake(a_lake.files, a_lake.metadata, trial, a_lake.clock, a_lake.guard))
    expected = {}
    for number, url in enumerate(URLS):
        met = [
            rule["weight"]
            for rule in weights
            if is_for(rule, url) and rule.get("min_depth", 0) <= number % 4 <= rule.get("max_depth", 9)
        ]
        bound = next((rule for rule in intervals if is_for(rule, url)), None)
        if met or bound:
            least = None if bound is None else bound.get("min_days")
            most = None if bound is None else bound["max_days"]
            expected[url_key(url)] = (math.prod(met) if met else None, least, most)
    assert rules == expected
    assert forced == {}


def test_sitemap_priority_and_links_weigh_where_a_rule_asks_for_them(tmp_path: Path) -> None:
    """A URL that no sitemap rates counts as 0.5."""
    rules = [{"min_sitemap_priority": 0.5, "weight": 2}, {"min_inlinks": 1, "weight": 5}]
    lake = lake_at(tmp_path, plan={"weights": rules})
    make_known(lake, "http://a.test/")
    assert steered(lake)[0] == {url_key("http://a.test/"): (2.0, None, None)}
    rules[0]["min_sitemap_priority"] = 0.6
    assert steered(lake_at(tmp_path, plan={"weights": rules}))[0] == {}


def test_a_forced_url_is_first_until_it_is_asked_for(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    make_known(lake, "http://a.test/1", "http://a.test/2")
    write(lake, 0, {"observation": [observed("http://a.test/1", "text", at=NOON - timedelta(hours=1))]})
    force(lake, "http://A.test/1", "first")
    force(lake, "http://a.test/1", "again")
    force(lake, "http://a.test/2", "too")
    assert steered(lake)[1] == {url_key("http://a.test/1"): "again", url_key("http://a.test/2"): "too"}
    assert "foreign" not in {finding.kind for finding in examine(lake)}
    lift_force(lake, "http://a.test/2")
    assert [each.url for each in all_forces(lake)] == ["http://a.test/1"]
    write(
        lake, 0, {"observation": [observed("http://a.test/1", outcome="unreachable", at=NOON + timedelta(seconds=1))]}
    )
    assert steered(lake)[1] == {}
    assert all_forces(lake) == []
    with pytest.raises(BadForce, match=r"is not forced\. Forced: none"):
        lift_force(lake, "http://a.test/1")


@pytest.mark.parametrize(
    ("days", "every", "fields", "forced"),
    [
        (1.95, 2, {}, True),
        (1.8, 2, {}, False),
        (400, 0, {}, False),
        (3, 2, {"outcome": "gone", "status": 404}, False),
    ],
)
def test_a_seed_that_answers_is_due_after_its_days(
    tmp_path: Path, days: float, every: float, fields: dict[str, Any], forced: bool
) -> None:
    lake = lake_at(tmp_path, plan={"recheck_seeds_days": every})
    write(lake, 0, {"url": [known("http://a.test/", is_seed=True), known("http://a.test/1")]})
    at = NOON - timedelta(days=days)
    seen = [observed(url, at=at, **{"outcome": "ok", **fields}) for url in ("http://a.test/", "http://a.test/1")]
    write(lake, 0, {"observation": seen})
    assert steered(lake)[1] == ({url_key("http://a.test/"): "plan.recheck_seeds_days"} if forced else {})
