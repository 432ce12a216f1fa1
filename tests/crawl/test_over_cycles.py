"""What shows only over several cycles of a real lake: validators, audits, redirects that lead on and on."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.crawl.driver import NO_DELAYS, Crawl, write_settings
from tests.crawl.server import Request, Response, WebServer

pytestmark = pytest.mark.slow

HTML = ("Content-Type", "text/html")
EAGER = {"buckets": 1, "checkpoint_min_rows": 1, "checkpoint_share": 0.01}  # a checkpoint after every cycle


@dataclass
class Site:
    """A host whose answers a test changes between cycles. asked: target and If-None-Match of each page request."""

    answers: dict[str, Response] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)

    def respond(self, request: Request) -> Response:
        if request.target == "/robots.txt":
            return Response(404)
        self.asked.append((request.target, request.headers.get("if-none-match")))
        return self.answers.get(request.target, Response(404))


@contextmanager
def crawling(tmp_path: Path, site: Site, *targets: str, **sections: Mapping[str, Any]) -> Iterator[Crawl]:
    """A crawl of `targets` on a lake of its own."""
    with WebServer(site.respond) as server:
        fetch = {"resolve": {"a.test": server.address}, "allow_private": ["127.0.0.0/8"], "audit_share": 0.0}
        tables = {
            "crawl": {"user_agent": "TestBot/1.0 (+http://bot.test/)"},
            "lake": EAGER,
            "politeness": NO_DELAYS,
            **sections,
            "fetch": fetch | {"parse_workers": 0} | sections.get("fetch", {}),
        }
        seeds = [f"http://a.test{server.suffix}{target}" for target in targets]
        yield Crawl(write_settings(tmp_path, tables), seeds)


def page(text: str, etag: str = '"v1"') -> Response:
    return Response(200, (HTML, ("ETag", etag)), f"<title>t</title><p>{text * 60}".encode())


def test_validators_outlive_redirects_errors_and_checkpoints_until_another_version_comes(tmp_path: Path) -> None:
    site = Site()
    moved = Response(302, (("Location", "/x?y"), ("ETag", '"moved"')))
    broken = Response(500, (HTML, ("ETag", '"error"')), b"sorry")
    days = [page("one "), moved, broken, page("one "), page("two ", '"v2"'), page("two ", '"v2"')]
    with crawling(tmp_path, site, "/x") as crawl:
        for answer in days:
            site.answers["/x"] = answer
            crawl.run()
            crawl.next_day()
        rows = crawl.ask(
            "SELECT outcome, body_digest, saved_bytes FROM observation WHERE fetch_url LIKE '%/x' ORDER BY cycle"
        )
        (saved,) = crawl.ask("SELECT sum(saved_bytes)::BIGINT FROM host")[0]
    assert [condition for target, condition in site.asked if target == "/x"] == [
        None, '"v1"', '"v1"', '"v1"', '"v1"', '"v2"',
    ]  # fmt: skip
    assert [row[0] for row in rows] == ["ok", "redirected", "server_error", "not_modified", "ok", "not_modified"]
    assert rows[3][1] == rows[0][1]
    assert rows[5][1] == rows[4][1] != rows[0][1]
    assert saved == len(days[0].body) + len(days[4].body)


def test_a_host_that_lies_is_remembered_by_the_lake_and_every_change_of_it_is_found(tmp_path: Path) -> None:
    site = Site()
    targets = [f"/{number}" for number in range(30)]
    with crawling(tmp_path, site, *targets, fetch={"audit_share": 0.15}) as crawl:
        for day in range(7):
            site.answers = {target: page(f"day {day} of {target} ", '"same"') for target in targets}
            crawl.run()
            crawl.next_day()
        by_day = crawl.ask(
            "SELECT count(*) FILTER (outcome = 'not_modified'), count(*) FILTER (audit), "
            "count(*) FILTER (content_changed) FROM observation GROUP BY cycle ORDER BY cycle"
        )
    assert by_day[0] == (0, 0, 0)
    assert by_day[1][0] > 0
    assert by_day[-1] == (0, 30, 30)
    conditions = Counter(condition for _, condition in site.asked[-30:])
    assert conditions == {None: 30}


def test_a_loop_of_redirects_is_asked_once_a_cycle_and_an_endless_chain_ends_at_the_depth_limit(tmp_path: Path) -> None:
    site = Site()
    site.answers = {f"/c{n}": Response(301, (("Location", f"/c{n + 1}"),)) for n in range(40)}
    site.answers |= {"/a": Response(302, (("Location", "/b"),)), "/b": Response(307, (("Location", "/a"),))}
    site.answers["/self"] = Response(302, (("Location", "/self"), ("Set-Cookie", "a=1")))
    with crawling(tmp_path, site, "/c0", "/a", "/self", traps={"max_depth": 4}) as crawl:
        for _ in range(8):
            crawl.run()
            crawl.next_day()
        trapped = crawl.ask("SELECT DISTINCT trap FROM link WHERE target_url LIKE '%/c5'")
        outcomes = crawl.ask("SELECT DISTINCT outcome FROM observation")
    asked = Counter(target for target, _ in site.asked)
    assert {target for target in asked if target.startswith("/c")} == {f"/c{n}" for n in range(5)}
    assert trapped == [("traps.max_depth",)]
    assert (asked["/a"], asked["/b"], asked["/self"]) == (8, 8, 8)  # /b is found and fetched in the first cycle
    assert outcomes == [("redirected",)]
