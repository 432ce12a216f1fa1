"""The fetch stage against a real server: what is asked, when, and what is written down."""

import hashlib
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from crawler.core.clock import SimulatedClock
from crawler.core.columns import FoundLinks
from crawler.core.cycle import Cycle
from crawler.core.fetch_settings import HostSettings
from crawler.core.model import Row
from crawler.core.progress import Progress
from crawler.stages import fetch
from crawler.stages.fetch import rows as fetch_rows
from tests.stages.memory_ledger import MemoryLedger, make_settings, target
from tests.stages.robots_runs import TOLERANCE_SECONDS, run, urls
from tests.web.recipes import make
from tests.web.site import PAGE, gaps, site

PAGE_DIGEST = hashlib.sha256(make(PAGE)).digest()


# Delays


def test_a_host_is_asked_no_earlier_than_its_delay_after_a_response() -> None:
    exchange = {"body": PAGE, "delay_before_headers_s": 0.15}
    ledger = MemoryLedger(urls(4))
    with site({"http://a.test/*": exchange}) as server:
        run(ledger, server, make_settings(delay_seconds=0.2))
        assert min(gaps(server, "a.test")) >= 0.2 - TOLERANCE_SECONDS
    assert len(ledger.outcomes()) == 4
    assert ledger.early() == []


def test_the_delay_of_one_host_holds_up_no_other() -> None:
    hosts = [f"h{number}.test" for number in range(20)]
    ledger = MemoryLedger([url for host in hosts for url in urls(3, host)])
    with site(hosts=hosts) as server:
        started = time.monotonic()
        run(ledger, server, make_settings(delay_seconds=0.3))
        assert time.monotonic() - started < 20 * 4 * 0.3 / 2
        assert all(min(gaps(server, host)) >= 0.3 - TOLERANCE_SECONDS for host in hosts)
    assert ledger.early() == []


def test_robots_txt_comes_first_and_its_crawl_delay_is_kept() -> None:
    ledger = MemoryLedger(urls(3))
    with site(robots="User-agent: *\nCrawl-delay: 0.4\n") as server:
        run(ledger, server)
        assert server.log[0].url == "http://a.test/robots.txt"
        assert min(gaps(server, "a.test")) >= 0.4 - TOLERANCE_SECONDS
    assert ledger.rows["host_state"][-1]["crawl_delay_seconds"] == 0.4
    assert ledger.early() == []


def test_the_response_time_slows_the_pace_down() -> None:
    ledger = MemoryLedger(urls(3))
    with site({"http://a.test/*": {"body": PAGE, "delay_before_headers_s": 0.1}}) as server:
        run(ledger, server, make_settings(delay_factor=5.0))
        assert gaps(server, "a.test")[-1] >= 0.2
    assert ledger.early() == []


def test_a_retry_after_is_waited_for() -> None:
    busy = {"status": 429, "headers": [["Retry-After", "1"]], "body": "slow down"}
    ledger = MemoryLedger(urls(2))
    with site({"http://a.test/0": busy}) as server:
        run(ledger, server)
        assert gaps(server, "a.test")[-1] >= 1 - TOLERANCE_SECONDS
    assert ledger.outcomes() == {"http://a.test/0": "rate_limited", "http://a.test/1": "ok"}
    assert ledger.rows["observation"][0]["retry_after_seconds"] == 1.0


def test_a_host_that_asks_for_longer_than_the_window_stays_open_and_held() -> None:
    busy = {"status": 503, "headers": [["Retry-After", "3600"]], "body": "slow down"}
    ledger = MemoryLedger(urls(2))
    with site({"http://a.test/0": busy}) as server:
        counts = run(ledger, server)
    assert (counts["observed"], counts["open"], ledger.complete) == (1, 1, True)
    held = ledger.rows["host_state"][-1]["allowed_at"] - datetime.now(UTC)
    assert held > timedelta(seconds=3590)


