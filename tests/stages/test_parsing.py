"""Reading pages in processes that can be killed: what a hostile page costs, and what it does not."""

import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from crawler.core.clock import SystemClock
from crawler.core.columns import FoundLinks, LinkColumns
from crawler.core.config import Settings
from crawler.core.cycle import Cycle
from crawler.core.errors import ParserNotStarted
from crawler.core.model import Row
from crawler.page.reading import Job, Reading
from crawler.stages import fetch
from crawler.stages.fetch import engine, parsing
from tests.stages.memory_ledger import MemoryLedger, make_settings
from tests.web.server import ScriptedServer
from tests.web.site import site

NOW = datetime(2026, 11, 30, tzinfo=UTC)
HOSTILE_BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from tests.stages.hostile_worker import main; main()"
)
SLOW_PAGE = "<table>" + "<td>x" * 400_000  # takes lexbor a second, which nothing in Python can interrupt
PAGE = {"headers": [["Content-Type", "text/html"]], "body": "<title>t</title><a href=/next>next</a> some words"}


@pytest.fixture
def hostile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "_BOOT", HOSTILE_BOOT)


class Delivered:
    """What a parser delivers, in the order of delivery."""

    def __init__(self) -> None:
        self.readings: list[tuple[str, Reading]] = []
        self.links: list[LinkColumns] = []
        self.failures: list[BaseException] = []

    def __call__(self, readings: Sequence[tuple[str, Reading]], links: LinkColumns) -> None:
        assert len(links.counts) == len(readings)
        self.readings += readings
        self.links.append(links)

    def errors(self) -> dict[str, str]:
        return {ticket: reading.error for ticket, reading in self.readings if reading.error is not None}


@contextmanager
def workers(seconds: float = 30, count: int = 1) -> Iterator[tuple[parsing.Workers[str], Delivered]]:
    found = Delivered()
    parser: parsing.Workers[str] = parsing.Workers(
        parsing.rules_of(make_settings()), found, found.failures.append, count=count, seconds=seconds
    )
    try:
        yield parser, found
    finally:
        parser.close()
    assert found.failures == []


def job(body: str, url: str = "http://a.test/") -> Job:
    return Job(url, url, 0, "text/html", "text/html", [], NOW, None, body.encode())


def fetched(ledger: MemoryLedger, server: ScriptedServer, settings: Settings) -> dict[str, int]:
    with server.intercept():
        return fetch.fetch(ledger, settings, SystemClock(), Cycle(datetime.now(UTC).date()), 0, 1)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("hang", "the parser took longer than 0.3 s of CPU time"),
        ("crash", "the parser died of SIGSEGV"),
        ("bug", "the parser ended with code 1: ZeroDivisionError: a bug"),
        ("memory", "MemoryError"),
        ("lie", "the parser gave no answer"),
    ],
)
@pytest.mark.usefixtures("hostile")
def test_a_page_that_ends_its_worker_fails_alone_and_the_next_is_read(name: str, error: str) -> None:
    with workers(seconds=0.3) as (parser, found):
        for number in range(5):
            parser.submit(f"good {number}", job(f"<p>page {number} <a href=/{number}>x</a>"))
            if number == 2:
                parser.submit("bad", job(f"misbehave: {name}"))
        parser.drain()
        parser.submit("later", job("<p>later"))
        parser.drain()
        assert (parser.pages, parser.weight) == (0, 0)
        losses = parser.restarts
    assert sorted(ticket for ticket, _ in found.readings) == ["bad", *(f"good {n}" for n in range(5)), "later"]
    assert list(found.errors()) == ["bad"]
    assert losses == (0 if name == "memory" else 2), "once in its batch and once alone"
    assert found.errors()["bad"].startswith(error)
    assert sum(map(len, found.links)) == 5


