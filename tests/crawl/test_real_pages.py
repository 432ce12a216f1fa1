"""The HTML of Debian's documentation packages, crawled until nothing is new, unchanged and edited.

One story in three acts on one lake, since the first crawl is the long part.
"""

import random
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.crawl import documents
from tests.crawl.documents import FOLDERS, Documents, breadth_first
from tests.crawl.driver import NO_DELAYS, Crawl, write_settings
from tests.crawl.server import Entry, Request, Response, WebServer

EDITED_FILES = 50
_LAST_HEADING = re.compile(rb"(.*<h[12](?: [^<>]*)?>)", re.DOTALL)

pytestmark = [pytest.mark.slow, pytest.mark.debian, pytest.mark.xdist_group("documents")]


@dataclass
class Story:
    """The lake, the server, and what the reference found."""

    crawl: Crawl
    server: WebServer
    pages: Documents
    cycles: list[set[str]]
    responses: dict[str, Response]
    asked: list[set[str]]
    twice: list[str]

    def run(self, days: int) -> list[Entry]:
        """Let days pass, run a cycle, and return the server's log of its pages."""
        start = len(self.server.log)
        for _ in range(days):
            self.crawl.next_day()
        self.crawl.run()
        return [entry for entry in self.server.log[start:] if entry.target != "/robots.txt"]

    def url(self, entry: Entry) -> str:
        return f"http://{entry.host}{self.server.suffix}{entry.target}"


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """The documents copied, served and crawled from their front pages until nothing is new."""
    if reason := documents.install():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("documents")
    for tree in FOLDERS.values():
        shutil.copytree(documents.ROOT / tree, folder / "pages" / tree, symlinks=True)
    pages = Documents(folder / "pages")
    with WebServer(pages.respond) as server:
        seeds = [f"http://{host}{server.suffix}/" for host in FOLDERS]
        cycles, responses = breadth_first(seeds, lambda url: pages.respond(_request(url)))
        crawl = Crawl(_settings(folder, server), seeds)
        story = Story(crawl, server, pages, cycles, responses, [], [])
        for _ in range(len(cycles) + 1):
            log = story.run(days=1)
            asked = Counter(story.url(entry) for entry in log)
            story.asked.append(set(asked))
            story.twice += [url for url, times in asked.items() if times > 1]
        yield story


def test_the_fetched_urls_are_those_of_a_breadth_first_search_with_another_parser(story: Story) -> None:
    for number, want in enumerate([*story.cycles, set()]):
        got = story.asked[number] - set().union(*story.asked[:number])
        assert got - want == set(), f"cycle {number} asked for what no link says"
        assert want - got == set(), f"cycle {number} left out"
    assert story.twice == []


def test_pages_that_did_not_change_are_answered_with_304(story: Story) -> None:
    log = story.run(days=40)
    html = {url for url, response in story.responses.items() if _is_page(response)}
    got = {story.url(entry): entry.status for entry in log}
    assert {url for url, status in got.items() if status == 304} == html
    assert {status for url, status in got.items() if url not in html} <= {404}


def test_exactly_the_edited_files_are_found_changed(story: Story) -> None:
    edited = _edit(story)
    log = story.run(days=40)
    got = {story.url(entry): entry.status for entry in log}
    assert {url for url, status in got.items() if status == 200} == edited
    changed = story.crawl.ask("SELECT url FROM observation WHERE cycle = ? AND content_changed", story.crawl.cycle.day)
    assert {url for (url,) in changed} == edited


def _edit(story: Story) -> set[str]:
    """Change the last heading of 50 files, which stands in no menu and no banner; returns the URLs that show them."""
    by_file: dict[Path, set[str]] = {}
    for url, response in story.responses.items():
        path = story.pages.file(*_place(url))
        if path is not None and _is_page(response) and _LAST_HEADING.search(path.read_bytes()):
            by_file.setdefault(path, set()).add(url)
    chosen = random.Random(7).sample(sorted(by_file), EDITED_FILES)
    for path in chosen:
        path.write_bytes(_LAST_HEADING.sub(rb"\1Edited. ", path.read_bytes(), count=1))
    return set().union(*(by_file[path] for path in chosen))


def _settings(folder: Path, server: WebServer) -> Path:
    return write_settings(
        folder,
        {
            "crawl": {"user_agent": "DocumentsBot/1.0 (+http://bot.test/)"},
            "lake": {"buckets": 2},  # each costs every cycle its stages, which take longer than its pages
            "fetch": {
                "resolve": dict.fromkeys(FOLDERS, server.address),
                "allow_private": ["127.0.0.0/8"],
                "max_body_bytes": 32 << 20,
                "max_parse_bytes": 32 << 20,
                "audit_share": 0.0,  # each unchanged page shall be a 304
                "discover_urls": 0,  # a level of the search is a day
            },
            "politeness": NO_DELAYS,
            "plan": {"min_interval_days": 30},
        },
    )


def _is_page(response: Response) -> bool:
    return response.status == 200 and dict(response.headers)["Content-Type"].startswith("text/html")


def _request(url: str) -> Request:
    return Request("GET", *_place(url), {})


def _place(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.hostname or "", f"{parts.path}?{parts.query}" if parts.query else parts.path
