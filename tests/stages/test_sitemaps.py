"""Sitemaps and feeds over whole cycles: how they are found, what they may list, and what is kept of what they say."""

import gzip
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from crawler.core.cycle import Cycle
from crawler.core.errors import BadSettings
from crawler.stages import fetch, fingerprint, merge, plan, seed
from crawler.store import purges, query
from crawler.store.erase import erase
from crawler.store.lake import Lake
from crawler.store.state import open_state
from tests.crawl.driver import NO_DELAYS, Crawl, write_settings
from tests.crawl.server import Request, Response, WebServer
from tests.store.small_lake import DAY, NOON, Row, bucket_of_url, digest, lake_at, linked, observed, read, write
from tests.store.test_state import fold

A, B = "http://a.test/", "http://b.test/"
PAGE, OTHER = f"{A}page", f"{A}other"
MAP = f"{A}sitemap.xml"
SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    made = lake_at(tmp_path)
    seed.run(made, [A, PAGE, OTHER])
    return made


def fetched(lake: Lake, source: str, body: str, *links: Row, cycle: Cycle = DAY, **fields: Any) -> None:
    """Write a fetch of `source` with its links, and merge them."""
    row = observed(source, body, **fields)
    write(lake, bucket_of_url(lake, source), {"link": list(links), "observation": [row]}, cycle=cycle)
    merge_all(lake, cycle)


def merge_all(lake: Lake, cycle: Cycle = DAY) -> None:
    for shard in range(lake.buckets):
        fingerprint.run(lake, cycle, shard)
    for bucket in range(lake.buckets):
        merge.run(lake, cycle, bucket)


# In-links


def inlinks(lake: Lake) -> dict[str, int]:
    return {url: page["inlinks"] for url, page in fold(lake).items() if page["inlinks"]}


def test_an_in_link_is_a_page_that_links_when_it_is_first_fetched(lake: Lake) -> None:
    fetched(lake, A, "front", linked(A, PAGE), linked(A, f"{A}new"))
    fetched(lake, OTHER, "other", linked(OTHER, PAGE))
    assert inlinks(lake) == {PAGE: 2, f"{A}new": 1}
    fetched(lake, A, "front, edited", linked(A, PAGE, is_first=False))
    assert inlinks(lake) == {PAGE: 2, f"{A}new": 1}


def test_a_page_counts_once_however_often_it_links_and_never_for_itself(lake: Lake) -> None:
    twice = [linked(A, PAGE, kind=kind) for kind in ("a", "area", "iframe")]
    itself = linked(A, A)
    silent = [linked(A, OTHER, nofollow=True), linked(A, OTHER, kind="canonical"), linked(A, OTHER, kind="sitemap")]
    fetched(lake, A, "front", *twice, itself, *silent)
    assert inlinks(lake) == {PAGE: 1}


def test_a_merge_that_is_run_again_counts_no_link_again(lake: Lake) -> None:
    fetched(lake, A, "front", linked(A, PAGE))
    merge_all(lake)
    merge_all(lake, Cycle(DAY.day + timedelta(days=1)))
    assert inlinks(lake) == {PAGE: 1}


def test_links_of_copies_are_no_in_links(lake: Lake) -> None:
    text = "the same on both pages"
    fetched(lake, A, text, linked(A, PAGE), copy_digest=digest(text))
    fetched(lake, OTHER, text, linked(OTHER, PAGE), copy_digest=digest(text))
    assert inlinks(lake) == {PAGE: 1}


# What sitemaps say of pages


def listed(url: str, lastmod: datetime | None = None, priority: float | None = None, **fields: Any) -> Row:
    return linked(MAP, url, kind="sitemap", lastmod=lastmod, priority=priority, **fields)


def test_the_latest_lastmod_and_the_last_priority_stand(lake: Lake) -> None:
    def said() -> tuple[Any, ...]:
        page = fold(lake)[PAGE]
        return page["lastmod"], page["sitemap_priority"]

    yesterday, now = NOON - timedelta(days=1), NOON
    fetched(lake, MAP, "1", listed(PAGE, yesterday, 0.8))
    assert said() == (yesterday, 0.8)
    fetched(lake, MAP, "2", listed(PAGE, now))
    assert said() == (now, 0.8)
    fetched(lake, MAP, "3", listed(PAGE, yesterday, 0.0))
    assert said() == (now, 0.0)


