"""Aliases: where the chains of rel=canonical end, and which have no end."""

from typing import Any

import duckdb
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.core.keys import url_key
from crawler.store import query

MOST_STEPS = 10


def lake(named: dict[str, str | None], **facts: dict[str, Any]) -> duckdb.DuckDBPyConnection:
    """A connection with views page and alias; named: the canonical URL of each page; facts: more columns, by page."""
    con = duckdb.connect()
    con.execute(
        "CREATE TABLE page (url_key UBIGINT, host VARCHAR, url VARCHAR, canonical_url VARCHAR, outcome VARCHAR, "
        "noindex BOOLEAN)"
    )
    for url, canonical in named.items():
        row = {"host": url[0], "outcome": "ok", "noindex": False} | facts.get(url, {})
        values = [url_key(url), row["host"], url, canonical, row["outcome"], row["noindex"]]
        con.execute("INSERT INTO page VALUES (?, ?, ?, ?, ?, ?)", values)
    con.execute(query.sql_text("views/07_alias"))
    return con


def aliases(con: duckdb.DuckDBPyConnection) -> dict[str, tuple[str, int]]:
    return {url: (end, steps) for url, end, steps in con.execute("SELECT url, alias_of, steps FROM alias").fetchall()}


def test_a_chain_is_followed_to_its_end_across_hosts() -> None:
    con = lake({"a1": "a2", "a2": "b1", "b1": "b1", "a3": None, "a4": "unknown"})
    assert aliases(con) == {"a1": ("b1", 2), "a2": ("b1", 1), "a4": ("unknown", 1)}
    assert con.execute("SELECT url FROM alias WHERE is_elsewhere ORDER BY url").fetchall() == [("a1",), ("a2",)]


def test_a_loop_and_what_leads_into_it_give_no_alias() -> None:
    assert aliases(lake({"a": "b", "b": "a", "c": "a", "d": "e"})) == {"d": ("e", 1)}


def test_a_chain_of_more_than_ten_steps_is_not_believed() -> None:
    found = aliases(lake({f"{n:02}": f"{n + 1:02}" for n in range(20)}))
    assert found == {f"{n:02}": ("20", 20 - n) for n in range(10, 20)}


@given(st.dictionaries(st.sampled_from("abcdefghijklmn"), st.none() | st.sampled_from("abcdefghijklmnxy")))
@settings(max_examples=40, deadline=None)
def test_it_is_what_walking_from_page_to_page_finds(named: dict[str, str | None]) -> None:
    expected = {}
    for url in named:
        end, steps = url, 0
        while steps <= MOST_STEPS and (named.get(end) or end) != end:
            end, steps = str(named[end]), steps + 1
        if 1 <= steps <= MOST_STEPS:
            expected[url] = (end, steps)
    assert aliases(lake(named)) == expected


def test_the_report_says_what_the_aliases_of_a_host_are_worth() -> None:
    con = lake(
        {"a1": "a2", "a2": None, "a3": "a4", "a4": "a3", "a5": "b1", "b1": "b1", "a6": "gone", "c1": "c2", "c2": None},
        b1={"noindex": True},
        c2={"outcome": "gone"},
    )
    found = con.execute(query.sql_text("reports/aliases"))
    names = [column[0] for column in found.description or ()]
    rows = {row[0]: dict(zip(names, row, strict=True)) for row in found.fetchall()}
    counts = ("pages", "targets", "in_loops", "longest_chain", "to_other_hosts", "to_pages_not_there", "to_noindex")
    assert {host: [row[name] for name in counts] for host, row in rows.items()} == {
        "a": [5, 3, 2, 1, 1, 1, 1],
        "c": [1, 1, 0, 1, 0, 1, 0],
    }
