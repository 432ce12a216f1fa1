"""Near copies are grouped over all hosts, and who stands for a group depends on no order, shard or bucket."""

import functools
import tempfile
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.core.cycle import Cycle
from crawler.core.keys import url_key
from crawler.stages import fingerprint, merge, seed
from crawler.store import near
from crawler.store.lake import Lake
from crawler.store.state import open_state
from tests.store.small_lake import (
    DAY,
    Row,
    bucket_of_url,
    canonical,
    captured,
    known,
    lake_at,
    linked,
    observed,
    read,
    write,
)

A, B, C = "http://a.test/", "http://b.test/longer", "http://c.test/the/longest"
NEXT = Cycle(DAY.day + timedelta(days=1))
TEXT = 0x0123456789ABCDEF  # a SimHash
EDITED, REWRITTEN = TEXT ^ 0b1011, TEXT ^ 0xFF


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return lake_at(tmp_path)


def page(url: str, simhash: int | None, **fields: Any) -> Row:
    """An observation of a page whose body no other has."""
    return observed(url, f"{url} {simhash} {sorted(fields.items())}", simhash=simhash, **fields)


def see(lake: Lake, *rows: Row, cycle: Cycle = DAY) -> None:
    """Each row by an owner of its own, in their order."""
    for row in rows:
        write(lake, bucket_of_url(lake, row["url"]), {"url": [known(row["url"])], "observation": [row]}, cycle=cycle)


def group(lake: Lake, cycle: Cycle = DAY, shards: Sequence[int] = ()) -> dict[str, str]:
    """Run the stages that group; returns by URL of a near copy the one that stands for it."""
    for shard in shards or range(lake.buckets):
        fingerprint.run(lake, cycle, shard)
    for bucket in range(lake.buckets):
        merge.run(lake, cycle, bucket)
    return near_of(lake)


def near_of(lake: Lake) -> dict[str, str]:
    found: dict[str, str] = {}
    for bucket in range(lake.buckets):
        con = lake.connect()
        open_state(lake, con, bucket, lake.settled("bucket", bucket))
        found |= dict(con.sql("SELECT url, near_of FROM state_page WHERE near_of IS NOT NULL").fetchall())
    return found


def test_of_near_copies_that_arrive_together_the_shortest_url_stands_for_all_of_any_host(tmp_path: Path) -> None:
    lake = lake_at(tmp_path, buckets=2)
    assert len({bucket_of_url(lake, url) for url in (A, B, C)}) == 2
    see(lake, page(C, EDITED), page(B, TEXT), page(A, TEXT ^ 1), page(f"{A}other", REWRITTEN))
    assert group(lake) == {B: A, C: A}


def test_who_is_known_stands_for_who_comes_later(lake: Lake) -> None:
    see(lake, page(C, TEXT))
    assert group(lake) == {}
    see(lake, page(A, EDITED), cycle=NEXT)
    assert group(lake, NEXT) == {A: C}


def test_a_page_that_changes_leaves_its_group_and_is_looked_up_no_more(lake: Lake) -> None:
    see(lake, page(A, TEXT), page(B, EDITED))
    assert group(lake) == {B: A}
    see(lake, page(B, REWRITTEN, content_changed=True), cycle=NEXT)
    assert group(lake, NEXT) == {}
    see(lake, page(A, ~TEXT % 2**64, content_changed=True), page(C, TEXT), cycle=NEXT)
    assert group(lake, NEXT) == {}


def test_a_page_that_is_gone_stands_for_nobody_who_comes_later(lake: Lake) -> None:
    see(lake, page(A, TEXT))
    group(lake)
    see(lake, observed(A, outcome="gone", status=404), cycle=NEXT)
    see(lake, page(B, TEXT), cycle=NEXT)
    assert group(lake, NEXT) == {}


@pytest.mark.parametrize("again", [{"outcome": "not_modified"}, {"content_changed": False}], ids=["304", "200"])
def test_a_page_that_has_not_changed_stays_in_its_group(lake: Lake, again: dict[str, Any]) -> None:
    see(lake, page(A, TEXT), page(C, EDITED))
    group(lake)
    see(lake, page(C, EDITED, **again), page(B, TEXT), cycle=NEXT)
    assert group(lake, NEXT) == {B: A, C: A}


def test_an_edit_of_the_one_that_stands_leaves_it_standing(lake: Lake) -> None:
    see(lake, page(C, TEXT), page(f"{C}/copy", TEXT))
    group(lake)
    see(lake, page(C, TEXT ^ 1, content_changed=True), cycle=NEXT)
    assert group(lake, NEXT) == {f"{C}/copy": C}
    see(lake, page(A, TEXT ^ 2), cycle=NEXT)
    assert group(lake, NEXT) == {f"{C}/copy": C, A: C}


@pytest.mark.parametrize("named", [{A: C}, {A: C, B: C}, {C: C}], ids=["once", "twice", "by itself"])
def test_who_is_named_as_canonical_stands_for_the_others(lake: Lake, named: dict[str, str]) -> None:
    see(lake, *(page(url, TEXT, canonical_url=named.get(url)) for url in (A, B, C)))
    assert group(lake) == {A: C, B: C}


