"""robots.txt through the fetch stage: what an answer, or none, lets us ask for, and for how long."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.stages.memory_ledger import MemoryLedger, make_settings, target
from tests.stages.robots_runs import DENY_ALL, TOLERANCE_SECONDS, age_robots, final, run, urls
from tests.web.site import gaps, site


@pytest.mark.parametrize(
    ("robots", "outcome"),
    [
        ({"status": 404}, "ok"),
        ({"status": 403}, "ok"),
        ({"status": 204}, "ok"),
        ("User-agent: *\nDisallow: /\n", "denied_by_robots"),
        ("User-agent: testbot\nAllow: /\n\nUser-agent: *\nDisallow: /\n", "ok"),
        ({"status": 500}, "robots_unreachable"),
        ({"status": 429}, "robots_unreachable"),
        ({"body": "x", "framing": "wrong_length:+9"}, "robots_unreachable"),
        ({"status": 302, "headers": [["Location", "/robots.txt"]]}, "ok"),
        ({"status": 302, "headers": [["Location", "ftp://a.test/"]]}, "robots_unreachable"),
    ],
)
def test_robots_txt_decides(robots: Any, outcome: str) -> None:
    ledger = MemoryLedger(urls(2))
    with site(robots=robots) as server:
        run(ledger, server)
        pages = [request for request in server.log if not request.url.endswith("robots.txt")]
    assert set(ledger.outcomes().values()) == {outcome}
    assert len(pages) == (2 if outcome == "ok" else 0)
    (decision,) = final(ledger)
    assert all(row["robots_digest"] == decision["body_digest"] for row in ledger.rows["observation"])


def test_an_unreachable_robots_txt_is_asked_for_again_within_the_window_after_ever_longer_waits() -> None:
    routes = {"http://a.test/robots.txt": [*[{"status": 500}] * 3, {"body": "User-agent: *\nDisallow: /0"}]}
    ledger = MemoryLedger(urls(2))
    with site(routes) as server:
        run(ledger, server, make_settings(delay_seconds=0.05))
        waits = gaps(server, "a.test")[:3]
    assert ledger.outcomes() == {"http://a.test/0": "denied_by_robots", "http://a.test/1": "ok"}
    assert [row["final"] for row in ledger.rows["robots"]] == [False, False, False, True]
    assert all(wait >= least - TOLERANCE_SECONDS for wait, least in zip(waits, (0.1, 0.2, 0.4), strict=True))


def test_a_robots_txt_that_stays_unreachable_is_given_up_for_the_cycle() -> None:
    ledger = MemoryLedger(urls(2))
    with site(robots={"status": 500}) as server:
        run(ledger, server)
        assert [request.url for request in server.log] == ["http://a.test/robots.txt"] * 5
    assert set(ledger.outcomes().values()) == {"robots_unreachable"}
    (decision,) = final(ledger)
    assert decision["unreachable_since"] == ledger.rows["robots"][0]["fetched_at"]
    assert (decision["verdict"], decision["read_at"]) == ("disallow", None)


@pytest.mark.parametrize(
    ("age", "stretch_days", "outcome"),
    [
        (80_000, 0, "denied_by_robots"),
        (90_000, 0, "robots_unreachable"),
        (90_000, 1, "denied_by_robots"),
        (180_000, 1, "robots_unreachable"),
    ],
)
def test_the_last_good_copy_serves_for_a_day_and_as_much_longer_as_is_set(
    age: int, stretch_days: float, outcome: str
) -> None:
    ledger = MemoryLedger(urls(1))
    with site(robots=DENY_ALL) as server:
        run(ledger, server)
    age_robots(ledger, age)
    good = ledger.rows["robots"][0]
    with site(robots={"status": 500}) as server:
        run(ledger, server, make_settings(robots_stretch_days=stretch_days))
        assert len(server.log) >= 1
        asked = len(server.log)
        assert ledger.outcome("http://a.test/0") == outcome
        ledger.targets.append(target("http://a.test/1"))
        run(ledger, server, make_settings(robots_stretch_days=stretch_days))
        assert len(server.log) == asked, "not before an hour has passed"
    assert ledger.outcome("http://a.test/1") == outcome
    decision = final(ledger)[-1]
    assert decision["unreachable_since"] is not None
    if outcome == "denied_by_robots":
        assert (decision["verdict"], decision["outcome"], decision["body"]) == ("rules", "server_error", None)
        assert (decision["body_digest"], decision["read_at"]) == (good["body_digest"], good["read_at"])
        assert {row["robots_digest"] for row in ledger.rows["observation"]} == {good["body_digest"]}
    else:
        (said,) = {row["error"] for row in ledger.rows["observation"] if row["url"].endswith("/1")}
        assert "could not be read at" in said


def test_the_rules_before_a_robots_txt_was_gone_do_not_come_back() -> None:
    ledger = MemoryLedger(urls(1))
    for robots in (DENY_ALL, {"status": 404}, {"status": 500}):
        with site(robots=robots) as server:
            age_robots(ledger, 10)
            run(ledger, server, make_settings(robots_stretch_days=9))
    assert ledger.outcome("http://a.test/0") == "robots_unreachable"


@pytest.mark.parametrize(
    ("days", "absent_days", "outcome"),
    [(29.9, 30, "robots_unreachable"), (30.1, 30, "ok"), (99, 0, "robots_unreachable")],
)
def test_a_robots_txt_that_was_unreadable_for_thirty_days_counts_as_absent_if_it_is_set(
    days: float, absent_days: float, outcome: str
) -> None:
    ledger = MemoryLedger(urls(1))
    for age in (days * 86_400 - 100, 100):
        with site(robots={"status": 500}) as server:
            run(ledger, server, make_settings(robots_absent_days=absent_days))
        age_robots(ledger, age)
    first = ledger.rows["robots"][0]["unreachable_since"]
    assert {row["unreachable_since"] for row in ledger.rows["robots"]} == {first}, "kept from task to task"
    with site(robots={"status": 500}) as server:
        run(ledger, server, make_settings(robots_absent_days=absent_days))
    assert ledger.outcome("http://a.test/0") == outcome
    with site(robots="") as server:
        age_robots(ledger, 10)
        run(ledger, server)
    assert final(ledger)[-1]["unreachable_since"] is None


@pytest.mark.parametrize(("body", "suspect"), [("<html>Welcome</html>", True), ("User-agent: *\nAllow: /", False)])
def test_a_page_in_place_of_a_robots_txt_is_told(body: str, suspect: bool) -> None:
    ledger = MemoryLedger(urls(1))
    with site(robots=body) as server:
        run(ledger, server)
    assert ledger.outcome("http://a.test/0") == "ok"
    assert [row["suspect"] for row in ledger.rows["robots"]] == [suspect]


def test_a_valid_copy_of_an_earlier_task_is_not_asked_for_again() -> None:
    ledger = MemoryLedger(urls(1))
    with site(robots="User-agent: *\nDisallow: /0\n") as server:
        run(ledger, server)
        ledger.targets.append(target("http://a.test/1"))
        run(ledger, server)
        assert [request.url for request in server.log] == ["http://a.test/robots.txt", "http://a.test/1"]


def test_a_redirect_of_robots_txt_to_a_host_of_the_bucket_goes_through_its_gate() -> None:
    routes = {
        "http://a.test/robots.txt": {"status": 301, "headers": [["Location", "http://b.test/r"]]},
        "http://b.test/r": {"body": "User-agent: *\nDisallow: /0\n"},
    }
    ledger = MemoryLedger([*urls(2), *urls(2, "b.test")])
    with site(routes, hosts=["a.test", "b.test"]) as server:
        run(ledger, server, make_settings(delay_seconds=0.1))
        assert all(min(gaps(server, host)) >= 0.1 - TOLERANCE_SECONDS for host in ("a.test", "b.test"))
    assert ledger.outcome("http://a.test/0") == "denied_by_robots"
    assert ledger.outcome("http://a.test/1") == "ok"
    assert {ledger.outcome(url) for url in urls(2, "b.test")} == {"ok"}
    hops = [(row["origin"], row["host"], row["hop"], row["final"]) for row in ledger.rows["robots"]]
    assert ("http://a.test", "b.test", 1, True) in hops
    assert ledger.early() == []


def test_a_crawl_delay_that_another_host_serves_holds_at_once() -> None:
    routes = {
        "http://a.test/robots.txt": {"status": 301, "headers": [["Location", "http://b.test/r"]]},
        "http://b.test/r": {"body": "User-agent: *\nCrawl-delay: 0.5\n"},
    }
    ledger = MemoryLedger(urls(2))
    with site(routes, hosts=["a.test", "b.test"]) as server:
        run(ledger, server)
        assert min(gaps(server, "a.test")) >= 0.5 - TOLERANCE_SECONDS
    assert ledger.hosts()["a.test"].crawl_delay_seconds == 0.5
    assert ledger.hosts()["b.test"].crawl_delay_seconds is None


def test_a_url_that_was_not_asked_for_says_why() -> None:
    ledger = MemoryLedger(urls(1))
    with site(robots={"status": 500}) as server:
        run(ledger, server)
    (row,) = ledger.rows["observation"]
    assert row["error"] == "robots.txt: server_error: status 500"
    assert (row["sent"], row["delay_seconds"], row["fetched_at"] == row["ended_at"]) == (False, 0.0, True)


def test_a_redirect_of_robots_txt_to_a_host_without_a_plan_is_followed() -> None:
    routes = {"http://a.test/robots.txt": {"status": 301, "headers": [["Location", "http://b.test/r"]]}}
    ledger = MemoryLedger(urls(1))
    with site(routes | {"http://b.test/r": {"body": ""}}, hosts=["a.test", "b.test"]) as server:
        run(ledger, server)
    assert ledger.outcome("http://a.test/0") == "ok"
    assert {row["host"] for row in ledger.rows["host_state"]} == {"a.test", "b.test"}


def test_a_hop_waits_for_a_host_that_has_asked_for_time_whatever_is_planned_there() -> None:
    routes = {"http://a.test/robots.txt": {"status": 301, "headers": [["Location", "http://b.test/r"]]}}
    ledger = MemoryLedger(urls(1, "b.test"))
    with site(routes | {"http://b.test/0": {"status": 503, "headers": [["Retry-After", "60"]]}},
              hosts=["a.test", "b.test"]) as server:  # fmt: skip
        run(ledger, server)
        ledger.targets = [target(url) for url in urls(1)]
        ledger.deadline = datetime.now(UTC) + timedelta(seconds=5)
        run(ledger, server)
        assert server.requests("http://b.test/r") == []
    assert ledger.outcome("http://a.test/0") is None


def test_a_hop_counts_against_the_day_of_its_host_whatever_is_planned_there() -> None:
    routes = {"http://a.test/robots.txt": {"status": 301, "headers": [["Location", "http://b.test/r"]]}}
    settings = make_settings(fetch={"window_hours": 0.0001}, delay_seconds=0.1)  # 0.36 s: three requests
    ledger = MemoryLedger(urls(2, "b.test"))
    with site(routes, hosts=["a.test", "b.test"]) as server:
        run(ledger, server, settings)
        assert len(server.log) == 3
        ledger.targets = [target(url) for url in urls(1)]
        run(ledger, server, settings)
        assert [request.url for request in server.log[3:]] == ["http://a.test/robots.txt"]
    assert ledger.outcome("http://a.test/0") is None


def test_every_origin_of_a_host_has_its_own_robots_txt() -> None:
    routes = {"http://a.test:8080/robots.txt": {"body": "User-agent: *\nDisallow: /\n"}}
    ledger = MemoryLedger(["http://a.test/x", "http://a.test:8080/x"])
    with site(routes) as server:
        run(ledger, server)
    assert ledger.outcomes() == {"http://a.test/x": "ok", "http://a.test:8080/x": "denied_by_robots"}