def test_hosts_of_one_address_share_a_gate() -> None:
    hosts = {f"h{number}.test": {"address": "127.0.0.9"} for number in range(4)}
    ledger = MemoryLedger([f"http://{host}/" for host in hosts])
    ledger.shared_addresses = {"127.0.0.9": 2}
    with site(hosts=hosts) as server:
        run(ledger, server, make_settings(address_delay_seconds=0.05))
        started = sorted(request.started for request in server.log)
        assert len(started) == 8
        # A thread that is slow to send after its turn comes closer to the next one: the gate keeps a rate.
        assert started[-1] - started[0] >= 6 * 0.1


def test_a_hosts_own_setting_replaces_the_general_delay() -> None:
    settings = make_settings(delay_seconds=5.0)
    settings = settings.model_copy(update={"host": {"a.test": HostSettings(delay_seconds=0.1)}})
    ledger = MemoryLedger(urls(2))
    with site() as server:
        run(ledger, server, settings)
        assert 0.1 - TOLERANCE_SECONDS <= gaps(server, "a.test")[-1] < 2


def test_a_day_has_no_more_requests_than_the_delay_allows() -> None:
    settings = make_settings(fetch={"window_hours": 0.0001}, delay_seconds=0.1)  # 0.36 s: three requests
    ledger = MemoryLedger(urls(6))
    with site() as server:
        counts = run(ledger, server, settings)
        assert len(server.log) == 3
    assert counts["open"] == 4
    again = MemoryLedger(urls(6))
    again.rows = ledger.rows
    with site() as server:
        run(again, server, settings)
        assert server.log == []


# Restarts


def test_after_a_take_over_every_host_waits_from_the_start_of_the_task() -> None:
    ledger = MemoryLedger([*urls(1), *urls(1, "b.test")])
    ledger.taken_over = True
    with site(hosts=["a.test", "b.test"]) as server:
        started = time.monotonic()
        run(ledger, server, make_settings(delay_seconds=0.3))
        assert min(request.started for request in server.log) - started >= 0.3


def test_a_long_delay_is_written_down_before_its_host_is_asked_again() -> None:
    written: list[tuple[float, list[Row]]] = []

    class Watched(MemoryLedger):
        def append(self, rows: Mapping[str, Sequence[Row]], links: Sequence[FoundLinks] = ()) -> None:
            super().append(rows, links)
            written.append((time.monotonic(), list(rows.get("host_state", []))))

    ledger = Watched(urls(2))
    with site(robots="User-agent: *\nCrawl-delay: 1\n") as server:
        run(ledger, server)
        second = server.log[1].started
    at, states = written[0]
    assert at < second
    assert [(state["host"], state["crawl_delay_seconds"]) for state in states] == [("a.test", 1.0)]


def test_a_crash_loses_nothing_that_was_fetched_and_the_next_task_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = fetch_rows.visit, Counter[str]()

    def failing(planned: Any, *arguments: Any, **more: Any) -> Any:
        calls["visits"] += 1
        if calls["visits"] == 5:
            raise RuntimeError("a bug")
        return real(planned, *arguments, **more)

    monkeypatch.setattr(fetch_rows, "visit", failing)
    ledger = MemoryLedger(urls(9))
    with site() as server:
        with pytest.raises(RuntimeError, match="a bug"):
            run(ledger, server, make_settings(delay_seconds=0.05))
        assert ledger.complete is None
        assert len(ledger.outcomes()) == 4
        ledger.taken_over = True
        run(ledger, server, make_settings(delay_seconds=0.05))
        asked = Counter(request.url for request in server.log)
    assert len(ledger.outcomes()) == 9
    assert {url for url, count in asked.items() if count > 1} == {"http://a.test/4"}
    assert len(ledger.rows["observation"]) == 9


def test_a_failing_ledger_ends_the_task_and_is_not_written_to_again() -> None:
    class Broken(MemoryLedger):
        def append(self, rows: Mapping[str, Sequence[Row]], links: Sequence[FoundLinks] = ()) -> None:
            super().append(rows, links)
            raise OSError("disk full")

    ledger = Broken(urls(9))
    with site() as server, pytest.raises(OSError, match="disk full"):
        run(ledger, server, make_settings(fetch={"segment_pages": 3}))
    assert (ledger.segments, ledger.complete) == (1, None)