def test_a_page_that_takes_the_parser_too_long_ends_as_parser_failed_and_the_rest_of_the_site_is_fetched() -> None:
    exchanges = {"http://a.test/slow": {**PAGE, "body": SLOW_PAGE}, "http://a.test/*": PAGE}
    ledger = MemoryLedger(["http://a.test/slow", *(f"http://a.test/{number}" for number in range(9))])
    with site(exchanges) as server:
        counts = fetched(ledger, server, make_settings(fetch={"parse_workers": 1, "parse_seconds": 0.1}))
    outcomes = ledger.outcomes()
    assert outcomes.pop("http://a.test/slow") == "parser_failed"
    assert set(outcomes.values()) == {"ok"}
    assert counts["observed"] == len(ledger.rows["observation"]) == 10
    assert (counts["parser_failed"], counts["parser_restarts"]) == (1, 2)
    (failed,) = (row for row in ledger.rows["observation"] if row["outcome"] == "parser_failed")
    assert failed["error"] == "the parser took longer than 0.1 s of CPU time"
    assert failed["delay_seconds"] == 0.0
    assert failed["stored"] is False


def test_known_bombs_end_as_parser_failed() -> None:
    bombs = {
        "open": "<div>" * 200_000,
        "formatting": "".join(f"<b i{n}>" for n in range(4000)) + "<p>x" * 10_000,
    }
    exchanges = {f"http://a.test/{name}": {**PAGE, "body": body} for name, body in bombs.items()}
    ledger = MemoryLedger([*exchanges, "http://a.test/page"])
    with site({**exchanges, "http://a.test/page": PAGE}) as server:
        fetched(ledger, server, make_settings(fetch={"parse_workers": 1}))
    assert ledger.outcomes() == {**dict.fromkeys(exchanges, "parser_failed"), "http://a.test/page": "ok"}


@pytest.mark.usefixtures("hostile")
def test_a_delay_is_written_down_and_its_host_asked_again_while_the_parser_hangs() -> None:
    written: list[tuple[list[str], list[str]]] = []

    class Watched(MemoryLedger):
        def append(self, rows: Mapping[str, Sequence[Row]], links: Sequence[FoundLinks] = ()) -> None:
            super().append(rows, links)
            states = [row["host"] for row in rows.get("host_state", ())]
            written.append((states, [row["url"] for row in rows.get("observation", ())]))

    ledger = Watched([f"http://a.test/{number}" for number in range(3)])
    exchanges = {"http://a.test/0": {**PAGE, "body": "misbehave: hang"}, "http://a.test/*": PAGE}
    with site(exchanges, robots="User-agent: *\nCrawl-delay: 0.3\n") as server:
        fetched(ledger, server, make_settings(fetch={"parse_workers": 1, "parse_seconds": 2}))
        asked = [request.url for request in server.log]
    assert asked == ["http://a.test/robots.txt", *(f"http://a.test/{number}" for number in range(3))]
    assert ledger.outcome("http://a.test/0") == "parser_failed"
    assert "a.test" in written[0][0]
    assert all("http://a.test/0" not in observed for _, observed in written)
    assert ledger.early() == []


def test_a_worker_that_does_not_start_ends_the_task_with_what_to_run_and_the_pages_stay_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parsing, "_BOOT", "raise ImportError('no parser here')")
    ledger = MemoryLedger(["http://a.test/0", "http://a.test/1"])
    with site({"http://a.test/*": PAGE}) as server, pytest.raises(ParserNotStarted) as failure:
        fetched(ledger, server, make_settings(fetch={"parse_workers": 1}))
    assert "ended with code 1: ImportError: no parser here" in str(failure.value)
    assert f"{sys.executable} -c 'import crawler.page.worker'" in str(failure.value)
    assert ledger.outcomes() == {}
    assert ledger.complete is None


@pytest.mark.usefixtures("hostile")
def test_a_stop_does_not_wait_for_a_page_that_hangs_and_the_page_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_LET_END_SECONDS", 0.2)
    ledger = MemoryLedger(["http://a.test/0", "http://a.test/1"])
    exchanges = {"http://a.test/0": PAGE, "http://a.test/1": {**PAGE, "body": "misbehave: hang"}}
    settings = make_settings(delay_seconds=0.5, fetch={"parse_workers": 1, "parse_seconds": 600})
    with site(exchanges) as server, server.intercept():
        today = Cycle(datetime.now(UTC).date())
        counts = fetch.fetch(ledger, settings, SystemClock(), today, 0, 1, stop=lambda: len(server.log) == 3)
    assert ledger.outcomes() == {"http://a.test/0": "ok"}
    assert (counts["observed"], counts["open"], ledger.complete) == (1, 1, False)


