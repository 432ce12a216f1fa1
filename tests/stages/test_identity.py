"""One page is one URL for every part of the product: rules of hosts, what is counted, and what is never written."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from crawler.core.clock import SystemClock
from crawler.core.cycle import Cycle
from crawler.core.fetch_settings import HostSettings
from crawler.core.url_settings import UrlSettings
from crawler.stages import fetch, plan, seed
from crawler.store import purges, query
from crawler.store.explain import explain
from crawler.store.lake import Lake
from crawler.store.plans import read_plan
from tests.stages.memory_ledger import MemoryLedger, make_settings
from tests.store.small_lake import DAY, bucket_of_url, lake_at, observed, write
from tests.web.site import PAGE, site

SECRET = "s3cr3t"
NO_CASE = HostSettings(ignore_path_case=True)


def with_rules(lake: Lake, own: HostSettings | None = None, urls: UrlSettings | None = None) -> Lake:
    """The lake under rules for a.test and for all hosts."""
    update = {"host": {"a.test": own or HostSettings()}, "urls": urls or UrlSettings()}
    changed = lake.settings.model_copy(update=update)
    return Lake(lake.files, lake.metadata, changed, lake.clock, lake.guard)


def planned(lake: Lake) -> set[str]:
    """The URLs that a plan would hold; the plan is taken back."""
    plan.run(lake, DAY, 0)
    found = read_plan(lake, DAY, 0)
    assert found is not None
    urls = pq.read_table(found.path, columns=["url"]).column("url").to_pylist()
    lake.files.delete(f"{lake.layout}/plan/bucket=0000/cycle={DAY}/plan.parquet")
    return set(urls)


def crawl(url: str, exchange: Any, own: HostSettings | None = None) -> MemoryLedger:
    """What a fetch of one URL writes. own: the settings of a.test."""
    ledger, settings = MemoryLedger([url]), make_settings()
    settings = settings.model_copy(update={"host": {"a.test": own or HostSettings()}})
    with site({url: exchange}) as server, server.intercept():
        fetch.fetch(ledger, settings, SystemClock(), Cycle(datetime.now(UTC).date()), 0, 1)
    return ledger


def test_what_links_lose_and_which_are_none_is_counted_for_each_page() -> None:
    links = ["/a?utm_source=1&ref=2", "/b?utm_source=3", "mailto:x@y.test", "javascript:1", "http://a%20b/"]
    body = "".join(f"<a href='{link}'>x</a>" for link in links)
    ledger = crawl("http://a.test/", {**PAGE, "body": body}, HostSettings(drop_parameters=("ref",)))
    (row,) = ledger.rows["observation"]
    assert row["links"] == 2
    assert row["rejected_links"] == [{"reason": "bad_scheme", "links": 2}, {"reason": "bad_url", "links": 1}]
    assert row["dropped_parameters"] == [{"name": "ref", "links": 1}, {"name": "utm_source", "links": 2}]
    assert {link["target_url"] for link in ledger.rows["link"]} == {"http://a.test/a", "http://a.test/b"}
    assert {link["target_fetch_url"] for link in ledger.rows["link"]} == {f"http://a.test{link}" for link in links[:2]}


@pytest.mark.parametrize(
    ("location", "aim", "rejected", "dropped"),
    [
        ("/B?ref=1", "http://a.test/b", None, [{"name": "ref", "links": 1}]),
        ("mailto:x@y.test", None, [{"reason": "bad_scheme", "links": 1}], None),
    ],
)
def test_a_redirect_leads_to_an_identity_by_the_same_rules(
    location: str, aim: str | None, rejected: Any, dropped: Any
) -> None:
    exchange = {"status": 301, "headers": [["Location", location]], "body": ""}
    ledger = crawl("http://a.test/", exchange, HostSettings(drop_parameters=("ref",), ignore_path_case=True))
    (row,) = ledger.rows["observation"]
    assert (row["redirect_url"], row["rejected_links"], row["dropped_parameters"]) == (aim, rejected, dropped)


def test_a_canonical_url_and_a_link_header_follow_the_rules_too() -> None:
    headers = [["Content-Type", "text/html"], ["Link", '</NEXT>; rel="next"']]
    body = "<head><link rel=canonical href='/PAGE?ref=1'></head>"
    exchange = {**PAGE, "headers": headers, "body": body}
    ledger = crawl("http://a.test/", exchange, HostSettings(drop_parameters=("ref",), ignore_path_case=True))
    (row,) = ledger.rows["observation"]
    assert row["canonical_url"] == "http://a.test/page"
    assert {link["target_url"] for link in ledger.rows["link"]} == {"http://a.test/page", "http://a.test/next"}
    assert row["dropped_parameters"] == [{"name": "ref", "links": 1}]


@pytest.mark.parametrize(
    "exchange",
    [
        {**PAGE, "body": f"<a href='http://u:{SECRET}@a.test/x'>x</a><a href='http://u:{SECRET}@a b/'>y</a>"},
        {**PAGE, "body": f"<base href='http://u:{SECRET}@a.test/d/'><a href='x'>x</a>"},
        {"status": 302, "headers": [["Location", f"http://u:{SECRET}@a.test/x"]], "body": ""},
        {"status": 302, "headers": [["Location", f"ftp://u:{SECRET}@a.test/x"]], "body": ""},
    ],
)
def test_a_password_in_a_url_is_written_nowhere_but_in_the_page_itself(exchange: Any, caplog: Any) -> None:
    ledger = crawl("http://a.test/", exchange)
    written = {table: rows for table, rows in ledger.rows.items() if table != "capture"}
    assert written["observation"]
    assert SECRET not in json.dumps(written, default=str)
    assert SECRET not in caplog.text


def test_of_urls_that_a_rule_makes_one_only_one_is_planned(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    seed.run(lake, ["http://a.test/Page", "http://a.test/PAGE", "http://a.test/other", "http://b.test/Page"])
    everything = {"http://a.test/Page", "http://a.test/PAGE", "http://a.test/other", "http://b.test/Page"}
    assert planned(lake) == everything
    ruled = with_rules(lake, NO_CASE)
    assert len(planned(ruled) & {"http://a.test/Page", "http://a.test/PAGE"}) == 1
    assert explain(ruled, "http://a.test/pAGE").next_plan.code == "renamed"
    seed.run(ruled, ["http://a.test/pAge"])
    assert planned(ruled) == {"http://a.test/page", "http://a.test/other", "http://b.test/Page"}
    assert planned(lake) == everything | {"http://a.test/page"}, "a rule that is taken back finds everything again"


def test_of_two_old_names_the_one_that_was_asked_for_stays(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    seed.run(lake, ["http://a.test/?s=1", "http://a.test/?s=2"])
    write(
        lake,
        0,
        {
            "observation": [
                observed("http://a.test/?s=2", outcome="timed_out", at=lake.clock.now() - timedelta(days=20))
            ]
        },
    )
    assert planned(with_rules(lake, urls=UrlSettings(drop_parameters=("s",)))) == {"http://a.test/?s=2"}


def test_a_purge_holds_whatever_the_url_is_called_later(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    seed.run(lake, ["http://a.test/Page", "http://a.test/other"])
    purges.purge(lake, "http://a.test/Page", "asked for")
    ruled = with_rules(lake, NO_CASE)
    assert seed.run(ruled, ["http://a.test/PAGE", "http://a.test/x"])["rejected"] == {"purged": 1}
    assert planned(ruled) == {"http://a.test/other", "http://a.test/x"}
    assert explain(ruled, "http://a.test/pAGE").next_plan.code == "purged"
    purges.lift(ruled, "http://a.test/page")
    assert purges.all_purges(ruled) == []
    assert purges.all_purges(lake) == []


def test_the_question_identity_shows_by_host_what_links_lose(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    rows = [
        observed(
            url, rejected_links=[{"reason": "bad_url", "links": 2}], dropped_parameters=[{"name": "ref", "links": n}]
        )
        for n, url in enumerate(["http://a.test/1", "http://a.test/2", "http://b.test/1"], start=1)
    ]
    for row in rows:
        write(lake, bucket_of_url(lake, row["url"]), {"observation": [row]})
    con = lake.connect()
    files = [
        file
        for b in range(lake.buckets)
        for file in lake.current("observation", "bucket", b, lake.written("bucket", b))
    ]
    query.view_files(con, "observation", "observation", lake.paths(files))
    assert con.execute(query.sql_text("reports/identity")).fetchall() == [
        ("a.test", "rejected", "bad_url", 4, 2),
        ("a.test", "dropped", "ref", 3, 2),
        ("b.test", "dropped", "ref", 3, 1),
        ("b.test", "rejected", "bad_url", 2, 1),
    ]
