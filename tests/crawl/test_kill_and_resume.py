"""A fetch task that is killed or stopped at random moments: nothing is lost, nothing is asked twice, delays hold."""

import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pyarrow.dataset
import pytest

from tests.crawl import plain_web
from tests.crawl.driver import FIRST_DAY, Crawl, write_settings
from tests.crawl.plain_web import Task
from tests.crawl.server import WebServer, gaps

KILLS = 20
SEGMENT_PAGES = 25
DELAY_SECONDS = 0.1
HOSTS, PAGES = 8, 90
# Longer than a new task takes to start, so that only what the last one wrote down keeps the delay.
SLOW_HOST, SLOW_SECONDS, SLOW_PAGES = "slow.plain.test", 3.0, 3
DELAYS = {SLOW_HOST: SLOW_SECONDS, plain_web.PATIENT_HOST: plain_web.CRAWL_DELAY_SECONDS}

pytestmark = pytest.mark.slow


def test_a_fetch_killed_at_twenty_random_moments_completes_its_plan(tmp_path: Path) -> None:
    moments = random.Random(20261102)
    with WebServer(plain_web.respond) as server:
        crawl, urls = _planned(tmp_path, server, total_seconds=0.4)
        recorded: set[str] = set()
        for _ in range(KILLS):
            start = len(server.log)
            with Task("fetch", tmp_path / "recrawl.toml", FIRST_DAY, 0) as task:
                time.sleep(moments.uniform(0, 1.6))
                os.kill(task.pid, signal.SIGKILL)
                task.process.wait()
            asked = _asked(server, start)
            assert not set(asked) & recorded, "asked again although a segment has it"
            assert max(asked.values(), default=1) == 1
            recorded = _recorded(tmp_path)
            assert len(set(asked) - recorded) <= 2 * SEGMENT_PAGES + HOSTS, "more is lost than since the last segment"
        assert 0 < len(recorded) < len(urls), "the kills came too early or too late to test anything"
        start = len(server.log)
        with Task("fetch", tmp_path / "recrawl.toml", FIRST_DAY, 0) as task:
            code, errors = task.end(timeout=120)
            assert code == 0, errors
        assert set(_asked(server, start)) == set(urls) - recorded
        _check_outcomes(crawl, urls)
        _check_delays(server)


def test_a_stopped_fetch_keeps_its_bucket_and_completes_when_it_goes_on(tmp_path: Path) -> None:
    moments = random.Random(20261103)
    settings = tmp_path / "recrawl.toml"
    with WebServer(plain_web.respond) as server:
        crawl, urls = _planned(tmp_path, server, total_seconds=10, pages=30)
        with Task("fetch", settings, FIRST_DAY, 0) as task:
            for _ in range(4):
                time.sleep(moments.uniform(0.2, 0.7))
                os.kill(task.pid, signal.SIGSTOP)
                with Task("fetch", settings, FIRST_DAY, 0) as taker:
                    asked = len(server.log)  # by now the server has read what was on its way
                    code, errors = taker.end(timeout=30)
                assert code == 3
                assert f"pid {task.pid} " in errors
                assert len(server.log) == asked
                os.kill(task.pid, signal.SIGCONT)
            code, errors = task.end(timeout=60)
            assert code == 0, errors
        assert _asked(server, 0) == Counter(urls)
        _check_outcomes(crawl, urls)
        _check_delays(server)


def _planned(folder: Path, server: WebServer, *, total_seconds: float, pages: int = PAGES) -> tuple[Crawl, list[str]]:
    """A lake of one bucket whose first cycle plans all pages of the plain web."""
    names = plain_web.hosts(HOSTS)
    urls = plain_web.urls(names, pages, server.suffix) + plain_web.urls(list(DELAYS), SLOW_PAGES, server.suffix)
    tables = {
        "crawl": {"user_agent": plain_web.PRODUCT},
        "lake": {"buckets": 1},
        "fetch": {
            "resolve": dict.fromkeys([*names, *DELAYS], server.address),
            "allow_private": ["127.0.0.0/8"],
            "total_seconds": total_seconds,
            "segment_pages": SEGMENT_PAGES,
            "segment_seconds": 0.5,
        },
        "politeness": {"delay_seconds": DELAY_SECONDS, "delay_factor": 0.0, "address_delay_seconds": 0.0},
        "host": {SLOW_HOST: {"delay_seconds": SLOW_SECONDS}},
    }
    crawl = Crawl(write_settings(folder, tables), urls)
    crawl.plan()
    return crawl, urls


def _asked(server: WebServer, start: int) -> Counter[str]:
    """How often each URL was asked for since the log's entry `start`."""
    entries = server.log[start:]
    return Counter(f"http://{e.host}{server.suffix}{e.target}" for e in entries if e.target != "/robots.txt")


def _recorded(folder: Path) -> set[str]:
    """The URLs in the files of the log, read without the product."""
    files = [str(path) for path in folder.glob("lake/layout=*/observation/bucket=*/cycle=*/*.parquet")]
    if not files:
        return set()
    return set(pyarrow.dataset.dataset(files, format="parquet").to_table(columns=["url"])["url"].to_pylist())


def _check_outcomes(crawl: Crawl, urls: list[str]) -> None:
    """After the rest of the cycle, the lake has one observation of each planned URL, and it is a success."""
    crawl.finish()
    found = crawl.ask("SELECT url, outcome FROM observation")
    assert sorted(found) == sorted((url, "ok") for url in urls)
    assert crawl.ask("SELECT * FROM politeness_audit") == []


def _check_delays(server: WebServer) -> None:
    for host, found in gaps(server.log).items():
        for gap, earlier, later in found:
            assert gap >= DELAYS.get(host, DELAY_SECONDS), (host, gap, earlier, later)
