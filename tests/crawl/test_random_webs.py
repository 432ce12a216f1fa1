"""300 random webs through the real stages and real HTTP, against a reference that shares no code with the product."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.crawl.driver import NO_DELAYS, Crawl, write_settings
from tests.crawl.reference import LONG_TEXT, Expected, reference_crawl
from tests.crawl.server import Entry, Request, Response, WebServer, gaps
from tests.crawl.webs import DENIED_BY_SCOPE, OUTSIDE_HOST, PRODUCT_TOKEN, Web, make_web

WEBS = 300
CHUNKS = 30
REST_DAYS = {"gone": 1, "server_error": 0}
DELAY_SECONDS = 0.06
CRAWL_DELAY_SECONDS = 0.25


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_random_web_is_fetched_like_a_breadth_first_search_of_it(chunk: int, tmp_path: Path) -> None:
    for number in range(chunk, WEBS, CHUNKS):
        folder = tmp_path / str(number)
        folder.mkdir()
        _crawl_and_compare(number, folder)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1000, 1010))
def test_the_delay_of_every_host_is_kept(number: int, tmp_path: Path) -> None:
    """Two hosts of the web have a Crawl-delay, the others the general delay; some pages take time to answer."""
    delays: dict[str, float] = {}

    def prepare(web: Web) -> None:
        for n, host in enumerate(web.hosts):
            delays[host] = CRAWL_DELAY_SECONDS if n < 2 else DELAY_SECONDS
            if n < 2:
                _add_crawl_delay(web, host)

    politeness = {"delay_seconds": DELAY_SECONDS, "delay_factor": 0.0, "address_delay_seconds": 0.0}
    log = _crawl_and_compare(number, tmp_path, politeness=politeness, prepare=prepare, wait_seconds=0.05)
    for host, found in gaps(log).items():
        for gap, earlier, later in found:
            assert gap >= delays[host], (host, gap, delays[host], earlier, later)


def _crawl_and_compare(
    number: int,
    folder: Path,
    *,
    politeness: dict[str, float] = NO_DELAYS,
    prepare: Callable[[Web], None] = lambda _web: None,
    wait_seconds: float = 0.0,
) -> list[Entry]:
    """Crawl web `number` until nothing is new; check each cycle against the reference. Returns the server's log."""
    webs: list[Web] = []
    with WebServer(lambda request: _respond(webs, request)) as server:
        web = make_web(number, server.port, wait_seconds=wait_seconds)
        prepare(web)
        webs.append(web)
        expected = reference_crawl(web)
        crawl = Crawl(_settings(folder, web, server, politeness), web.seeds)
        asked_on: dict[int, list[int]] = {}
        for day in range(len(expected.cycles) + 1):
            start = len(server.log)
            crawl.run()
            asked = _pages_asked(web, server.log[start:])
            new = expected.cycles[day] if day < len(expected.cycles) else {}
            _check_requests(web, day, asked, new, asked_on, expected)
            crawl.next_day()
        _check_lake(web, crawl, expected)
        return list(server.log)


def _settings(folder: Path, web: Web, server: WebServer, politeness: dict[str, float]) -> Path:
    hosts = [*web.hosts, OUTSIDE_HOST]
    return write_settings(
        folder,
        {
            "crawl": {"user_agent": f"{PRODUCT_TOKEN}/1.0 (+http://bot.test/)"},
            "lake": {"buckets": 1 + web.number % 2},
            "scope": {"hosts": web.hosts, "rules": [{"deny": DENIED_BY_SCOPE}]},
            "fetch": {"resolve": dict.fromkeys(hosts, server.address), "allow_private": ["127.0.0.0/8"]},
            "politeness": politeness,
            "plan": {"min_interval_days": 0.9 if web.number % 10 == 0 else 300},
            "copies": {"min_text_bytes": LONG_TEXT},
        },
    )


def _respond(webs: list[Web], request: Request) -> Response:
    for web in webs:
        if request.host in web.hosts:
            return web.respond(request)
    return Response(404)


def _pages_asked(web: Web, log: list[Entry]) -> Counter[int]:
    """How often each page was asked for. Every other request than for a page or robots.txt is a failure."""
    asked: Counter[int] = Counter()
    for entry in log:
        if entry.target.startswith("/robots"):
            continue
        page = web.find(entry.host, entry.target)
        assert page is not None, f"web {web.number}: nobody links to {entry.target} of {entry.host}"
        asked[page.number] += 1
    return asked


def _check_requests(
    web: Web,
    day: int,
    asked: Counter[int],
    new: dict[int, str],
    asked_on: dict[int, list[int]],
    expected: Expected,
) -> None:
    """The cycle asked for exactly its new pages, and again only for what is due."""
    names = {number: web.url(web.pages[number]) for number in (*asked, *new)}
    twice = [names[number] for number, times in asked.items() if times > 1]
    assert not twice, f"web {web.number}, cycle {day}: asked twice in one cycle: {twice}"
    want = {number for number, outcome in new.items() if outcome != "denied_by_robots"}
    fresh = {number for number in asked if number not in asked_on}
    assert {names[n] for n in fresh} == {names[n] for n in want}, f"web {web.number}, cycle {day}"
    for number in set(asked) - fresh:
        rest = 0.9 if web.number % 10 == 0 else 300
        rest = max(rest, REST_DAYS.get(expected.outcomes[number], 0))
        days = day - asked_on[number][-1]
        assert days >= rest, f"web {web.number}, cycle {day}: {names[number]} again after {days} days"
    for number in asked:
        asked_on.setdefault(number, []).append(day)


def _check_lake(web: Web, crawl: Crawl, expected: Expected) -> None:
    """The lake knows the outcome of each URL, and keeps one body per distinct content."""
    found = dict(crawl.ask("SELECT url, outcome FROM page WHERE outcome IS NOT NULL"))
    want = {web.url(web.pages[number]): outcome for number, outcome in expected.outcomes.items()}
    stored = {"ok": "ok", "not_modified": "ok"}
    assert {url: stored.get(outcome, outcome) for url, outcome in found.items()} == want, f"web {web.number}"
    bodies = [bytes(body) for (body,) in crawl.ask("SELECT body FROM capture")]
    assert Counter(bodies) == Counter(expected.contents), f"web {web.number}: stored bodies"
    known = {url for (url,) in crawl.ask("SELECT url FROM page")}
    assert known == set(want), f"web {web.number}: known URLs"
    assert crawl.ask("SELECT * FROM politeness_audit") == []


def _add_crawl_delay(web: Web, host: str) -> None:
    """Give the host rules that hold a Crawl-delay."""
    old = web.robots[host]
    lines = [f"{'Allow' if allow else 'Disallow'}: {pattern}" for allow, pattern in old.rules]
    body = "\n".join(["User-agent: *", f"Crawl-delay: {CRAWL_DELAY_SECONDS}", *lines]).encode()
    web.robots[host] = type(old)({"/robots.txt": Response(200, (("Content-Type", "text/plain"),), body)}, old.rules)
