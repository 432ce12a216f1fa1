"""A scheduled run and the backfill of a missed cycle on one lake at the same time, each in a process of its own."""

from collections import Counter
from pathlib import Path

import pytest

from tests.crawl import plain_web
from tests.crawl.driver import Crawl, write_settings
from tests.crawl.plain_web import Task
from tests.crawl.server import WebServer, gaps

DELAY_SECONDS = 0.05
HOSTS, PAGES = 16, 25

pytestmark = pytest.mark.slow


def test_a_backfill_beside_the_daily_run_asks_no_host_twice_at_once_and_no_url_twice(tmp_path: Path) -> None:
    names = plain_web.hosts(HOSTS)
    with WebServer(plain_web.respond) as server:
        urls = plain_web.urls(names, PAGES, server.suffix)
        settings = write_settings(
            tmp_path,
            {
                "crawl": {"user_agent": plain_web.PRODUCT},
                "lake": {"buckets": 4},
                "fetch": {"resolve": dict.fromkeys(names, server.address), "allow_private": ["127.0.0.0/8"]},
                "politeness": {"delay_seconds": DELAY_SECONDS, "delay_factor": 0.0, "address_delay_seconds": 0.0},
            },
        )
        crawl = Crawl(settings, urls)
        missed = crawl.cycle
        crawl.next_day()
        crawl.next_day()
        today = crawl.cycle
        with Task("cycle", settings, today) as daily, Task("cycle", settings, missed) as backfill:
            for task in (daily, backfill):
                code, errors = task.end(timeout=120)
                assert code == 0, errors

        pages = [entry for entry in server.log if entry.target != "/robots.txt"]
        asked = Counter(f"http://{entry.host}{server.suffix}{entry.target}" for entry in pages)
        assert asked == Counter(urls)
        for host, found in gaps(server.log).items():
            for gap, earlier, later in found:
                assert gap >= DELAY_SECONDS, (host, gap, earlier, later)

        observed = crawl.ask("SELECT url, outcome FROM observation ORDER BY url")
        assert observed == sorted((url, "ok") for url in urls)
        late = crawl.ask("SELECT DISTINCT cycle, late FROM observation ORDER BY cycle")
        assert late == [(missed.day, True), (today.day, False)], "both runs fetched something, only the missed one late"
        assert crawl.ask("SELECT * FROM politeness_audit") == []
