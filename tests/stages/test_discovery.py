"""What a fetch does at once with what its pages lead to: which links it follows, and that no rule is broken for it."""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from crawler.core.config import ScopeSettings
from crawler.core.keys import bucket_of, host_key, url_key
from crawler.core.scope import Scope
from crawler.store.frontier import Frontier
from crawler.store.seen import Seen
from tests.stages.memory_ledger import MemoryLedger, make_settings
from tests.stages.robots_runs import run
from tests.web.server import ScriptedServer
from tests.web.site import gaps, site

FRONT = "http://a.test/"


def page(*links: str, text: str = "") -> dict[str, Any]:
    """An exchange whose page has these links and a text of its own, that of its links if none is given."""
    anchors = "".join(f"<a href='{link}'>on</a>" for link in links)
    return {"body": f"<title>t</title><p>{text or ' '.join(links) or 'leaf'}</p>{anchors}"}


def frontier(
    planned: Sequence[str] = (FRONT,), *, room: int = 100, hosts: Sequence[str] = ("a.test",), **fields: Any
) -> Frontier:
    """The frontier of a bucket that knows what is planned."""
    seen = Seen(0.001, 1000)
    seen.add([url_key(url) for url in planned])
    return Frontier(room, seen, Scope(ScopeSettings(hosts=tuple(hosts)), frozenset()), **fields)


def ledger_of(new: Frontier | None, planned: Sequence[str] = (FRONT,)) -> MemoryLedger:
    ledger = MemoryLedger(planned)
    ledger.new = new
    return ledger


def asked(server: ScriptedServer) -> list[str]:
    """The pages that were asked for, in order."""
    return [request.url for request in server.log if not request.url.endswith("/robots.txt")]


def discovered(ledger: MemoryLedger) -> dict[str, tuple[int, int]]:
    """By URL that was found depth and hops."""
    rows = ledger.rows["observation"]
    return {row["url"]: (row["discovered"]["depth"], row["discovered"]["hops"]) for row in rows if row["discovered"]}


def paths(names: Iterable[str]) -> list[str]:
    return [FRONT + name for name in names]