def test_only_what_is_new_is_written(lake: Lake) -> None:
    fetched(lake, MAP, "1", listed(PAGE, NOON, 0.5), listed(f"{A}new", NOON, 0.5), listed(OTHER))
    assert {row["url"] for row in read(lake, "mention")} == {PAGE, f"{A}new"}
    fetched(lake, MAP, "2", listed(PAGE, NOON, 0.5), listed(f"{A}new", NOON - timedelta(days=1), 0.5), listed(OTHER))
    assert len(read(lake, "mention")) == 2


def test_nothing_is_kept_of_a_url_that_a_rule_stops(lake: Lake) -> None:
    fetched(lake, MAP, "1", listed(f"{B}x", NOON), listed(f"{A}deep", NOON, trap="traps.max_depth"))
    assert read(lake, "mention") == []


def test_equal_sitemaps_of_two_hosts_are_no_copies_of_each_other(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    seed.run(lake, [A, B])
    other = f"{B}sitemap.xml"
    fetched(lake, MAP, "same", listed(f"{A}1"))
    fetched(lake, other, "same", linked(other, f"{B}1", kind="sitemap"))
    assert {f"{A}1", f"{B}1"} <= fold(lake).keys()


def test_a_purge_erases_what_was_said_of_a_url(lake: Lake) -> None:
    fetched(lake, MAP, "1", listed(PAGE, NOON), listed(OTHER, NOON))
    erase(lake, purges.purge(lake, PAGE))
    assert {row["url"] for row in read(lake, "mention")} == {OTHER}


# Which URLs are sitemaps, and of which hosts


def announced(url: str, host: str = "a.test", kind: str = "robots") -> Row:
    return linked(f"http://{host}/robots.txt", url, kind=kind, announced_by=[host])


def sitemaps(lake: Lake) -> dict[str, list[str] | None]:
    return {url: page["announced_by"] for url, page in fold(lake).items() if page["is_sitemap"]}


def test_a_sitemap_is_known_by_the_hosts_that_announce_it(lake: Lake) -> None:
    fetched(lake, A, "1", announced(MAP), announced(PAGE), linked(A, f"{A}feed", kind="feed"))
    assert sitemaps(lake) == {MAP: ["a.test"], PAGE: ["a.test"], f"{A}feed": None}
    fetched(lake, A, "2", announced(MAP, "b.test"), announced(MAP, "c.test"))
    assert sitemaps(lake)[MAP] == ["a.test", "b.test", "c.test"]
    merged = len(read(lake, "mention"))
    fetched(lake, A, "3", announced(MAP, "b.test"))
    assert len(read(lake, "mention")) == merged


def planned(lake: Lake, cycle: Cycle = DAY) -> set[str]:
    for bucket in range(lake.buckets):
        plan.run(lake, cycle, bucket)
    found = set()
    con = lake.connect()
    for bucket in range(lake.buckets):
        path = lake.files.path(f"{lake.layout}/plan/bucket={bucket:04d}/cycle={cycle}/plan.parquet")
        found |= {url for (url,) in con.execute("SELECT url FROM read_parquet($path)", {"path": path}).fetchall()}
    return found


def test_a_sitemap_elsewhere_is_in_scope_if_a_host_in_scope_announces_it(lake: Lake) -> None:
    mine, nobodys, theirs = "http://cdn.test/a.xml", "http://cdn.test/b.xml", "http://cdn.test/c.xml"
    links = [announced(mine), linked(A, nobodys, kind="feed"), announced(theirs, "b.test")]
    fetched(lake, A, "1", *links, announced("http://cdn.test/secret/d.xml"))
    assert set(sitemaps(lake)) == {mine, "http://cdn.test/secret/d.xml"}
    assert {row["rule"]: row["urls"] for row in read(lake, "rejected")} == {"scope.hosts": 2}
    assert mine in planned(lake)


def test_rules_of_paths_hold_for_a_sitemap_elsewhere(tmp_path: Path) -> None:
    lake = lake_at(tmp_path, scope={"rules": [{"deny": "/secret/"}]})
    seed.run(lake, [A])
    fetched(lake, A, "1", announced("http://cdn.test/secret/d.xml"))
    assert [row["rule"] for row in read(lake, "rejected")] == ["scope.rules deny /secret/"]


def test_sitemaps_of_settings_become_known_in_the_next_merge(tmp_path: Path) -> None:
    own = {"a.test": {"sitemaps": ["http://cdn.test/a.xml", MAP]}}
    lake = lake_at(tmp_path, buckets=4, sitemaps={"urls": [f"{B}news.xml", MAP]}, host=own)
    seed.run(lake, [A, B])
    fetched(lake, A, "1")
    expected = {"http://cdn.test/a.xml": ["a.test"], MAP: ["a.test"], f"{B}news.xml": ["b.test"]}
    all_of_them = {}
    for row in read(lake, "mention"):
        all_of_them[row["url"]] = row["announced_by"]
    assert all_of_them == expected
    assert {row["kind"] for row in read(lake, "url")} == {"seed", "settings"}


def test_a_setting_that_is_no_url_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match=r"sitemaps\.urls.*'sitemap\.xml' is no http or https URL"):
        lake_at(tmp_path, sitemaps={"urls": ["sitemap.xml"]})


