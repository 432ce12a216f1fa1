"""robots.txt redirects into another bucket, whose owner alone may ask its hosts, and what other owners want of ours."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from crawler.core.keys import bucket_of, host_key
from crawler.core.model import RobotsAnswer, Want
from crawler.stages.fetch import engine, errands
from tests.stages.memory_ledger import MemoryLedger, make_settings
from tests.stages.robots_runs import DENY_ALL, TOLERANCE_SECONDS, age_robots, final, run, urls
from tests.web.site import gaps, site

HERE = bucket_of(host_key("a.test"), 16)
THERE = next(name for name in (f"h{n}.test" for n in range(99)) if bucket_of(host_key(name), 16) != HERE)
BESIDE = next(name for name in (f"h{n}.test" for n in range(99)) if bucket_of(host_key(name), 16) == HERE)
REDIRECT = {"http://a.test/robots.txt": {"status": 301, "headers": [["Location", f"http://{THERE}/robots.txt"]]}}


def answer(body: bytes | None = DENY_ALL.encode(), *, verdict: str = "rules", seconds: float = 3600) -> RobotsAnswer:
    now = datetime.now(UTC)
    digest = None if body is None else b"d" * 32
    outcome, status = ("ok", 200) if verdict == "rules" else ("gone", 404)
    until = now + timedelta(seconds=seconds)
    return RobotsAnswer(verdict, outcome, status, now - timedelta(hours=5), until, body, digest, suspect=False)


@pytest.mark.parametrize(
    ("told", "outcome"),
    [(answer(), "denied_by_robots"), (answer(b""), "ok"), (answer(None, verdict="allow"), "ok")],
    ids=["rules", "empty rules", "allow"],
)
def test_a_redirect_to_another_bucket_is_answered_by_what_its_owner_knows(told: RobotsAnswer, outcome: str) -> None:
    ledger = MemoryLedger(urls(1))
    ledger.answers = {f"http://{THERE}/robots.txt": [told]}
    with site(REDIRECT, hosts=["a.test", THERE]) as server:
        run(ledger, server, bucket=HERE, buckets=16)
        assert server.requests(f"http://{THERE}/*") == []
    assert ledger.outcome("http://a.test/0") == outcome
    assert ledger.wanted == [Want(f"http://{THERE}/robots.txt", THERE, "http://a.test", 1)]
    hop, decision = ledger.rows["robots"]
    assert (hop["sent"], hop["final"], hop["verdict"]) == (True, False, "redirect")
    assert (decision["sent"], decision["final"], decision["verdict"], decision["hop"]) == (False, True, told.verdict, 1)
    assert (decision["host"], decision["url"]) == ("a.test", f"http://{THERE}/robots.txt")
    assert (decision["read_at"], decision["valid_until"]) == (told.read_at, told.valid_until)
    assert (decision["body"], decision["body_digest"]) == (told.body, told.body_digest)
    assert ledger.rows["observation"][0]["robots_digest"] == told.body_digest


def test_an_answer_that_is_not_there_yet_is_looked_for_again_without_asking_anybody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(errands, "_FIRST_LOOK_SECONDS", 0.02)
    ledger = MemoryLedger(urls(2))
    ledger.answers = {f"http://{THERE}/robots.txt": [None, None, answer(seconds=-1), answer()]}
    with site(REDIRECT, hosts=["a.test", THERE]) as server:
        run(ledger, server, bucket=HERE, buckets=16)
        assert [request.url for request in server.log] == ["http://a.test/robots.txt"]
    assert len(ledger.wanted) == 4
    assert set(ledger.outcomes().values()) == {"denied_by_robots"}


def test_a_robots_txt_of_another_bucket_that_nobody_reads_leaves_its_origin_alone_and_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(errands, "_FIRST_LOOK_SECONDS", 0.001)
    ledger = MemoryLedger([*urls(2), *urls(3, BESIDE)])
    with site(REDIRECT, hosts=["a.test", BESIDE, THERE]) as server:
        run(ledger, server, bucket=HERE, buckets=16)
        assert server.requests(f"http://{THERE}/*") == []
        assert len(server.requests("http://a.test/*")) == 1
    assert [ledger.outcome(url) for url in urls(2)] == ["robots_unreachable"] * 2
    assert [ledger.outcome(url) for url in urls(3, BESIDE)] == ["ok"] * 3
    assert f"it redirects to {THERE}, a host of another bucket" in ledger.rows["robots"][-1]["error"]
    assert THERE in next(row["error"] for row in ledger.rows["observation"] if row["host"] == "a.test")


def test_a_deadline_ends_the_looking() -> None:
    ledger = MemoryLedger(urls(1), window_seconds=0.5)
    with site(REDIRECT, hosts=["a.test", THERE]) as server:
        run(ledger, server, bucket=HERE, buckets=16)
    assert ledger.outcome("http://a.test/0") == "robots_unreachable"


def test_a_crawl_delay_of_another_bucket_s_robots_txt_holds_at_once() -> None:
    ledger = MemoryLedger(urls(2))
    ledger.answers = {f"http://{THERE}/robots.txt": [answer(b"User-agent: *\nCrawl-delay: 0.4\n")]}
    with site(REDIRECT, hosts=["a.test", THERE]) as server:
        run(ledger, server, bucket=HERE, buckets=16)
        assert min(gaps(server, "a.test")) >= 0.4 - TOLERANCE_SECONDS


def wanted(url: str) -> Want:
    return Want(url, "a.test", "http://asker.test", 1)


def test_what_another_bucket_s_owner_wants_is_asked_for_though_nothing_is_planned() -> None:
    ledger = MemoryLedger()
    ledger.wants_of_others = [wanted("http://a.test/robots.txt")]
    with site(robots=DENY_ALL) as server:
        run(ledger, server)
        assert [request.url for request in server.log] == ["http://a.test/robots.txt"]
        (decision,) = ledger.rows["robots"]
        assert (decision["origin"], decision["hop"], decision["final"]) == ("http://a.test", 0, True)
        assert ledger.rows["host_state"][-1]["host"] == "a.test"
        run(ledger, server)
        assert len(server.log) == 1, "not again within the hour"
        age_robots(ledger, 3700)
        ledger.rows["robots"][0]["valid_until"] = datetime.now(UTC) + timedelta(hours=9)
        run(ledger, server)
        assert len(server.log) == 2, "so that it stays fresh for those who want it"


def test_a_want_of_a_host_that_is_planned_costs_no_second_request() -> None:
    ledger = MemoryLedger(urls(2))
    ledger.wants_of_others = [wanted("http://a.test/robots.txt")]
    with site(robots="User-agent: *\nCrawl-delay: 0.1\n") as server:
        run(ledger, server)
        assert Counter(request.url for request in server.log)["http://a.test/robots.txt"] == 1
        assert min(gaps(server, "a.test")) >= 0.1 - TOLERANCE_SECONDS
    assert set(ledger.outcomes().values()) == {"ok"}


def test_a_wanted_file_at_another_path_is_asked_for_through_redirects_and_decides_nothing_here() -> None:
    routes = {
        "http://a.test/": {"status": 302, "headers": [["Location", "http://b.test/r"]]},
        "http://b.test/r": {"body": DENY_ALL},
    }
    ledger = MemoryLedger(urls(1))
    ledger.wants_of_others = [wanted("http://a.test/")]
    with site(routes, hosts=["a.test", "b.test"]) as server:
        run(ledger, server)
    assert ledger.outcome("http://a.test/0") == "ok"
    rows = [row for row in ledger.rows["robots"] if row["origin"] == "http://asker.test"]
    assert [(row["url"], row["hop"], row["final"], row["verdict"]) for row in rows] == [
        ("http://a.test/", 1, False, "redirect"),
        ("http://b.test/r", 2, False, "rules"),
    ]
    assert rows[-1]["valid_until"] > datetime.now(UTC) + timedelta(hours=23)
    assert "http://asker.test" not in {row["origin"] for row in final(ledger)}


def test_a_wanted_file_that_leads_to_a_third_bucket_or_nowhere_harms_nobody() -> None:
    routes = {f"http://{BESIDE}/1": {"status": 302, "headers": [["Location", f"http://{THERE}/x"]]},
              f"http://{BESIDE}/2": {"status": 302, "headers": [["Location", "ftp://x/"]]},
              f"http://{BESIDE}/3": {"status": 500}}  # fmt: skip
    ledger = MemoryLedger(urls(1, BESIDE))
    ledger.wants_of_others = [Want(url, BESIDE, "http://asker.test", 1) for url in routes]
    with site(routes, hosts=[BESIDE, THERE]) as server:
        run(ledger, server, bucket=HERE, buckets=16)
        assert server.requests(f"http://{THERE}/*") == []
        assert all(len(server.requests(url)) == 1 for url in routes)
    rows = [row for row in ledger.rows["robots"] if row["origin"] == "http://asker.test"]
    assert {(row["verdict"], row["final"]) for row in rows} == {("disallow", False)}
    assert ledger.outcomes() == {f"http://{BESIDE}/0": "ok"}


def test_a_want_that_comes_while_the_fetch_runs_is_taken_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_HOLDS_SECONDS", 0.0)
    monkeypatch.setattr(engine, "_SUPERVISE_SECONDS", 0.05)
    ledger = MemoryLedger(urls(6, "b.test"))

    class Late(MemoryLedger):
        def wants(self) -> list[Want]:
            return [wanted("http://a.test/robots.txt")] if server.requests("http://b.test/1") else []

    ledger.__class__ = Late
    with site(hosts=["a.test", "b.test"]) as server:
        run(ledger, server, make_settings(delay_seconds=0.1))
        assert len(server.requests("http://a.test/robots.txt")) == 1
    assert len(ledger.outcomes()) == 6


def test_two_buckets_whose_robots_txt_lead_to_each_other_do_not_ask_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_HOLDS_SECONDS", 0.0)
    monkeypatch.setattr(engine, "_SUPERVISE_SECONDS", 0.02)
    monkeypatch.setattr(errands, "_FIRST_LOOK_SECONDS", 0.05)

    class Mutual(MemoryLedger):
        def wants(self) -> list[Want]:
            return [wanted("http://a.test/robots.txt")] if self.wanted else []

    ledger = Mutual(urls(1))
    with site(REDIRECT, hosts=["a.test", THERE]) as server:
        run(ledger, server, bucket=HERE, buckets=16)
        assert [request.url for request in server.log] == ["http://a.test/robots.txt"]
    assert ledger.outcome("http://a.test/0") == "robots_unreachable"


def test_a_held_host_is_not_asked_for_what_others_want() -> None:
    ledger = MemoryLedger(urls(1, "b.test"))
    ledger.holds = frozenset({"a.test"})
    ledger.wants_of_others = [wanted("http://a.test/robots.txt"), wanted("http://a.test/x")]
    with site(hosts=["a.test", "b.test"]) as server:
        run(ledger, server)
        assert server.requests("http://a.test/*") == []
    assert ledger.outcome("http://b.test/0") == "ok"