def in_letters(number: int) -> str:
    """A word for each number: digits alone make no other text."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


@pytest.mark.parametrize("parse_workers", [0, 1])
def test_links_are_followed_from_page_to_page_in_the_same_fetch(parse_workers: int) -> None:
    ledger = ledger_of(frontier())
    routes = {FRONT: page("1", "2"), FRONT + "1": page("3", "1", "/"), FRONT + "3": page("2", "1")}
    with site(routes) as server:
        counts = run(ledger, server, make_settings(fetch={"parse_workers": parse_workers}))
        assert sorted(asked(server)) == [FRONT, *paths("123")]
    assert discovered(ledger) == {FRONT + "1": (1, 0), FRONT + "2": (1, 0), FRONT + "3": (2, 0)}
    assert (counts["planned"], counts["observed"], counts["discovered"], counts["open"]) == (1, 1, 3, 0)
    (row,) = ledger.rows["discovery"]
    assert {name: row[name] for name in ("room", "links", "unseen", "rejected", "left_over", "taken")} == {
        "room": 100,
        "links": 6,
        "unseen": 3,
        "rejected": 0,
        "left_over": 0,
        "taken": 3,
    }


def test_without_a_frontier_nothing_is_followed() -> None:
    ledger = ledger_of(None)
    with site({FRONT: page("1", "2")}) as server:
        run(ledger, server)
        assert asked(server) == [FRONT]
    assert not ledger.rows["discovery"]


def test_what_may_have_been_seen_is_left_alone() -> None:
    ledger = ledger_of(frontier([FRONT, FRONT + "1"]))
    with site({FRONT: page("1", "2")}) as server:
        run(ledger, server)
        assert asked(server) == [FRONT, FRONT + "2"]


def test_no_more_is_fetched_than_there_is_room_for_and_all_that_is_planned_comes_first() -> None:
    planned = paths(["", *map(str, range(10))])
    ledger = ledger_of(frontier(planned, room=3), planned)
    routes = {FRONT: page(*(f"x{number}" for number in range(8)))}
    with site(routes) as server:
        run(ledger, server)
        found = asked(server)
    assert sorted(found[:11]) == sorted(planned)
    assert found[11:] == paths(["x0", "x1", "x2"])
    (row,) = ledger.rows["discovery"]
    assert (row["taken"], row["left_over"], row["unseen"]) == (3, 5, 8)


def test_nofollow_scope_shape_and_purges_are_obeyed() -> None:
    new = frontier(hosts=["a.test"], purged=frozenset([url_key(FRONT + "purged")]))
    body = {
        "body": "<p>t</p><a rel=nofollow href=no>n</a><a href=purged>p</a><a href=/a/a/a/a/a>s</a>"
        "<a href=http://b.test/>b</a><a href=ok>o</a>"
    }
    ledger = ledger_of(new)
    with site({FRONT: body}, hosts=["a.test", "b.test"]) as server:
        run(ledger, server)
        assert asked(server) == [FRONT, FRONT + "ok"]
    assert len(ledger.rows["link"]) == 5, "all are left to merge"


def test_a_page_that_asks_for_it_gives_none() -> None:
    body = {"body": "<meta name=robots content=nofollow><p>t</p><a href=1>1</a>"}
    ledger = ledger_of(frontier())
    with site({FRONT: body}) as server:
        run(ledger, server)
        assert asked(server) == [FRONT]


def test_hosts_of_other_buckets_are_their_owners_business() -> None:
    hosts = [f"h{number}.test" for number in range(12)]
    bucket = bucket_of(host_key("a.test"), 4)
    ours = [host for host in hosts if bucket_of(host_key(host), 4) == bucket]
    assert 0 < len(ours) < len(hosts)
    ledger = ledger_of(frontier(hosts=["*"]))
    with site({FRONT: page(*(f"http://{host}/" for host in hosts))}, hosts=["a.test", *hosts]) as server:
        run(ledger, server, bucket=bucket, buckets=4)
        assert set(asked(server)) == {FRONT, *(f"http://{host}/" for host in ours)}


def test_a_host_that_is_met_on_the_way_is_asked_for_its_robots_txt_first_and_politely() -> None:
    robots = "User-agent: *\nDisallow: /private\nCrawl-delay: 0.3\n"
    ledger = ledger_of(frontier(hosts=["*"]))
    routes = {FRONT: page("http://b.test/1", "http://b.test/private", "http://b.test/2")}
    with site(routes, robots=robots, hosts=["a.test", "b.test"]) as server:
        run(ledger, server)
        at_b = [request.url for request in server.log if "b.test" in request.url]
        assert at_b == ["http://b.test/robots.txt", "http://b.test/1", "http://b.test/2"]
        assert min(gaps(server, "b.test")) >= 0.3
    assert ledger.outcome("http://b.test/private") == "denied_by_robots"
    assert ledger.early() == []


def test_a_host_has_no_more_pages_than_its_cap_and_none_while_it_is_held() -> None:
    settings = make_settings()
    capped = settings.model_copy(update={"plan": settings.plan.model_copy(update={"max_urls_per_host": 4})})
    ledger = ledger_of(frontier(hosts=["*"]))
    links = [f"{host}{number}" for host in (FRONT, "http://b.test/", "http://held.test/") for number in range(9)]
    ledger.holds = frozenset(["held.test"])
    with site({FRONT: page(*links)}, hosts=["a.test", "b.test", "held.test"]) as server:
        counts = run(ledger, server, capped)
        found = asked(server)
    assert [sum(host in url for url in found) for host in ("a.test", "b.test", "held.test")] == [4, 4, 0]
    assert counts["open"] == 0, "what was found and not fetched is no gap in the plan"


def test_a_redirect_leads_on_in_the_same_fetch() -> None:
    ledger = ledger_of(frontier())
    moved = {"status": 301, "headers": [["Location", "/b"]]}
    with site({FRONT: moved, FRONT + "b": page("c")}) as server:
        run(ledger, server)
        assert asked(server) == [FRONT, FRONT + "b", FRONT + "c"]


def test_links_of_copies_and_of_a_text_that_comes_again_wait_for_the_merge() -> None:
    ledger = ledger_of(frontier())
    routes = {
        FRONT: page("1", "2"),
        FRONT + "1": page("3", text="not found"),
        FRONT + "2": page("4", text="not found"),
    }
    with site(routes) as server:
        run(ledger, server, make_settings(fetch={"threads": 1}))
        assert asked(server) == [*paths(["", "1", "2"]), FRONT + "3"]
    (row,) = ledger.rows["discovery"]
    assert row["left_over"] == 1


def test_a_place_without_end_ends_at_its_limit() -> None:
    """Every page leads to the next, with a text of its own."""
    ledger = ledger_of(frontier(most_alike=9))
    pages = {f"{FRONT}p/{number}": page(f"/p/{number + 1}", text=in_letters(number)) for number in range(40)}
    routes = {FRONT: page("p/0")} | pages
    with site(routes) as server:
        run(ledger, server)
        assert asked(server) == [FRONT, *paths(f"p/{number}" for number in range(5))]


def test_entries_of_a_sitemap_are_links_but_not_those_that_are_sitemaps() -> None:
    xml = [["Content-Type", "application/xml"]]
    entries = "".join(f"<url><loc>{FRONT}{name}</loc></url>" for name in ("x", "y"))
    space = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    planned = [FRONT + "map.xml", FRONT + "index.xml"]
    routes = {
        planned[0]: {"body": f"<urlset {space}>{entries}</urlset>", "headers": xml},
        planned[1]: {
            "body": f"<sitemapindex {space}><sitemap><loc>{FRONT}more.xml</loc></sitemap></sitemapindex>",
            "headers": xml,
        },
    }
    ledger = ledger_of(frontier(planned), planned)
    ledger.targets = [
        type(target)(**{name: getattr(target, name) for name in target.__slots__} | {"is_sitemap": True})
        for target in ledger.targets
    ]
    with site(routes) as server:
        run(ledger, server)
        assert sorted(asked(server)) == sorted([*planned, FRONT + "x", FRONT + "y"])


def test_a_stop_ends_a_fetch_that_would_find_more_without_end() -> None:
    ledger = ledger_of(frontier(room=10_000, most_alike=20_000))
    pages = {f"{FRONT}{number}": page(str(number + 1), text=in_letters(number)) for number in range(31)}
    with site(pages) as server:
        ledger.targets = MemoryLedger([FRONT + "0"]).targets
        counts = run(ledger, server, make_settings(delay_seconds=0.1), stop=lambda: len(server.log) > 5)
    assert counts["stopped"] == 1
    assert 3 < counts["discovered"] < 29, "not to the end of the chain"
    assert ledger.complete is False