def test_a_worker_is_started_anew_after_so_many_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "_PAGES_PER_WORKER", 3)
    started = []
    real = parsing._Worker._start

    def start(worker: parsing._Worker) -> Any:
        started.append(worker)
        return real(worker)

    monkeypatch.setattr(parsing._Worker, "_start", start)
    with workers() as (parser, found):
        for number in range(8):
            parser.submit(str(number), job("<p>x"))
            parser.drain()
    assert len(found.readings) == 8
    assert len(started) == 3


def test_pages_are_the_same_whether_a_worker_reads_them_or_the_task() -> None:
    html = {
        "http://a.test/links": '<base href="/x/"><link rel=canonical href=/canon>'
        '<meta http-equiv=refresh content="0; url=/fresh"><a href=y rel=nofollow>1</a>'
        '<iframe src=//b.test/z></iframe><a href="/links">self</a>',
        "http://a.test/deep": "<a href='/a/a/a/a/a/a'>trap</a><a href='/p?a=1&a=2&a=3&a=4&utm_source=x'>other</a>",
        "http://a.test/words": "<title>W\u00f6rter</title>" + " ".join(f"wort{n} \u00e4\u4e2d" for n in range(300)),
        "http://a.test/quiet": "<meta name=robots content='noindex, noarchive, nofollow'><a href=/q>q</a>",
        "http://a.test/empty": "",
    }
    feed = "<urlset><url><loc>http://a.test/one</loc></url><url><loc>http://a.test/two</loc></url></urlset>"
    exchanges = {url: {**PAGE, "body": body} for url, body in html.items()}
    exchanges["http://a.test/map"] = {"headers": [["Content-Type", "text/xml"]], "body": feed}
    exchanges["http://a.test/headers"] = {
        "headers": [*PAGE["headers"], ["X-Robots-Tag", "noindex"], ["Link", "</n>; rel=next"]],
        "body": "<p>x",
    }
    found = []
    for count in (0, 1):
        ledger = MemoryLedger(list(exchanges))
        with site(exchanges) as server:
            fetched(ledger, server, make_settings(fetch={"parse_workers": count}))
        found.append(ledger.rows)
    for table in ("observation", "link", "capture"):
        assert _timeless(found[0][table]) == _timeless(found[1][table]), table
    kinds = sorted(row["kind"] for row in found[1]["link"])
    assert kinds == ["a"] * 4 + ["canonical", "header", "iframe", "refresh", "sitemap", "sitemap"]
    assert {row["trap"] for row in found[1]["link"]} == {None, "traps.max_repeated_segments"}


def test_many_pages_from_many_threads_come_back_once_each_with_their_own_links() -> None:
    with workers(count=2) as (parser, found):
        threads = [
            threading.Thread(target=lambda n=n: [parser.submit(f"{n}.{k}", page(f"{n}.{k}")) for k in range(50)])
            for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        parser.drain()
    assert len(found.readings) == len({ticket for ticket, _ in found.readings}) == 200
    assert {reading.title for ticket, reading in found.readings if reading.title != f"t{ticket}"} == set()
    urls = [url for links in found.links for url in links.urls]
    assert urls == [f"http://a.test/{ticket}" for ticket, _ in found.readings]


def test_what_waits_counts_until_it_is_delivered() -> None:
    with workers() as (parser, found):
        before = time.monotonic()
        parser.submit("one", job("<p>x"))
        if time.monotonic() - before < parsing._LINGER_SECONDS:
            assert (parser.pages, parser.weight) == (1, 4)
        parser.drain()
        assert (parser.pages, parser.weight, len(found.readings)) == (0, 0, 1)


def page(name: str) -> Job:
    return job(f"<title>t{name}</title><a href=/{name}>x</a>", "http://a.test/source")


def _timeless(rows: Sequence[Row]) -> list[tuple[Any, ...]]:
    """Rows without their instants, in an order of their own."""
    changing = {"fetched_at", "ended_at", "found_at", "late", "headers", "sequence"}
    return sorted(tuple((key, str(value)) for key, value in row.items() if key not in changing) for row in rows)
