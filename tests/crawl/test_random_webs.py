"""300 random webs through the real stages and real HTTP, against a reference that shares no code with the product.

Many webs share a lake, since the stages' own time would otherwise be most of the test's.
"""

from collections import Counter
from pathlib import Path

import pytest

from crawler.store import seen
from tests.crawl.driver import FIRST_DAY, NO_DELAYS, Crawl, write_settings
from tests.crawl.reference import LONG_TEXT, Expected, reference_crawl
from tests.crawl.server import Entry, Request, Response, WebServer, gaps
from tests.crawl.webs import DENIED_BY_SCOPE, OUTSIDE_HOST, PRODUCT_TOKEN, Robots, Web, make_web

LAKES = ((0, 60, 1), (60, 120, 2), (180, 120, 1))  # first web, webs, buckets; those of the first lake are due daily
REST_DAYS = {"gone": 1}
DELAY_SECONDS = 0.06
CRAWL_DELAY_SECONDS = 0.25
ABSURD = 0.5  # false positives of the seen filter

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("first", "webs", "buckets"), LAKES)
def test_random_webs_are_fetched_as_a_breadth_first_search_says(
    first: int, webs: int, buckets: int, tmp_path: Path
) -> None:
    story = RandomWebs(
        tmp_path,
        buckets=buckets,
        min_interval_days=300 if first else 0.9,
        parse_workers=int(not first),  # each costs every fetch its start
    )
    with story.server as server:
        story.webs += [make_web(number, server.port) for number in range(first, first + webs)]
        story.crawl_and_compare(NO_DELAYS)


