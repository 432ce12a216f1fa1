"""The served demo web: size, reach, conditional requests, faults, traps, log, process."""

import gzip
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from html.parser import HTMLParser
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest
from protego import Protego

from crawler.core.clock import SimulatedClock
from crawler.demo.hosts import DOMAIN, ENDLESS, Role
from crawler.demo.traps import archive_paths, is_trapped
from crawler.demo.truth import Truth
from crawler.demo.web import DemoWeb, main
from tests.demo.conftest import START, Browser, Served

TRAP = re.compile(r"/(calendar|maze)/")
ENDLESS_HOSTS = {f"{role}.{DOMAIN}" for role in ENDLESS}


class Anchors(HTMLParser):
    """The links that a polite crawler follows, and the words of the main text."""

    def __init__(self, body: bytes, url: str) -> None:
        super().__init__()
        self.base = url
        self.hrefs: list[str] = []
        self.text: list[str] = []
        self.is_nofollow = self.is_noindex = False
        self.feed(body.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "base":
            self.base = urljoin(self.base, given["href"])
        elif tag == "meta" and given.get("name") == "robots":
            self.is_nofollow |= "nofollow" in given["content"]
            self.is_noindex |= "noindex" in given["content"]
        elif tag == "a" and given.get("rel") != "nofollow":
            self.hrefs.append(urljoin(self.base, given["href"].strip()))

    def handle_data(self, data: str) -> None:
        self.text += data.split()

    @property
    def followed(self) -> list[str]:
        return [] if self.is_nofollow else [plain(href) for href in self.hrefs if href.startswith("http")]


def plain(url: str) -> str:
    """The one spelling of a URL of the demo web, written without the demo's own code."""
    parts = urlsplit(urldefrag(url).url)
    query = "&".join(p for p in parts.query.split("&") if p and not p.startswith(("PHPSESSID=", "utm_")))
    path = unquote(parts.path or "/").replace("/./", "/")
    return f"http://{parts.netloc.lower()}{path}" + (f"?{query}" if query else "")


@dataclass
class Crawl:
    statuses: dict[str, int] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    words: dict[str, int] = field(default_factory=dict)
    denied: set[str] = field(default_factory=set)
    depths: dict[str, int] = field(default_factory=dict)

    def pages(self) -> set[str]:
        return {url for url, status in self.statuses.items() if status == 200 and "html" in self.types[url]}


@pytest.fixture(scope="module")
def crawl(served: Served) -> Crawl:
    """Breadth first from the seeds over allowed links, traps left out."""
    found = Crawl()
    rules: dict[str, Protego | None] = {}
    queue = deque((url, 0) for url in served.web.seeds)
    while queue:
        url, depth = queue.popleft()
        host = urlsplit(url).hostname or ""
        if url in found.depths or host not in served.web.resolve or host in ENDLESS_HOSTS or TRAP.search(url):
            continue
        found.depths[url] = depth
        if host not in rules:
            robots = served.browser.get(f"http://{host}:{served.web.port}/robots.txt")
            rules[host] = None if robots.status == 503 else Protego.parse(robots.body.decode() * (robots.status == 200))
        rule = rules[host]
        if rule is None or not rule.can_fetch(url, "anybot"):
            found.denied.add(url)
            continue
        reply = served.browser.get(url)
        found.statuses[url] = reply.status
        found.types[url] = reply.headers.get("content-type", "")
        if reply.status in (301, 302, 307, 308):
            queue.append((plain(urljoin(url, reply.headers["location"])), depth + 1))
        elif url in found.pages():
            page = Anchors(reply.body, url)
            found.words[url] = len(page.text)
            queue.extend((target, depth + 1) for target in page.followed)
    return found


def test_a_web_of_the_usual_size_has_sixty_hosts_and_three_thousand_pages(served: Served) -> None:
    assert len(served.web.resolve) >= 60
    assert len(served.truth.urls(START)) >= 3000


def test_links_from_the_seeds_reach_every_page_that_exists_and_is_allowed_and_no_other(
    served: Served, crawl: Crawl
) -> None:
    failing = {url for url, status in crawl.statuses.items() if status == 500}
    expected = set(served.truth.urls(served.clock.now()))
    assert crawl.pages() | failing == expected
    assert len(expected) >= 3000
    assert failing
    assert all(served.truth.status_at(url, served.clock.now()) == crawl.statuses[url] for url in expected)


def test_no_page_is_more_than_five_links_away(crawl: Crawl) -> None:
    assert max(crawl.depths[url] for url in crawl.pages()) <= 5


def test_the_truth_on_robots_agrees_with_a_parser(served: Served, crawl: Crawl) -> None:
    assert len(crawl.denied) > 50
    assert not any(served.truth.allowed(url) for url in crawl.denied)
    assert all(served.truth.allowed(url) for url in crawl.statuses)


def test_pages_have_from_100_to_800_words_and_differ_in_length(served: Served, crawl: Crawl) -> None:
    words = list(crawl.words.values())
    assert min(words) >= 100
    assert max(words) <= 800
    assert max(words) > 5 * min(words)


def test_a_crawl_meets_redirects_broken_links_ended_pages_and_a_picture(served: Served, crawl: Crawl) -> None:
    met = Counter(crawl.statuses.values())
    assert all(met[status] for status in (301, 302, 307, 308, 404, 410, 500)), met
    assert "image/png" in crawl.types.values()


def test_all_addresses_are_loopback_and_a_few_are_shared(served: Served) -> None:
    by_address = Counter(served.web.resolve.values())
    assert all(ip_address(address).is_loopback for address in by_address)
    assert sorted(count for count in by_address.values() if count > 1) == [2, 3, 4]


def test_a_host_is_served_at_its_own_address_only(served: Served) -> None:
    elsewhere = Browser({"hub.demo.test": served.web.resolve["slow.demo.test"]}, served.web.port)
    assert elsewhere.get(served.url("hub", "/")).status == 421
    elsewhere.close()


@pytest.mark.parametrize("kind", ["both", "etag", "modified", "none"])
def test_each_kind_of_host_confirms_by_the_validators_that_it_offers(served: Served, kind: str) -> None:
    host = next(
        h for h in served.web.site.hosts.values() if h.validators == kind and h.role == "ordinary" and h.temper == 0.3
    )
    page = next(p for p in served.web.site.articles[host.name] if p.per_day == 0 and p.is_lasting)
    url = served.web.site.url(host.name, page.path)
    first = served.browser.get(url)
    etag, modified = first.headers.get("etag"), first.headers.get("last-modified")
    assert (first.status, bool(etag), bool(modified)) == (200, kind in ("both", "etag"), kind in ("both", "modified"))

    for asked, confirms in (
        ({"If-None-Match": etag or '"some"'}, bool(etag)),
        ({"If-None-Match": f'"other", W/{etag or "x"}'}, bool(etag)),
        ({"If-None-Match": "*"}, bool(etag)),
        ({"If-None-Match": '"other"'}, False),
        ({"If-Modified-Since": modified or "Fri, 31 Dec 2027 00:00:00 GMT"}, bool(modified)),
        ({"If-Modified-Since": "Fri, 31 Dec 1999 00:00:00 GMT"}, False),
        ({"If-Modified-Since": "yesterday"}, False),
        ({"If-None-Match": '"other"', "If-Modified-Since": "Fri, 31 Dec 2027 00:00:00 GMT"}, False),
    ):
        reply = served.browser.get(url, asked)
        assert reply.status == (304 if confirms else 200), asked
        assert reply.body == (b"" if confirms else first.body)
        if confirms:
            assert (reply.headers.get("etag"), reply.headers.get("last-modified")) == (etag, modified)


def test_an_unchanged_copy_is_confirmed_until_the_very_second_of_the_next_change(served: Served) -> None:
    site, now = served.web.site, served.clock.now()
    page = next(p for p in site.articles["packed.demo.test"] if p.per_day >= 1 / 7)
    url = site.url(page.host, page.path)
    change = served.truth.changes(url, now, now + timedelta(days=400))[0]
    first = served.browser.get(url)
    validators = {"If-None-Match": first.headers["etag"], "If-Modified-Since": first.headers["last-modified"]}
    try:
        served.clock.set(change - timedelta(seconds=30))
        assert served.browser.get(url, validators).status == 304
        served.clock.set(change)
        later = served.browser.get(url, validators)
        assert later.status == 200
        assert later.headers["last-modified"] == change.strftime("%a, %d %b %Y %H:%M:%S GMT")
        assert later.body != first.body
    finally:
        served.clock.set(now)


def test_mirrors_are_equal_to_the_byte_and_other_pages_are_not(served: Served, crawl: Crawl) -> None:
    copies = [url for url in served.truth.urls() if served.truth.original(url) != url]
    assert {urlsplit(url).hostname for url in copies} == {
        "hub-mirror.demo.test", "press-mirror.demo.test", "press-copy.demo.test"
    }  # fmt: skip
    for url in copies:
        original = served.truth.original(url)
        assert original
        here, there = served.browser.get(url), served.browser.get(original)
        assert here.body == there.body
        assert here.headers.get("etag") == there.headers.get("etag")
    bodies = Counter(
        served.browser.get(url).body for url in served.truth.urls(served.clock.now())
        if served.truth.original(url) == url and served.truth.status_at(url, served.clock.now()) == 200
    )  # fmt: skip
    assert max(bodies.values()) == 1


def test_session_ids_are_new_in_each_response_and_change_nothing_else(served: Served) -> None:
    first, second = served.get("sessions", "/"), served.get("sessions", "/")
    ids = [set(re.findall(rb"PHPSESSID=([0-9a-f]{16})", reply.body)) for reply in (first, second)]
    assert len(ids[0]) == len(ids[1]) == 1
    assert ids[0] != ids[1]
    assert first.body.replace(ids[0].pop(), b"") == second.body.replace(ids[1].pop(), b"")
    link = next(href for href in Anchors(first.body, served.url("sessions", "/")).hrefs if "id=3" in href)
    assert Anchors(served.browser.get(link).body, link).text == Anchors(served.browser.get(plain(link)).body, link).text


def test_the_calendar_never_ends_and_says_the_same_everywhere(served: Served) -> None:
    url = next(
        h for h in Anchors(served.get("calendar", "/").body, served.url("calendar", "/")).hrefs if TRAP.search(h)
    )
    seen: set[str] = set()
    texts = set()
    queue = deque([url])
    while queue and len(seen) < 400:
        url = queue.popleft()
        if url not in seen:
            seen.add(url)
            page = Anchors(served.browser.get(url).body, url)
            texts.add(" ".join(page.text))
            queue.extend(page.followed)
    assert len(seen) == 400
    assert len(texts) == 1
    assert len(texts.pop()) > 256
    assert served.get("calendar", "/calendar/2026/13/").status == 404


def test_the_maze_repeats_one_segment_for_ever(served: Served) -> None:
    url = served.url("calendar", "/maze/")
    for _ in range(20):
        reply = served.browser.get(url)
        assert reply.status == 200
        url = Anchors(reply.body, url).followed[0]
    assert url.count("maze/") == 21


def walk(served: Served, role: Role, pages: int) -> dict[str, Anchors]:
    """The first pages of a host by their paths, breadth first from its front."""
    found: dict[str, Anchors] = {}
    queue = deque(["/"])
    while queue and len(found) < pages:
        path = queue.popleft()
        if path not in found:
            url = served.url(role, path)
            found[path] = Anchors(served.browser.get(url).body, url)
            queue.extend(href.split(":", 2)[2].partition("/")[2].join(("/", "")) for href in found[path].hrefs)
    return found


@pytest.mark.parametrize("role", [role for role in ENDLESS if role != Role.ARCHIVE])
def test_a_trap_host_has_ever_more_urls(served: Served, role: Role) -> None:
    pages = walk(served, role, 250)
    assert len(pages) == 250
    assert sum(is_trapped(role, path) for path in pages) >= 244
    assert not is_trapped(role, "/robots.txt")


def test_a_faceted_search_shows_other_goods_under_every_choice_and_sessions_show_the_same(served: Served) -> None:
    texts = {role: {" ".join(page.text) for page in walk(served, role, 100).values()} for role in ENDLESS}
    assert len(texts[Role.FACETS]) > 60  # some of a hundred links name their choices in another order only
    assert max(len(texts[role]) for role in (Role.PATH_SESSIONS, Role.QUERY_SESSIONS)) <= 5
    assert served.get(Role.SOFT_404, "/no/such/page").status == 200


def test_the_archive_is_whole_and_each_of_its_pages_has_a_text_of_its_own(served: Served) -> None:
    pages = walk(served, Role.ARCHIVE, 1000)
    assert set(pages) == set(archive_paths(served.web.site.plan.archive))
    assert len({" ".join(page.text) for page in pages.values()}) == len(pages)
    assert served.get(Role.ARCHIVE, "/archive/201").status == 404


def test_robots_files_show_every_case(served: Served) -> None:
    texts = {name: served.browser.get(f"http://{name}:{served.web.port}/robots.txt") for name in served.web.resolve}
    assert Counter(reply.status for reply in texts.values()) == {200: len(texts) - 2, 404: 1, 503: 1}
    assert b"Crawl-delay: 2\n" in texts["patient.demo.test"].body
    assert sum(b"Crawl-delay" in reply.body for reply in texts.values()) == 1
    assert served.truth.crawl_delays()["patient.demo.test"] == 2
    assert sum(b"Sitemap: " in reply.body for reply in texts.values()) > 10


def test_sitemaps_name_exactly_the_pages_that_exist(served: Served) -> None:
    existing = set(served.truth.urls(served.clock.now()))
    for host in ("leaving", "hub-mirror", "packed"):
        robots = served.get(host, "/robots.txt").body.decode()
        queue = re.findall(r"Sitemap: (\S+)", robots)
        named: set[str] = set()
        while queue:
            url = queue.pop()
            body = served.browser.get(url).body
            text = (gzip.decompress(body) if url.endswith(".gz") else body).decode()
            locations = re.findall("<loc>(.*?)</loc>", text)
            if "<sitemapindex" in text:
                queue += locations
            else:
                named.update(locations)
        assert named == {url for url in existing if urlsplit(url).hostname == f"{host}.demo.test"}


def test_a_born_page_appears_in_its_section_and_an_ended_one_answers_410(served: Served) -> None:
    now, site = served.clock.now(), served.web.site
    articles = site.articles["leaving.demo.test"]
    born = next(p for p in articles if p.born and p.born > now + timedelta(hours=1))
    ended = next(p for p in articles if p.ends and p.ends > now + timedelta(hours=1))
    assert born.born
    assert ended.ends
    try:
        assert served.get("leaving", born.path).status == 404
        assert born.path.encode() not in served.get("leaving", born.section).body
        served.clock.set(born.born)
        assert served.get("leaving", born.path).status == 200
        assert born.path[2:].encode() in served.get("leaving", born.section).body
        served.clock.set(ended.ends - timedelta(seconds=30))
        assert served.get("leaving", ended.path).status == 200
        served.clock.set(ended.ends)
        assert served.get("leaving", ended.path).status == 410
    finally:
        served.clock.set(now)


def test_directives_are_where_a_crawler_must_heed_them(served: Served) -> None:
    front = served.get("manners", "/").body
    assert b'href="/offers/today" rel="nofollow"' in front
    assert Anchors(served.get("manners", "/drafts/plan").body, "").is_noindex
    assert served.get("manners", "/drafts/notes").headers["x-robots-tag"] == "noindex, noarchive"
    assert Anchors(served.get("manners", "/partners/").body, "").is_nofollow
    assert served.get("manners", "/offers/tomorrow").status == 200
    assert not any("/offers/" in url for url in served.truth.urls())


def test_redirects_lead_where_the_truth_says(served: Served) -> None:
    for url, target in served.truth.redirects().items():
        assert plain(urljoin(url, served.browser.get(url).headers["location"])) == target
    moved = served.truth.redirects()
    chain = [served.url("moved", "/chain/1")]
    while chain[-1] in moved:
        chain.append(moved[chain[-1]])
    assert len(chain) == 4
    assert urlsplit(moved[served.url("moved", "/partner")]).hostname == "hub.demo.test"


def test_one_host_packs_its_pages_when_it_may(served: Served) -> None:
    bare, packed = served.get("packed", "/"), served.get("packed", "/", {"Accept-Encoding": "br, gzip"})
    assert "content-encoding" not in bare.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == bare.body
    assert packed.headers["etag"] == bare.headers["etag"]
    assert packed.headers["etag"].startswith("W/")


def test_a_slow_page_takes_half_a_second_and_holds_nobody_else_up(served: Served) -> None:
    slow = next(page for page in served.web.site.articles["slow.demo.test"] if page.seconds)
    before = len(served.log_lines())
    connection = http.client.HTTPConnection(served.web.resolve["slow.demo.test"], served.web.port)
    connection.request("GET", slow.path, headers={"Host": "slow.demo.test"})
    served.get("hub", "/")
    assert connection.getresponse().status == 200
    connection.close()
    lines = {(line["host"], line["path"]): line for line in _lines_after(served, before, 2)}
    held = lines["slow.demo.test", slow.path]
    other = lines["hub.demo.test", "/"]
    assert held["monotonic_end"] - held["monotonic_start"] >= 0.5
    assert other["monotonic_end"] < held["monotonic_end"] - 0.2


def test_the_log_tells_each_request_with_its_instants(served: Served) -> None:
    before = len(served.log_lines())
    earliest, at = served.clock.now(), time.monotonic()
    body = served.get("hub", "/", {"If-None-Match": '"none"'}).body
    until, latest = time.monotonic(), served.clock.now()
    (line,) = _lines_after(served, before, 1)
    assert line["host"] == "hub.demo.test"
    assert line["address"] == served.web.resolve["hub.demo.test"]
    assert (line["method"], line["path"], line["status"]) == ("GET", "/", 200)
    assert (line["bytes"], line["conditional"], line["complete"]) == (len(body), True, True)
    assert line["version"] == served.truth.version_at(served.url("hub", "/"), earliest)
    stamps = [line[f"monotonic_{name}"] for name in ("start", "last_write", "end")]
    assert stamps == sorted(stamps)
    assert at <= stamps[0] <= stamps[1] <= until
    instants = [datetime.fromisoformat(str(line[f"instant_{name}"])) for name in ("start", "end")]
    slack = timedelta(milliseconds=1)  # the clock file's offset is a decimal fraction
    assert earliest - slack <= instants[0] <= instants[1]
    assert instants[0] <= latest + slack
    assert re.fullmatch(r"....-..-..T..:..:..\.\d{6}\+00:00", str(line["instant_start"]))


def test_a_request_that_the_client_leaves_is_logged_as_incomplete(served: Served) -> None:
    before = len(served.log_lines())
    slow = next(page for page in served.web.site.articles["slow.demo.test"] if page.seconds)
    with socket.create_connection((served.web.resolve["slow.demo.test"], served.web.port)) as client:
        client.sendall(f"GET {slow.path} HTTP/1.1\r\nHost: slow.demo.test\r\n\r\n".encode())
    (line,) = _lines_after(served, before, 1)
    assert (line["path"], line["complete"]) == (slow.path, False)


def test_requests_sent_in_one_go_or_byte_by_byte_are_answered_in_order(served: Served) -> None:
    host = "hub.demo.test"
    asked = b"".join(
        f"{method} {path} HTTP/1.1\r\nHost: {host}:{served.web.port}\r\n{more}\r\n".encode()
        for method, path, more in (
            ("GET", "/robots.txt", ""), ("HEAD", "/", ""), ("POST", "/", ""), ("GET", "/no", "Connection: close\r\n"),
        )
    )  # fmt: skip
    for pieces in ([asked], [asked[i : i + 1] for i in range(len(asked))]):
        with socket.create_connection((served.web.resolve[host], served.web.port)) as client:
            for piece in pieces:
                client.sendall(piece)
            answer = b"".join(iter(lambda: client.recv(65536), b""))
        assert re.findall(rb"HTTP/1.1 (\d+)", answer) == [b"200", b"200", b"405", b"404"]


@pytest.mark.parametrize(
    ("sent", "status"), [(b"nonsense\r\n\r\n", b"400"), (b"GET / HTTP/1.1\r\n\r\n", b"400"), (b"x" * 40000, b"431")]
)
def test_what_cannot_be_read_is_refused_and_the_connection_closed(served: Served, sent: bytes, status: bytes) -> None:
    with socket.create_connection((served.web.resolve["hub.demo.test"], served.web.port)) as client:
        client.sendall(sent)
        assert b"".join(iter(lambda: client.recv(65536), b"")).split()[1] == status


def test_two_servers_of_one_plan_give_the_same_bytes(served: Served, tmp_path: Path) -> None:
    now = served.clock.now()
    frozen = [url for url in served.truth.urls(now) if urlsplit(url).hostname in ("hub.demo.test", "slow.demo.test")]
    port = served.web.port
    with _as_process(tmp_path, now, "--seed", "7", "--port", str(_other_port())) as ready:
        truth = Truth.from_ready(tmp_path / "ready.json")
        browser = Browser(ready["resolve"], ready["port"])
        for url in frozen:
            there = url.replace(f":{port}", f":{ready['port']}")
            assert served.browser.get(url).body.replace(b":%d/" % port, b"") == browser.get(there).body.replace(
                b":%d/" % ready["port"], b""
            )
            assert truth.version_at(there, now) == served.truth.version_at(url, now)
        browser.close()
    assert ready["seeds"] == truth.site.seeds


def test_a_port_that_is_taken_and_a_clock_that_is_missing_end_with_a_message(
    served: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = ["--log", str(tmp_path / "log"), "--ready", str(tmp_path / "ready.json")]
    assert main(["--clock", str(served.clock.path), *paths, "--port", str(served.web.port)]) == 2
    assert f"{served.web.port}: Address already in use" in capsys.readouterr().err
    assert main(["--clock", str(tmp_path / "none.json"), *paths]) == 2
    assert "none.json" in capsys.readouterr().err
    assert main(["--clock", str(served.clock.path), *paths, "--hosts", "3"]) == 2
    assert "expected at least 28 hosts" in capsys.readouterr().err
    assert not (tmp_path / "ready.json").exists()


def test_all_hosts_can_share_one_address(tmp_path: Path) -> None:
    clock = SimulatedClock(tmp_path / "clock.json")
    clock.set(START)
    with DemoWeb(7, clock.path, hosts=28, pages=400, one_address=True) as web:
        assert set(web.resolve.values()) == {"127.0.0.1"}
        browser = Browser(web.resolve, web.port)
        assert all(browser.get(url).status == 200 for url in web.seeds)
        browser.close()


def _lines_after(served: Served, before: int, count: int) -> list[dict[str, Any]]:
    """A client may have an answer before the server comes to log it."""
    _until(lambda: len(served.log_lines()) >= before + count)
    return served.log_lines()[before:]


def _until(condition: Callable[[], bool]) -> None:
    limit = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.01)


def _other_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@contextmanager
def _as_process(folder: Path, instant: datetime, *arguments: str) -> Iterator[dict[str, Any]]:
    clock = SimulatedClock(folder / "clock.json")
    clock.set(instant)
    command = [sys.executable, "-m", "crawler.demo.web", "--clock", str(clock.path), "--log", str(folder / "log.jsonl")]
    process = subprocess.Popen(
        [*command, "--ready", str(folder / "ready.json"), *arguments], env=os.environ | {"PYTHONHASHSEED": "5"}
    )
    try:
        _until(lambda: (folder / "ready.json").exists() or process.poll() is not None)
        yield json.loads((folder / "ready.json").read_text())
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