def test_a_sitemap_can_be_a_seed(lake: Lake) -> None:
    assert seed.run(lake, [], sitemaps=[MAP, "ftp://a.test/x"])["added"] == 1
    page = fold(lake)[MAP]
    assert (page["is_seed"], page["is_sitemap"], page["announced_by"]) == (True, True, ["a.test"])


# On a web


def urlset(*urls: str, lastmods: Mapping[str, str] | None = None) -> bytes:
    dates = lastmods or {}
    entries = (f"<url><loc>{url}</loc><lastmod>{dates.get(url, '')}</lastmod></url>" for url in urls)
    return f"<urlset {SPACE}>{''.join(entries)}</urlset>".encode()


def index(*urls: str) -> bytes:
    return f"<sitemapindex>{''.join(f'<sitemap><loc>{url}</loc></sitemap>' for url in urls)}</sitemapindex>".encode()


def html(text: str, head: str = "") -> Response:
    body = f"<html><head><title>t</title>{head}</head><body><p>{text * 50}</p></body></html>"
    return Response(200, (("Content-Type", "text/html"),), body.encode())


def document(body: bytes, media_type: str = "application/xml", status: int = 200) -> Response:
    return Response(status, (("Content-Type", media_type),), body)


Routes = dict[str, Response]


@contextmanager
def crawling(
    tmp_path: Path, make: Callable[[Callable[[str], str]], Routes], *seeds: str, **sections: Mapping[str, Any]
) -> Iterator[tuple[Crawl, WebServer, Callable[[str], str]]]:
    """A crawl of a web of several hosts. make: its answers by `host/path`, given what makes URLs of those."""
    routes: Routes = {}

    def respond(request: Request) -> Response:
        return routes.get(f"{request.host.partition(':')[0]}{request.target}", Response(404))

    with WebServer(respond) as server:

        def url(place: str) -> str:
            host, _, path = place.partition("/")
            return f"http://{host}{server.suffix}/{path}"

        routes = make(url)
        hosts = {place.partition("/")[0] for place in routes}
        limits = {"resolve": dict.fromkeys(hosts, server.address), "allow_private": ["127.0.0.0/8"]}
        tables = {
            "crawl": {"user_agent": "TestBot/1.0 (+http://bot.test/)"},
            "lake": {"buckets": 1},
            "politeness": NO_DELAYS,
            **sections,
            "fetch": limits | {"parse_workers": 0} | sections.get("fetch", {}),
        }
        yield Crawl(write_settings(tmp_path, tables), [url(place) for place in seeds]), server, url


def days(crawl: Crawl, count: int) -> None:
    """Let so many cycles pass, up to what their merges know."""
    for _ in range(count):
        crawl.plan()
        for bucket in range(crawl.lake.buckets):
            fetch.run(crawl.lake, crawl.cycle, bucket)
        merge_all(crawl.lake, crawl.cycle)
        crawl.next_day()


def asked(server: WebServer) -> set[str]:
    """Every `host/path` that was asked for but robots.txt."""
    return {f"{entry.host}{entry.target}" for entry in server.log if entry.target != "/robots.txt"}


def observations(crawl: Crawl) -> dict[str, Row]:
    """The last observation of each path."""
    return {row["url"].split("/", 3)[3]: row for row in read(crawl.lake, "observation")}


def fold_all(lake: Lake) -> dict[str, Row]:
    """The state of every URL."""
    found = {}
    for bucket in range(lake.buckets):
        con = lake.connect()
        open_state(lake, con, bucket, lake.settled("bucket", bucket))
        found |= {row["url"]: row for row in query.rows(con.execute("FROM state_page"))}
    return found