@pytest.mark.parametrize(("buckets", "false_positives"), [(1, 0.0001), (2, ABSURD)])
def test_what_is_found_and_fetched_at_once_is_what_the_search_finds_over_days(
    buckets: int, false_positives: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each URL once, whatever the filter takes for known. Without copies: it is a matter of days which is first."""
    is_absurd = false_positives == ABSURD
    if is_absurd:
        monkeypatch.setattr(seen, "LEAST_ROOM", 20)  # overfull as well
    story = RandomWebs(
        tmp_path,
        buckets=buckets,
        min_interval_days=300,
        parse_workers=buckets - 1,
        discover_urls=10_000,
        false_positives=false_positives,
    )
    with story.server as server:
        story.webs += [make_web(number, server.port, has_copies=False) for number in range(2000, 2020)]
        expected = reference_crawl(story.webs)
        crawl = story.crawl(NO_DELAYS)
        for day in range(len(expected.cycles) + 1):
            start = len(server.log)
            crawl.run()
            asked = story.asked(server.log[start:])
            assert not set(asked) & set(story.asked_on)
            assert max(asked.values(), default=1) == 1
            story.asked_on |= dict.fromkeys(asked, day)
            crawl.next_day()
        assert set(story.asked_on) == {url for url, what in expected.outcomes.items() if what != "denied_by_robots"}
        check_lake(crawl, expected, story.seeds)
        told = crawl.ask("SELECT url FROM observation WHERE cycle = ? AND discovered IS NOT NULL", FIRST_DAY)
        ((wrong,),) = crawl.ask("SELECT sum(wrongly_seen) FROM discovery")
        if is_absurd:
            assert told
            assert wrong
        else:
            assert len(told) > len(expected.cycles[1]), "the first day reaches deeper than to its links"
            assert wrong == 0


@pytest.mark.parametrize("buckets", [1, 2])
def test_the_delay_of_every_host_is_kept(buckets: int, tmp_path: Path) -> None:
    """Two hosts of each web ask for a Crawl-delay, the others get the general one; some pages take time to answer."""
    story = RandomWebs(tmp_path, buckets=buckets, min_interval_days=300)
    delays: dict[str, float] = {}
    with story.server as server:
        for number in range(1000 + buckets, 1010 + buckets, 2):
            web = make_web(number, server.port, wait_seconds=0.05)
            story.webs.append(web)
            delays |= dict.fromkeys(web.hosts, DELAY_SECONDS)
            for host in web.hosts[:2]:
                delays[host] = CRAWL_DELAY_SECONDS
                web.robots[host] = _with_crawl_delay(web.robots[host])
        story.crawl_and_compare({**NO_DELAYS, "delay_seconds": DELAY_SECONDS})
    for host, found in gaps(server.log).items():
        for gap, earlier, later in found:
            assert gap >= delays[host], (host, gap, delays[host], earlier, later)


class RandomWebs:
    """Some webs on one server, and their crawl in one lake."""

    def __init__(
        self,
        folder: Path,
        *,
        buckets: int,
        min_interval_days: float,
        parse_workers: int = 1,
        discover_urls: int = 0,
        false_positives: float = 0.001,
    ) -> None:
        self.folder = folder
        self.buckets = buckets
        self.min_interval_days = min_interval_days
        self.parse_workers = parse_workers
        self.discover_urls = discover_urls
        self.false_positives = false_positives
        self.webs: list[Web] = []
        self.server = WebServer(self.respond)
        self.asked_on: dict[str, int] = {}

    def respond(self, request: Request) -> Response:
        web = self.web_of(request.host)
        return web.respond(request) if web else Response(404)

    def web_of(self, host: str) -> Web | None:
        return next((web for web in self.webs if host in web.hosts), None)

    def crawl_and_compare(self, politeness: dict[str, float]) -> None:
        """Crawl until nothing is new; each cycle and the lake at the end are what the reference says."""
        expected = reference_crawl(self.webs)
        crawl = self.crawl(politeness)
        for day, new in enumerate([*expected.cycles, {}]):
            start = len(self.server.log)
            crawl.run()
            self._check_requests(day, self.asked(self.server.log[start:]), new, expected)
            crawl.next_day()
        check_lake(crawl, expected, self.seeds)

    def crawl(self, politeness: dict[str, float]) -> Crawl:
        """The crawl of the webs, with their seeds."""
        return Crawl(self._settings(politeness), [seed for web in self.webs for seed in web.seeds])

    @property
    def seeds(self) -> set[str]:
        """The canonical URLs of the seeds."""
        return {web.url(web.pages[number]) for web in self.webs for number in web.seed_pages}

    def _settings(self, politeness: dict[str, float]) -> Path:
        hosts = [host for web in self.webs for host in web.hosts]
        resolve = dict.fromkeys([*hosts, OUTSIDE_HOST], self.server.address)
        return write_settings(
            self.folder,
            {
                "crawl": {"user_agent": f"{PRODUCT_TOKEN}/1.0 (+http://bot.test/)"},
                "lake": {"buckets": self.buckets, "seen_false_positive_rate": self.false_positives},
                "scope": {"hosts": hosts, "rules": [{"deny": DENIED_BY_SCOPE}]},
                "fetch": {
                    "resolve": resolve,
                    "allow_private": ["127.0.0.0/8"],
                    "audit_share": 0.0,
                    "parse_workers": self.parse_workers,
                    "discover_urls": self.discover_urls,
                },
                "politeness": politeness,
                "plan": {"min_interval_days": self.min_interval_days},
                "sitemaps": {"interval_days": self.min_interval_days},
                "copies": {"min_text_bytes": LONG_TEXT},
            },
        )

    def asked(self, log: list[Entry]) -> Counter[str]:
        """How often each page was asked for. Every other request than for a page or robots.txt is a failure."""
        asked: Counter[str] = Counter()
        for entry in log:
            if entry.target.startswith("/robots"):
                continue
            web = self.web_of(entry.host)
            assert web, f"no page links to {entry.host}"
            page = web.find(entry.host, entry.target)
            assert page, f"no page links to {entry.target} of {entry.host}"
            asked[web.url(page)] += 1
        return asked

    def _check_requests(self, day: int, asked: Counter[str], new: dict[str, str], expected: Expected) -> None:
        """The cycle asked for exactly its new pages, and again only for what is due; for each once."""
        assert {url for url, times in asked.items() if times > 1} == set(), f"cycle {day}: asked twice"
        again = {url for url in asked if url in self.asked_on}
        want = {url for url, outcome in new.items() if outcome != "denied_by_robots"}
        assert set(asked) - again == want, f"cycle {day}"
        for url in again:
            days = day - self.asked_on[url]
            assert days >= max(self.min_interval_days, REST_DAYS.get(expected.outcomes[url], 0)), f"cycle {day}: {url}"
        self.asked_on.update(dict.fromkeys(asked, day))


def check_lake(crawl: Crawl, expected: Expected, seeds: set[str]) -> None:
    """The lake knows the outcome of each URL and no other URL, and keeps one body per distinct content."""
    found = crawl.ask("SELECT url, outcome FROM page")
    known = dict.fromkeys(seeds) | expected.outcomes  # a seed out of scope is known, and never asked for
    assert {url: "ok" if outcome == "not_modified" else outcome for url, outcome in found} == known
    assert len(found) == len(known)
    copies = crawl.ask("SELECT url FROM page WHERE duplicate_of IS NOT NULL")
    assert {url for (url,) in copies} == expected.copies
    bodies = Counter(bytes(body) for (body,) in crawl.ask("SELECT body FROM capture_log"))
    assert bodies == Counter(expected.contents)
    assert crawl.ask("SELECT * FROM politeness_audit") == []


def _with_crawl_delay(robots: Robots) -> Robots:
    """The same rules in a file that asks for a Crawl-delay."""
    lines = [f"{'Allow' if allow else 'Disallow'}: {pattern}" for allow, pattern in robots.rules]
    body = "\n".join(["User-agent: *", f"Crawl-delay: {CRAWL_DELAY_SECONDS}", *lines]).encode()
    return Robots({"/robots.txt": Response(200, (("Content-Type", "text/plain"),), body)}, robots.rules)
