"""A fetch task that is killed or stopped at random moments: nothing is lost, nothing is asked twice, delays hold.

`make soak` kills one fetch 200 times, at moments that are new each time; SOAK_SEED repeats those of an earlier run.
"""

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow.dataset
import pytest

from crawler.stages import fetch
from tests.crawl import plain_web
from tests.crawl.driver import FIRST_DAY, Crawl, write_settings
from tests.crawl.plain_web import CRAWL_DELAY_SECONDS, PATIENT_HOST, Task
from tests.crawl.server import Entry, WebServer, gaps

KILLS = int(os.environ.get("SOAK_KILLS", "20"))
SEED = int(os.environ.get("SOAK_SEED", "20261102"))
PAGES_PER_KILL = 4.5  # of each host, so that the fetch outlasts the kills
STOPS = 4
SEGMENT_PAGES = 25
DELAY_SECONDS = 0.1
HOSTS = plain_web.hosts(8)
# Delays longer than a new task takes to start, so that only what the last one wrote down can keep them.
SLOW_HOST, SLOW_SECONDS = "slow.plain.test", 3.0
DELAYS = {SLOW_HOST: SLOW_SECONDS, PATIENT_HOST: CRAWL_DELAY_SECONDS}

pytestmark = pytest.mark.slow


def test_a_fetch_killed_at_random_moments_completes_its_plan(tmp_path: Path) -> None:
    """Half of the moments count from the task's start, half from its first request; a tenth from its first segment."""
    moments = random.Random(SEED)
    print(f"{KILLS} kills, SOAK_SEED={SEED}")  # noqa: T201  shown when it fails
    with WebServer(plain_web.respond) as server:
        crawl, urls = _planned(
            tmp_path, server, {**dict.fromkeys(HOSTS, int(KILLS * PAGES_PER_KILL)), SLOW_HOST: 3, PATIENT_HOST: 3}
        )
        recorded: set[str] = set()
        for number in range(KILLS):
            start = len(server.log)
            with Task("fetch", tmp_path / "recrawl.toml", FIRST_DAY, 0) as task:
                if number % 2:
                    wait_until(lambda start=start: len(server.log) > start)
                if number % 10 == 9:  # else a busy machine may write down nothing at all
                    wait_until(lambda known=recorded: len(_recorded(tmp_path)) > len(known))
                time.sleep(moments.uniform(0, 0.8))
                _kill(task)
            asked = _asked(server, start)
            assert not set(asked) & recorded, "asked again although a segment has it"
            assert max(asked.values(), default=1) == 1
            recorded = _recorded(tmp_path)
            assert len(set(asked) - recorded) <= 2 * SEGMENT_PAGES + len(HOSTS), "lost more than since the last segment"
        assert 0 < len(recorded) < len(urls)
        start = len(server.log)
        with Task("fetch", tmp_path / "recrawl.toml", FIRST_DAY, 0) as task:
            code, errors = task.end(timeout=120)
            assert code == 0, errors
        assert set(_asked(server, start)) == set(urls) - recorded
        _check_outcomes(crawl, urls)
        _check_delays(server.log)


def test_a_crawl_delay_learnt_by_a_killed_task_is_kept_by_the_next(tmp_path: Path) -> None:
    with WebServer(plain_web.respond) as server:
        crawl, urls = _planned(tmp_path, server, {PATIENT_HOST: 2}, segment_seconds=60)
        with Task("fetch", tmp_path / "recrawl.toml", FIRST_DAY, 0) as task:
            wait_until(lambda: bool(_asked(server, 0)))
            _kill(task)
        with Task("fetch", tmp_path / "recrawl.toml", FIRST_DAY, 0) as task:
            code, errors = task.end(timeout=120)
            assert code == 0, errors
        for gap, earlier, later in gaps(server.log)[PATIENT_HOST]:
            assert gap >= CRAWL_DELAY_SECONDS, (gap, earlier, later)
        _check_outcomes(crawl, urls)


def test_a_fetch_told_to_stop_and_started_again_keeps_the_delays(tmp_path: Path) -> None:
    with WebServer(plain_web.respond) as server:
        crawl, urls = _planned(tmp_path, server, {HOSTS[0]: 30, SLOW_HOST: 1, PATIENT_HOST: 1})
        counts = fetch.run(crawl.lake, crawl.cycle, 0, stop=lambda: len(server.log) >= 6)
        assert 0 < counts["open"] < len(urls)
        assert fetch.run(crawl.lake, crawl.cycle, 0)["open"] == 0
        assert _asked(server, 0) == Counter(urls)
        _check_outcomes(crawl, urls)
        _check_delays(server.log)


def test_a_stopped_fetch_keeps_its_bucket_and_completes_when_it_goes_on(tmp_path: Path) -> None:
    moments = random.Random(20261103)
    settings = tmp_path / "recrawl.toml"
    with WebServer(plain_web.respond) as server:
        pages = {**dict.fromkeys(HOSTS, 30), SLOW_HOST: 2, PATIENT_HOST: 2}
        crawl, urls = _planned(tmp_path, server, pages, total_seconds=30)
        with Task("fetch", settings, FIRST_DAY, 0) as task:
            for _ in range(STOPS):
                time.sleep(moments.uniform(0.2, 0.7))
                os.kill(task.pid, signal.SIGSTOP)
                with Task("fetch", settings, FIRST_DAY, 0) as taker:
                    asked = len(server.log)  # by now the server has read what was on its way
                    code, errors = taker.end(timeout=60)
                assert code == 3
                assert f"pid {task.pid} " in errors
                assert len(server.log) == asked
                os.kill(task.pid, signal.SIGCONT)
            code, errors = task.end(timeout=120)
            assert code == 0, errors
        assert _asked(server, 0) == Counter(urls)
        _check_outcomes(crawl, urls)
        _check_delays(server.log)


def _planned(
    folder: Path,
    server: WebServer,
    pages: dict[str, int],
    *,
    total_seconds: float = 5,
    segment_seconds: float = 0.5,
) -> tuple[Crawl, list[str]]:
    """A lake of one bucket whose first cycle plans `pages` of each host; their URLs."""
    urls = [url for host, count in pages.items() for url in plain_web.urls([host], count, server.suffix)]
    tables = {
        "crawl": {"user_agent": plain_web.PRODUCT},
        "lake": {"buckets": 1},
        "fetch": {
            "resolve": dict.fromkeys(pages, server.address),
            "allow_private": ["127.0.0.0/8"],
            "total_seconds": total_seconds,
            "segment_pages": SEGMENT_PAGES,
            "segment_seconds": segment_seconds,
        },
        "politeness": {"delay_seconds": DELAY_SECONDS, "delay_factor": 0.0, "address_delay_seconds": 0.0},
        "host": {SLOW_HOST: {"delay_seconds": SLOW_SECONDS}},
    }
    crawl = Crawl(write_settings(folder, tables), urls)
    crawl.plan()
    return crawl, urls


def _kill(task: Task) -> None:
    os.kill(task.pid, signal.SIGKILL)
    task.process.wait()


def wait_until(is_so: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.002)


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


def _check_delays(log: list[Entry]) -> None:
    """Every request kept its host's delay; a Crawl-delay binds from when its robots.txt was read and written down."""
    for host, found in gaps(log).items():
        for gap, earlier, later in found:
            unknown = host == PATIENT_HOST and later.target == "/robots.txt"
            owed = DELAY_SECONDS if unknown else DELAYS.get(host, DELAY_SECONDS)
            assert gap >= owed, (host, gap, earlier, later)