def test_pages_that_only_sitemaps_name_are_found_across_an_index_gzip_and_hosts(tmp_path: Path) -> None:
    def make(url: Callable[[str], str]) -> Routes:
        names = f"Sitemap: {url('a.test/index.xml')}\nSitemap: {url('cdn.test/for-a.xml')}\nSitemap: /plain.txt\n"
        foreign = url("b.test/never")
        return {
            "a.test/robots.txt": document(f"User-agent: *\nDisallow: /private\n{names}".encode(), "text/plain"),
            "a.test/": html("front "),
            "a.test/index.xml": document(index(url("a.test/1.xml.gz"), url("cdn.test/nobody.xml"))),
            "a.test/1.xml.gz": document(
                gzip.compress(urlset(url("a.test/one"), url("a.test/private"), foreign)), "application/gzip"
            ),
            "a.test/plain.txt": document(f"{url('a.test/two')}\n{foreign}\n".encode(), "text/plain"),
            "cdn.test/for-a.xml": document(urlset(url("a.test/three"), foreign)),
            **{f"a.test/{name}": html(f"{name} ") for name in ("one", "two", "three", "private")},
        }

    with crawling(tmp_path, make, "a.test/") as (crawl, server, url):
        days(crawl, 4)
        assert asked(server) == {
            *("a.test/", "a.test/index.xml", "a.test/1.xml.gz", "a.test/plain.txt", "cdn.test/for-a.xml"),
            *("a.test/one", "a.test/two", "a.test/three"),
        }
        seen = observations(crawl)
        kinds = {path: row["sitemap"] for path, row in seen.items() if row["sitemap"]}
        assert kinds == {"index.xml": "index", "1.xml.gz": "urlset", "plain.txt": "text", "for-a.xml": "urlset"}
        assert seen["private"]["outcome"] == "denied_by_robots"
        assert seen["plain.txt"]["rejected_links"] == [{"reason": "foreign_host", "links": 1}]
        assert fold_all(crawl.lake)[url("cdn.test/for-a.xml")]["announced_by"] == ["a.test"]


def test_only_a_sitemap_with_other_entries_is_changed_and_only_one_with_another_body_brings_links(
    tmp_path: Path,
) -> None:
    dated = {"lastmod": ""}
    served: Routes = {}

    def make(url: Callable[[str], str]) -> Routes:
        urls = [url("a.test/1"), url("a.test/2")]
        dated.update(dict(zip(urls, ("2026-10-01", "2026-10-02"), strict=True)))
        served.update(
            {
                "a.test/s.xml": document(urlset(*urls, lastmods=dated)),
                "again": document(urlset(*reversed(urls), lastmods=dated)),
                "newer": document(urlset(*urls, lastmods=dated | {urls[0]: "2026-11-01"})),
            }
        )
        return served

    with crawling(tmp_path, make, "a.test/") as (crawl, _, url):
        seed.run(crawl.lake, [], sitemaps=[url("a.test/s.xml")])
        told = []
        for name in ("a.test/s.xml", "a.test/s.xml", "again", "newer"):
            served["a.test/s.xml"] = served[name]
            days(crawl, 1)
            links = [row for row in read(crawl.lake, "link") if row["cycle"] == crawl.cycle.day - timedelta(days=1)]
            told.append((observations(crawl)["s.xml"]["content_changed"], len(links)))
        assert told == [(None, 2), (False, 0), (False, 2), (True, 2)]
        assert fold_all(crawl.lake)[url("a.test/1")]["lastmod"] == datetime(2026, 11, 1, tzinfo=UTC)


def test_dates_that_all_entries_share_are_no_hint(tmp_path: Path) -> None:
    def make(url: Callable[[str], str]) -> Routes:
        urls = [url("a.test/1"), url("a.test/2")]
        return {"a.test/s.xml": document(urlset(*urls, lastmods=dict.fromkeys(urls, "2026-10-01")))}

    with crawling(tmp_path, make, "a.test/") as (crawl, _, url):
        seed.run(crawl.lake, [], sitemaps=[url("a.test/s.xml")])
        days(crawl, 1)
        assert [row["lastmod"] for row in read(crawl.lake, "link")] == [None, None]


def test_a_sitemap_may_be_larger_than_a_page_and_is_then_not_stored(tmp_path: Path) -> None:
    def make(url: Callable[[str], str]) -> Routes:
        return {"a.test/s.xml": document(urlset(*(url(f"a.test/{n}") for n in range(100))))}

    with crawling(tmp_path, make, "a.test/", fetch={"max_body_bytes": 2048}) as (crawl, _, url):
        seed.run(crawl.lake, [], sitemaps=[url("a.test/s.xml")])
        days(crawl, 1)
        row = observations(crawl)["s.xml"]
        assert (row["links"], row["truncated"], row["stored"]) == (100, False, False)
        assert {each["url"] for each in read(crawl.lake, "capture")} == set()


