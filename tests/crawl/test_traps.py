"""The demo web's traps are stopped within their limits, however many days pass, and its archive is crawled whole."""

import json
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from crawler.core.clock import SimulatedClock
from crawler.demo.hosts import DOMAIN, Role
from crawler.demo.run import settings_text
from crawler.demo.traps import FETCH_LIMITS, archive_paths, is_trapped
from crawler.demo.web import DemoWeb
from tests.crawl.driver import FIRST_DAY, NO_DELAYS, Crawl, at, write_settings

pytestmark = pytest.mark.slow

ARCHIVE_PAGES = 2000
DEMO = tomllib.loads(settings_text({}))["traps"]


@dataclass
class Trapped:
    """A crawl of some hosts of the demo web, and the log of what the web was asked for."""

    crawl: Crawl
    log: Path

    def pages(self) -> dict[Role, set[str]]:
        """By host the different paths that were asked for, but for robots.txt."""
        found: dict[Role, set[str]] = {role: set() for role in Role}
        for line in map(json.loads, self.log.read_text(encoding="utf-8").splitlines()):
            if line["path"] != "/robots.txt":
                found[Role(line["host"].removesuffix(f".{DOMAIN}"))].add(line["path"])
        return found

    def days(self, number: int) -> None:
        for _ in range(number):
            self.crawl.run()
            self.crawl.next_day()


@contextmanager
def crawling(folder: Path, *roles: Role, traps: Mapping[str, Any], archive: int = ARCHIVE_PAGES) -> Iterator[Trapped]:
    """The crawl of the hosts of those roles, and of no other."""
    SimulatedClock(folder / "clock.json").set(at(FIRST_DAY))
    web = DemoWeb(
        5, folder / "clock.json", hosts=28, pages=336, log_path=folder / "log", start=FIRST_DAY, one_address=True,
        archive=archive,
    )  # fmt: skip
    with web:
        tables = {
            "crawl": {"user_agent": "TestBot/1.0 (+http://bot.test/)"},
            "lake": {"buckets": 1},
            "scope": {"hosts": [f"{role}.{DOMAIN}" for role in roles]},
            "politeness": NO_DELAYS,
            "plan": {"min_interval_days": 30},
            "traps": dict(traps),
            "fetch": {"resolve": web.resolve, "allow_private": ["127.0.0.0/8"], "audit_share": 0.0, "parse_workers": 0},
        }
        seeds = [web.site.url(f"{role}.{DOMAIN}", "/") for role in roles]
        yield Trapped(Crawl(write_settings(folder, tables), seeds), folder / "log")


def test_every_trap_of_the_demo_is_stopped_within_its_limit_and_the_archive_is_crawled_whole(tmp_path: Path) -> None:
    with crawling(tmp_path, *FETCH_LIMITS, Role.ARCHIVE, traps=DEMO) as trapped:

        def fetched() -> dict[Role, int]:
            pages = trapped.pages()
            return {role: sum(is_trapped(role, path) for path in pages[role]) for role in FETCH_LIMITS}

        trapped.days(6)
        stopped = fetched()
        archive = trapped.pages()[Role.ARCHIVE]
        trapped.days(1)
        later = fetched()
        rules = trapped.crawl.ask(
            "SELECT split_part(host, '.', 1), list_sort(list(DISTINCT rule)) FROM rejected "
            "WHERE host IS NOT NULL AND urls > 0 GROUP BY host"
        )
        known, waiting = trapped.crawl.ask("SELECT count(*), count(*) FILTER (outcome IS NULL) FROM page")[0]
        shown = trapped.crawl.ask("SELECT DISTINCT host FROM rejected WHERE pattern LIKE '/read?item=&visit='")
    assert set(archive_paths(ARCHIVE_PAGES)) == archive
    assert all(0 < stopped[role] <= most for role, most in FETCH_LIMITS.items()), stopped
    assert later == stopped
    assert dict(rules) == {
        "calendar": ["traps.max_repeated_segments", "traps.max_urls_per_text"],
        "facets": ["traps.max_query_combinations"],
        "path-sessions": ["traps.max_urls_per_text"],
        "query-sessions": ["traps.max_urls_per_pattern"],
        "soft-404": ["traps.max_urls_per_text"],
    }
    assert known < 3 * ARCHIVE_PAGES, "a trap that is stopped makes no more URLs known"
    assert waiting < 500
    assert shown == [(f"{Role.QUERY_SESSIONS}.{DOMAIN}",)]
