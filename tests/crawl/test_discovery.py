"""Fetches that follow what they find at once, under kills, beside each other and at the end of a budget."""

import os
import random
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from crawler.stages import fetch
from crawler.store import query
from tests.crawl import plain_web
from tests.crawl.driver import NO_DELAYS, Crawl, write_settings
from tests.crawl.plain_web import Task
from tests.crawl.server import Request, Response, WebServer, gaps

HOSTS = plain_web.hosts(4)
PAGES = 20  # of each host, a binary tree: page n leads to 2n + 1 and 2n + 2, and to the same page of the next host
DELAY_SECONDS = 0.05
KILLS = 4

pytestmark = pytest.mark.slow


def respond(request: Request) -> Response:
    if request.target == "/robots.txt":
        return plain_web.ROBOTS
    number = int(request.target.removeprefix("/page-").translate(str.maketrans("abcdefghij", "0123456789")))
    port = request.headers["host"].partition(":")[2]
    next_host = HOSTS[(HOSTS.index(request.host) + 1) % len(HOSTS)]
    near = [path(child) for child in (2 * number + 1, 2 * number + 2) if child < PAGES]
    links = [*near, f"http://{next_host}:{port}{path(number)}"]
    anchors = "".join(f"<a href='{link}'>on</a>" for link in links)
    body = f"<title>t</title><p>{request.target.replace('-', ' ')} of {request.host}</p>{anchors}"
    return Response(200, (("Content-Type", "text/html"),), body.encode())


def path(number: int) -> str:
    """The path of a page, without digits: pages that differ in them only are alike."""
    return "/page-" + str(number).translate(str.maketrans("0123456789", "abcdefghij"))


def all_urls(server: WebServer) -> set[str]:
    return {f"http://{host}{server.suffix}{path(number)}" for host in HOSTS for number in range(PAGES)}


def crawl_of(folder: Path, server: WebServer, *, buckets: int = 1, **sections: dict[str, Any]) -> Crawl:
    """A crawl that has the first page of the first host for its seed."""
    tables = {
        "crawl": {"user_agent": plain_web.PRODUCT},
        "lake": {"buckets": buckets},
        "scope": {"hosts": HOSTS},
        "fetch": {
            "resolve": dict.fromkeys(HOSTS, server.address),
            "allow_private": ["127.0.0.0/8"],
            "segment_pages": 10,
            "segment_seconds": 0.3,
            "parse_workers": 0,
        },
        "politeness": NO_DELAYS | {"delay_seconds": DELAY_SECONDS},
        "plan": {"min_interval_days": 300},
    }
    for name, keys in sections.items():
        tables[name] = {**tables.get(name, {}), **keys}
    return Crawl(write_settings(folder, tables), [f"http://{HOSTS[0]}{server.suffix}{path(0)}"])


def asked(server: WebServer, start: int = 0) -> Counter[str]:
    entries = [entry for entry in server.log[start:] if entry.target != "/robots.txt"]
    return Counter(f"http://{entry.host}{server.suffix}{entry.target}" for entry in entries)


def test_a_fetch_that_is_killed_again_and_again_asks_for_nothing_twice_that_it_wrote_down(tmp_path: Path) -> None:
    """What it had found and not fetched is left to merge, so that all is known, and fetched once, in the end."""
    moments = random.Random(20261201)
    with WebServer(respond) as server:
        crawl = crawl_of(tmp_path, server)
        for _ in range(KILLS):
            crawl.plan()
            before = {url for (url,) in _observed(crawl)}
            start = len(server.log)
            with Task("fetch", tmp_path / "recrawl.toml", crawl.day, 0) as task:
                while len(server.log) == start and task.process.poll() is None:
                    time.sleep(0.002)
                time.sleep(moments.uniform(0.1, 0.5))
                os.kill(task.pid, signal.SIGKILL)
                task.process.wait()
            assert not set(asked(server, start)) & before
        for _ in range(9):
            if set(asked(server)) == all_urls(server):
                break
            before = {url for (url,) in _observed(crawl)}
            start = len(server.log)
            crawl.run()
            assert not set(asked(server, start)) & before
            assert max(asked(server, start).values(), default=1) == 1
            crawl.next_day()
        assert {url for (url,) in crawl.ask("SELECT url FROM page WHERE outcome = 'ok'")} == all_urls(server)
        assert crawl.ask("SELECT url FROM observation GROUP BY url HAVING count(*) > 1") == []
        assert crawl.ask("SELECT count(*) > 0 FROM observation WHERE discovered IS NOT NULL") == [(True,)]
        assert crawl.ask("SELECT * FROM politeness_audit") == []


def test_a_daily_run_and_a_backfill_that_both_follow_links_fetch_no_url_twice(tmp_path: Path) -> None:
    with WebServer(respond) as server:
        crawl = crawl_of(tmp_path, server, buckets=2)
        missed = crawl.cycle
        crawl.next_day()
        settings = tmp_path / "recrawl.toml"
        with Task("cycle", settings, crawl.cycle) as daily, Task("cycle", settings, missed) as backfill:
            for task in (daily, backfill):
                code, errors = task.end(timeout=120)
                assert code == 0, errors
        for _ in range(12):
            if set(asked(server)) == all_urls(server):
                break
            crawl.next_day()
            crawl.run()
        assert asked(server) == Counter(all_urls(server))
        for host, found in gaps(server.log).items():
            for gap, earlier, later in found:
                assert gap >= DELAY_SECONDS, (host, gap, earlier, later)
        assert crawl.ask("SELECT count(*) FROM page") == [(len(HOSTS) * PAGES,)]
        assert crawl.ask("SELECT * FROM politeness_audit") == []


@pytest.mark.parametrize(
    ("sections", "most"),
    [
        ({"plan": {"budget_urls": 25}}, 25),
        ({"plan": {"budget_urls": 25, "max_urls_per_host": 4}}, 4 * len(HOSTS)),
        ({"fetch": {"discover_urls": 7}}, 8),
    ],
)
def test_a_cycle_fetches_no_more_than_its_budget_its_hosts_caps_and_its_limit_allow(
    sections: dict[str, dict[str, Any]], most: int, tmp_path: Path
) -> None:
    with WebServer(respond) as server:
        crawl = crawl_of(tmp_path, server, **{**sections, "politeness": NO_DELAYS})
        crawl.plan()
        counts = fetch.run(crawl.lake, crawl.cycle, 0)
        assert counts["observed"] + counts["discovered"] == most == len(asked(server))
        assert fetch.run(crawl.lake, crawl.cycle, 0)["discovered"] == 0, "nor when it is asked once more"
        crawl.finish()
        ((room, taken),) = crawl.ask("SELECT room, taken FROM discovery")
        assert taken == most - 1 <= room, "no room was taken for what its host may not be asked for"
        (told,) = crawl.ask("SELECT planned, observed, discovered, open FROM cycle")
        assert told == (1, most, most - 1, 0)
        ((known,),) = crawl.ask("SELECT count(*) FROM page")
        assert known > most or most == len(all_urls(server)), "what was found and not fetched is known"


def _observed(crawl: Crawl) -> list[tuple[str]]:
    """The URLs in the files of the log that count so far."""
    con = crawl.lake.connect()
    files = [
        path
        for bucket in range(crawl.lake.buckets)
        for path in crawl.lake.paths(
            crawl.lake.current("observation", "bucket", bucket, crawl.lake.written("bucket", bucket))
        )
    ]
    query.view_files(con, "observation_files", "observation", files)
    return con.execute("SELECT url FROM observation_files").fetchall()