def test_nobody_stands_for_the_page_that_it_names_as_canonical(lake: Lake) -> None:
    see(lake, page(A, TEXT, canonical_url=B))
    group(lake)
    see(lake, page(B, TEXT), cycle=NEXT)
    assert group(lake, NEXT) == {}


def test_pages_that_arrived_together_and_lead_to_each_other_are_one_group(lake: Lake) -> None:
    see(lake, page(C, TEXT), page(B, TEXT ^ 0b111), page(A, TEXT ^ 0b111111))
    assert group(lake) == {C: A, B: A}


def test_near_copies_keep_their_bodies_and_their_links_count(lake: Lake) -> None:
    seed.run(lake, [A, B])
    for url in (A, B):
        rows = {"observation": [page(url, TEXT)], "capture": [captured(url, url)], "link": [linked(url, f"{url}/next")]}
        write(lake, bucket_of_url(lake, url), rows)
    group(lake)
    assert {row["url"] for row in read(lake, "capture")} == {A, B}
    assert {row["url"] for row in read(lake, "url")} >= {f"{url}/next" for url in (A, B)}


def test_exact_copies_are_in_the_group_too(lake: Lake) -> None:
    rows = [observed(url, "same", simhash=TEXT) for url in (A, B)]
    see(lake, *rows, page(C, EDITED))
    assert group(lake) == {B: A, C: A}
    assert [row["first_url"] for row in read(lake, "duplicate")].count(A) == 1


def test_pages_without_a_simhash_are_in_no_group(lake: Lake) -> None:
    see(lake, page(A, None), page(B, None))
    assert group(lake) == {}


def test_a_distance_of_0_bits_turns_the_search_off(tmp_path: Path) -> None:
    lake = lake_at(tmp_path, copies={"max_distance": 0})
    see(lake, page(A, TEXT), page(B, TEXT))
    assert group(lake) == {}
    assert read(lake, "near", kind="shard") == []


def test_a_page_that_was_not_looked_up_by_all_its_keys_says_so(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near, "find_pairs", functools.partial(near.find_pairs, most_alike=2))
    urls = [f"{A}{number}" for number in range(4)]
    see(lake, *(page(url, number) for number, url in enumerate(urls)))
    assert group(lake) == {urls[1]: urls[0]}
    skipped = {row["url_key"]: row["near_skipped"] for row in read(lake, "duplicate")}
    assert skipped == {url_key(urls[1]): 0, url_key(urls[2]): 6, url_key(urls[3]): 6}, "of ten"


# The laws

HOSTS = ("a.test", "b.test", "c.test")
PAGES = st.dictionaries(
    st.builds("http://{}/{}".format, st.sampled_from(HOSTS), st.sampled_from(["", "x", "yy", "zzz"])),
    st.tuples(
        st.sets(st.integers(0, 63), max_size=5), st.none() | st.sampled_from([f"http://{host}/" for host in HOSTS])
    ),
    min_size=2,
    max_size=9,
)


def by_a_plain_loop(pages: dict[str, Row]) -> dict[str, str]:
    """Who stands for whom of pages that arrive together."""
    named = {row["canonical_url"] for url, row in pages.items() if row["canonical_url"] not in (None, url)}

    def standing(url: str) -> tuple[int, int, str]:
        said = pages[url]["canonical_url"]
        return 0 if url in named or said == url else 2 if said else 1, len(url), url

    before: dict[str, str] = {}
    for url, row in pages.items():
        near = (other for other in pages if (row["simhash"] ^ pages[other]["simhash"]).bit_count() <= 3)
        first = min(near, key=standing)
        if first != url and pages[first]["canonical_url"] != url:
            before[url] = first
    stands = dict(before)
    for url in before:
        while stands[url] in before:
            stands[url] = before[stands[url]]
    return stands


@settings(max_examples=6, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(PAGES, st.randoms(use_true_random=False), st.sampled_from([1, 2]))
def test_who_stands_for_whom_is_what_a_plain_loop_says_whatever_the_order(
    drawn: dict[str, tuple[set[int], str | None]], chance: Any, buckets: int
) -> None:
    pages = {}
    for address, (bits, said) in drawn.items():
        url = canonical(address).url
        pages[url] = page(url, functools.reduce(lambda value, bit: value ^ 1 << bit, bits, TEXT), canonical_url=said)
    rows, shards = list(pages.values()), list(range(buckets))
    chance.shuffle(rows)
    chance.shuffle(shards)
    with tempfile.TemporaryDirectory() as root:
        lake = lake_at(root, buckets=buckets)
        by_bucket: dict[int, list[Row]] = {}
        for row in rows:
            by_bucket.setdefault(bucket_of_url(lake, row["url"]), []).append(row)
        for bucket, own in by_bucket.items():
            write(lake, bucket, {"url": [known(row["url"]) for row in own], "observation": own})
        assert group(lake, shards=shards) == by_a_plain_loop(pages)