def test_a_stop_ends_the_task_early_with_all_it_has_fetched() -> None:
    ledger = MemoryLedger(urls(50))
    with site() as server:
        counts = run(ledger, server, make_settings(delay_seconds=0.1), stop=lambda: len(ledger.rows) > -1)
        assert counts["stopped"] == 1
        assert counts["observed"] == len([r for r in server.log if not r.url.endswith("robots.txt")]) < 50
    assert ledger.complete is False


def test_the_deadline_leaves_the_rest_open() -> None:
    ledger = MemoryLedger(urls(50), window_seconds=0.5)
    with site() as server:
        started = time.monotonic()
        counts = run(ledger, server, make_settings(delay_seconds=0.1))
        assert time.monotonic() - started < 1.5
    assert 0 < counts["observed"] < 50
    assert counts["open"] == 50 - counts["observed"]
    assert ledger.complete is True


def test_a_deadline_that_has_passed_or_an_empty_plan_costs_no_request() -> None:
    for ledger in (MemoryLedger(urls(3), window_seconds=-1), MemoryLedger()):
        with site() as server:
            run(ledger, server)
            assert (server.log, ledger.complete) == ([], True)


def test_segments_are_written_by_pages_and_bounded_by_them() -> None:
    ledger = MemoryLedger([url for number in range(8) for url in urls(10, f"h{number}.test")])
    with site(hosts=[f"h{number}.test" for number in range(8)]) as server:
        run(ledger, server, make_settings(fetch={"segment_pages": 10}))
    assert 4 <= ledger.segments <= 8
    assert len(ledger.outcomes()) == 80


# What is written down


def test_validators_go_out_verbatim_and_a_304_keeps_what_is_stored() -> None:
    known = {"etag": 'W/"a,b"', "last_modified": "Mon, 1 Jan 2024", "body_digest": b"b" * 32, "text_digest": b"t" * 32,
             "simhash": 7, "text_bytes": 5, "body_bytes": 1234}  # fmt: skip
    ledger = MemoryLedger()
    ledger.targets = [target("http://a.test/x", **known)]
    with site({"http://a.test/x": {"status": 304}}) as server:
        run(ledger, server)
        (request,) = server.requests("http://a.test/x")
        assert (request.header("if-none-match"), request.header("if-modified-since")) == ('W/"a,b"', "Mon, 1 Jan 2024")
    (row,) = ledger.rows["observation"]
    kept = {name: row[name] for name in known if name != "body_bytes"}
    assert kept == {name: value for name, value in known.items() if name != "body_bytes"}
    assert (row["outcome"], row["conditional"], row["saved_bytes"]) == ("not_modified", True, 1234)
    assert (row["content_changed"], row["stored"], ledger.rows["capture"]) == (False, False, [])


def test_an_equal_body_is_no_new_version_and_its_links_are_not_listed_again() -> None:
    ledger = MemoryLedger()
    ledger.targets = [target("http://a.test/x", body_digest=PAGE_DIGEST, text_digest=b"other parser")]
    with site() as server:
        run(ledger, server)
    (row,) = ledger.rows["observation"]
    assert (row["outcome"], row["stored"], row["content_changed"]) == ("ok", False, False)
    assert (ledger.rows["capture"], ledger.rows["link"]) == ([], [])


def test_one_body_at_two_urls_is_captured_once() -> None:
    ledger = MemoryLedger(urls(2))
    with site() as server:
        run(ledger, server)
    assert [row["stored"] for row in ledger.rows["observation"]] == [True, False]
    assert [row["body_digest"] for row in ledger.rows["capture"]] == [PAGE_DIGEST]


def test_a_page_that_asks_not_to_be_kept_is_not_kept() -> None:
    exchange = {"body": PAGE, "headers": [["X-Robots-Tag", "noarchive, noindex"]]}
    ledger = MemoryLedger(urls(1))
    with site({"http://a.test/0": exchange}) as server:
        run(ledger, server)
    (row,) = ledger.rows["observation"]
    assert (row["stored"], row["noindex"], row["noarchive"], row["body_digest"]) == (False, True, True, PAGE_DIGEST)
    assert ledger.rows["capture"] == []