@pytest.mark.parametrize("feeds", [True, False])
def test_a_feed_that_pages_name_brings_what_it_lists(tmp_path: Path, *, feeds: bool) -> None:
    def make(url: Callable[[str], str]) -> Routes:
        link = '<link rel="alternate" type="application/{}+xml" href="{}">'
        items = f"<item><link>{url('a.test/post/2')}</link></item><item><link>{url('b.test/x')}</link></item>"
        return {
            "a.test/": html("front ", link.format("rss", "/feed")),
            "a.test/post/1": html("post ", link.format("rss", "/feed") + link.format("atom", "/post/1/comments")),
            "a.test/feed": document(f"<rss><channel>{items}</channel></rss>".encode(), "application/rss+xml"),
            "a.test/post/2": html("another "),
        }

    with crawling(tmp_path, make, "a.test/", "a.test/post/1", sitemaps={"feeds": feeds}) as (crawl, server, _):
        days(crawl, 3)
        assert asked(server) == {"a.test/", "a.test/post/1", *(["a.test/feed", "a.test/post/2"] if feeds else [])}


def test_what_is_named_as_a_sitemap_and_is_none_is_a_page_or_nothing(tmp_path: Path) -> None:
    def make(url: Callable[[str], str]) -> Routes:
        names = [url(f"a.test/{name}") for name in ("map.html", "photo", "moved", "gone")]
        return {
            "a.test/robots.txt": document("".join(f"Sitemap: {name}\n" for name in names).encode(), "text/plain"),
            "a.test/": html("front "),
            "a.test/map.html": html("<a href=/one>one</a> "),
            "a.test/photo": document(b"\x89PNG\r\n\x1a\n" + bytes(100), "image/png"),
            "a.test/moved": Response(301, (("Location", "/real.xml"),)),
            "a.test/real.xml": document(urlset(url("a.test/two"))),
        }

    with crawling(tmp_path, make, "a.test/") as (crawl, _, url):
        days(crawl, 4)
        outcomes = {path: row["outcome"] for path, row in observations(crawl).items() if row["url"] != url("a.test/")}
        assert outcomes == {
            "map.html": "ok",
            "photo": "unwanted_type",
            "moved": "redirected",
            "real.xml": "ok",
            **dict.fromkeys(["gone", "one", "two"], "gone"),
        }
        assert fold_all(crawl.lake)[url("a.test/real.xml")]["is_sitemap"]
        assert {each["url"] for each in read(crawl.lake, "capture")} & {url("a.test/photo")} == set()


@pytest.mark.parametrize("guess", [True, False])
def test_the_usual_place_is_asked_for_only_if_settings_say_so(tmp_path: Path, *, guess: bool) -> None:
    def make(url: Callable[[str], str]) -> Routes:
        silent = document(b"User-agent: *\nDisallow:\n", "text/plain")
        named = document(b"Sitemap: /s.xml", "text/plain")
        pages = {f"{host}.test/": html(f"{host} ") for host in "abc"}
        return {"a.test/robots.txt": silent, "b.test/robots.txt": named, **pages}

    with crawling(tmp_path, make, "a.test/", "b.test/", "c.test/", sitemaps={"guess": guess}) as (crawl, server, _):
        days(crawl, 2)
        guessed = {"a.test/sitemap.xml", "c.test/sitemap.xml"} if guess else set()
        assert asked(server) == {"a.test/", "b.test/", "c.test/", "b.test/s.xml", *guessed}


def test_a_sitemap_that_takes_too_long_ends_as_parser_failed_and_hurts_no_page(tmp_path: Path) -> None:
    def make(url: Callable[[str], str]) -> Routes:
        bomb = gzip.compress(b"<urlset>" + b"<url><x/></url>" * 3_000_000)
        return {"a.test/": html("front "), "a.test/s.xml": document(bomb, "application/x-gzip")}

    with crawling(tmp_path, make, "a.test/", fetch={"parse_workers": 1, "parse_seconds": 1.0}) as (crawl, _, url):
        seed.run(crawl.lake, [], sitemaps=[url("a.test/s.xml")])
        days(crawl, 1)
        outcomes = {path: (row["outcome"], row["error"]) for path, row in observations(crawl).items()}
        assert outcomes == {
            "": ("ok", None),
            "s.xml": ("parser_failed", "the parser took longer than 1 s of CPU time"),
        }
