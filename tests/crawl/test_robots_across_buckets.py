"""A robots.txt that redirects from the bare domain to `www`, in another bucket, over cycles on a real lake."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.core.keys import bucket_of, host_key
from crawler.stages.fetch import errands
from crawler.store.ask import ask_named
from crawler.store.reader import open_reader
from tests.crawl.driver import Crawl, write_settings
from tests.crawl.plain_web import PLAIN, PRODUCT
from tests.crawl.server import Request, Response, WebServer, smallest_gap

BUCKETS = 4
DELAY_SECONDS = 0.02
PAGES = 3
# Every page of the lake with the robots.txt decision that stood when it was asked for, or was not.
DECISIONS = """
    SELECT o.url, o.cycle, o.outcome, o.robots_digest, o.fetched_at, r.*
    FROM observation AS o
    ASOF LEFT JOIN (SELECT * FROM robots WHERE final) AS r
        ON r.origin = regexp_extract(o.url, '^[a-z]+://[^/?]+') AND o.fetched_at >= r.fetched_at
"""


def bare_domain(*, is_first: bool) -> str:
    """A domain whose bucket is fetched before (`is_first`) or after that of its `www` if they take turns."""
    for number in range(99):
        name = f"site{number}.test"
        mine, other = (bucket_of(host_key(host), BUCKETS) for host in (name, f"www.{name}"))
        if mine != other and (mine < other) is is_first:
            return name
    raise AssertionError("no such domain")


def a_crawl(folder: Path, server: WebServer, domain: str, *hosts: str) -> Crawl:
    names = (domain, f"www.{domain}")
    settings = write_settings(
        folder,
        {
            "crawl": {"user_agent": PRODUCT},
            "lake": {"buckets": BUCKETS},
            "scope": {"hosts": names},
            "fetch": {"resolve": dict.fromkeys(names, server.address), "allow_private": ["127.0.0.0/8"]},
            "politeness": {"delay_seconds": DELAY_SECONDS, "delay_factor": 0.0, "address_delay_seconds": 0.0},
        },
    )
    return Crawl(settings, [f"http://{host}{server.suffix}/p{n}" for host in hosts for n in range(PAGES)])


def respond(request: Request, suffix: str) -> Response:
    if request.target != "/robots.txt":
        return Response(200, (("Content-Type", "text/html"),), f"<p>{request.host}{request.target}".encode())
    if request.host.startswith("www."):
        return Response(200, PLAIN, b"User-agent: *\nDisallow: /p0\n")
    return Response(301, (("Location", f"http://www.{request.host}{suffix}/robots.txt"),), b"")


@pytest.fixture
def server() -> Iterator[WebServer]:
    with WebServer(lambda request: respond(request, web.suffix)) as web:
        yield web


def outcomes(crawl: Crawl, cycle: str) -> Counter[tuple[str, str]]:
    found = crawl.ask("SELECT host, outcome FROM observation WHERE cycle = $1::DATE", cycle)
    return Counter((host, outcome) for host, outcome in found)


def assert_every_decision_can_be_looked_up(crawl: Crawl) -> None:
    rows = crawl.ask(f"SELECT count(*), count(robots_digest) FROM ({DECISIONS})")
    assert rows[0][0] > 0
    assert rows[0][1] > 0
    wrong = crawl.ask(
        f"""
        FROM ({DECISIONS}) AS d
        WHERE origin IS NULL OR body_digest IS DISTINCT FROM robots_digest
            OR fetched_at >= valid_until OR fetched_at - read_at > INTERVAL 24 HOURS
            OR (robots_digest IS NOT NULL AND NOT EXISTS (
                FROM robots AS v
                WHERE v.origin = d.origin AND v.body_digest = d.robots_digest
                    AND sha256(v.body) = lower(hex(v.body_digest))
            ))
        """
    )
    assert wrong == []


def test_a_bare_domain_is_crawled_from_the_second_cycle_though_only_it_was_seeded(
    tmp_path: Path, server: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(errands, "_FIRST_LOOK_SECONDS", 0.001)
    domain = bare_domain(is_first=False)
    crawl = a_crawl(tmp_path, server, domain, domain)
    for _ in range(4):
        crawl.run()
        crawl.next_day()
    asked = Counter((entry.host, entry.target) for entry in server.log)
    assert {outcome for _, outcome in outcomes(crawl, "2026-11-02")} == {"robots_unreachable"}
    assert outcomes(crawl, "2026-11-03") == {(domain, "denied_by_robots"): 1, (domain, "ok"): PAGES - 1}
    assert [outcomes(crawl, f"2026-11-0{day}")[domain, "ok"] for day in (4, 5)] == [PAGES - 1] * 2
    assert asked[domain, "/p0"] == 0
    assert asked[domain, "/p1"] == 3
    assert asked[f"www.{domain}", "/robots.txt"] == 3, "its owner was told in the first cycle, and keeps it fresh"
    assert {target for host, target in asked if host.startswith("www.")} == {"/robots.txt"}
    assert_every_decision_can_be_looked_up(crawl)
    with open_reader(crawl.lake) as reader:
        answer = ask_named(reader, "robots", {"url": f"http://{domain}{server.suffix}/p0"})
        story = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    assert [(row["outcome"], row["verdict"]) for row in story[:2]] == [
        ("robots_unreachable", "disallow"),
        ("denied_by_robots", "rules"),
    ]
    assert story[1]["robots_url"] == f"http://www.{domain}{server.suffix}/robots.txt"
    assert story[1]["robots_txt"] == "User-agent: *\nDisallow: /p0\n"
    assert min(smallest_gap(server.log).values()) >= DELAY_SECONDS
    assert crawl.ask("SELECT * FROM politeness_audit") == []


@pytest.mark.slow
def test_a_bare_domain_is_crawled_in_the_first_cycle_if_the_other_bucket_is_fetched_beside_it(
    tmp_path: Path, server: WebServer
) -> None:
    domain = bare_domain(is_first=True)
    crawl = a_crawl(tmp_path, server, domain, domain, f"www.{domain}")
    for day in (2, 3):
        crawl.run_parallel(BUCKETS)
        for host in (domain, f"www.{domain}"):
            assert outcomes(crawl, f"2026-11-0{day}")[host, "ok"] == PAGES - 1, (host, day)
        crawl.next_day()
    assert_every_decision_can_be_looked_up(crawl)
    assert min(smallest_gap(server.log).values()) >= DELAY_SECONDS
    assert crawl.ask("SELECT * FROM politeness_audit") == []