def test_what_a_page_says_of_itself_and_its_links_is_in_its_row() -> None:
    page = "<html lang=pt-BR><meta charset=koi8-r><a href=/x>x</a><a rel=nofollow href=/y>y</a>"
    exchanges = {
        "http://a.test/0": {"body": page, "headers": [["Content-Type", "text/html"]]},
        "http://a.test/1": {"body": "<meta name=robots content=nofollow><a href=/z>z</a><a href=/w>w</a>"},
    }
    ledger = MemoryLedger(urls(2))
    with site(exchanges) as server:
        run(ledger, server)
    by_url = {row["url"]: row for row in ledger.rows["observation"]}
    said = [
        tuple(by_url[url][name] for name in ("charset_reason", "language", "nofollow", "links", "nofollow_links"))
        for url in ("http://a.test/0", "http://a.test/1")
    ]
    assert said == [("meta", "pt", False, 2, 1), ("header", None, True, 2, 2)]


def test_redirects_links_canonicals_and_sitemaps_become_link_rows() -> None:
    page = {
        "html": {"head": '<link rel="canonical" href="/c">', "links": ["/l", "http://B.test/x#f", "/0", "mailto:x"]}
    }
    sitemap = (
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://a.test/s</loc></url></urlset>'
    )
    routes = {
        "http://a.test/0": {"body": page, "headers": [["Content-Type", "text/html"]]},
        "http://a.test/1": {"status": 301, "headers": [["Location", "//c.test/caf\u00c3\u00a9"]]},
        "http://a.test/2": {"body": sitemap, "headers": [["Content-Type", "application/xml"]]},
    }
    ledger = MemoryLedger(urls(3))
    with site(routes) as server:
        run(ledger, server)
    found = {(row["source_url"], row["kind"], row["target_url"]) for row in ledger.rows["link"]}
    assert found == {
        ("http://a.test/0", "canonical", "http://a.test/c"),
        ("http://a.test/0", "a", "http://a.test/l"),
        ("http://a.test/0", "a", "http://b.test/x"),
        ("http://a.test/1", "redirect", "http://c.test/caf%C3%A9"),
        ("http://a.test/2", "sitemap", "http://a.test/s"),
    }
    by_url = {row["url"]: row for row in ledger.rows["observation"]}
    assert by_url["http://a.test/0"]["canonical_url"] == "http://a.test/c"
    assert by_url["http://a.test/1"]["redirect_url"] == "http://c.test/caf%C3%A9"


def test_a_fetch_after_the_cycles_day_is_late(tmp_path: Path) -> None:
    clock = SimulatedClock(tmp_path / "clock.json")
    now = datetime(2026, 11, 27, 3, tzinfo=UTC)
    for day, late in ((26, True), (27, False)):
        clock.set(now)
        ledger = MemoryLedger(urls(1))
        ledger.deadline = now + timedelta(hours=1)
        with site() as server, server.intercept():
            fetch.fetch(ledger, make_settings(), clock, Cycle.parse(f"2026-11-{day}"), 0, 1)
        assert ledger.rows["observation"][0]["late"] is late
        assert ledger.rows["observation"][0]["fetched_at"] >= now


def test_the_best_url_of_a_host_comes_first() -> None:
    ledger = MemoryLedger()
    ledger.targets = [target(f"http://a.test/{n}", priority=10 - n) for n in range(5)]
    with site() as server:
        run(ledger, server)
        assert [request.url[-1] for request in server.log[1:]] == ["0", "1", "2", "3", "4"]


def test_progress_ends_at_what_was_observed() -> None:
    told: list[Progress] = []
    ledger = MemoryLedger(urls(3))
    with site() as server:
        run(ledger, server, progress=told.append)
    assert (told[-1].planned, told[-1].observed, told[-1].outcomes) == (3, 3, {"ok": 3})


def test_no_thread_outlives_its_task() -> None:
    before = set(threading.enumerate())
    ledger = MemoryLedger(urls(3))
    with site() as server:
        run(ledger, server)
        left = [thread for thread in set(threading.enumerate()) - before if thread.name.startswith("fetch")]
    assert left == []
