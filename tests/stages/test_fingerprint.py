"""Every digest has one first URL and one kept body, over all buckets, hosts and cycles."""

import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.core.cycle import Cycle
from crawler.core.errors import BucketTaken
from crawler.stages import fingerprint
from crawler.store.lake import Lake
from tests.store.small_lake import DAY, Row, bucket_of_url, digest, lake_at, observed, read, write

SHORT, LONG, LATER = "http://a.test/", "http://b.test/longer", "http://c.test"
NEXT = Cycle(DAY.day + timedelta(days=1))


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    made = lake_at(tmp_path, buckets=2)
    assert bucket_of_url(made, SHORT) != bucket_of_url(made, LONG), "the copies lie in different buckets"
    return made


def see(lake: Lake, *rows: Row, cycle: Cycle = DAY) -> None:
    for bucket in range(lake.buckets):
        own = [row for row in rows if bucket_of_url(lake, row["url"]) == bucket]
        if own:
            write(lake, bucket, {"observation": own}, cycle=cycle)


def find(lake: Lake, cycle: Cycle = DAY) -> int:
    """Run all shards; returns how many digests arrived."""
    return sum(fingerprint.run(lake, cycle, shard)["digests"] for shard in range(lake.buckets))


def firsts(lake: Lake, kind: str = "body") -> dict[str, str]:
    """By URL the one that brought its newest content first."""
    return {row["url"]: row["first_url"] for row in read(lake, "copy", kind="shard") if row["kind"] == kind}


def holders(lake: Lake) -> list[str]:
    return [row["url"] for row in read(lake, "copy", kind="shard") if row["is_holder"]]


def test_of_copies_that_arrive_together_the_shortest_url_is_first(lake: Lake) -> None:
    see(lake, observed(LONG, "same"), observed(SHORT, "same"))
    assert find(lake) == 2
    assert firsts(lake) == {LONG: SHORT, SHORT: SHORT}
    assert holders(lake) == [SHORT]


def test_of_copies_with_urls_of_one_length_the_first_by_the_alphabet_is_first(lake: Lake) -> None:
    urls = [f"http://{host}.test/" for host in "dbca"]
    see(lake, *(observed(url, "same") for url in urls))
    find(lake)
    assert set(firsts(lake).values()) == {"http://a.test/"}


def test_who_was_first_stays_first_whoever_comes_later(lake: Lake) -> None:
    see(lake, observed(LONG, "same"))
    find(lake)
    see(lake, observed(SHORT, "same"), cycle=NEXT)
    find(lake, NEXT)
    assert firsts(lake) == {LONG: LONG, SHORT: LONG}
    assert holders(lake) == [LONG]


def test_a_first_that_changes_gives_its_place_to_nobody(lake: Lake) -> None:
    see(lake, observed(SHORT, "same"))
    find(lake)
    see(lake, observed(SHORT, "other"))
    see(lake, observed(LONG, "same"))
    find(lake)
    assert firsts(lake) == {SHORT: SHORT, LONG: SHORT}


def test_equal_text_and_outlinks_make_a_copy_though_the_bytes_differ(lake: Lake) -> None:
    see(lake, observed(SHORT, "one", copy_digest=digest("text")), observed(LONG, "two", copy_digest=digest("text")))
    assert find(lake) == 4
    assert firsts(lake, "text") == {SHORT: SHORT, LONG: SHORT}
    assert firsts(lake) == {SHORT: SHORT, LONG: LONG}
    assert holders(lake) == [SHORT, LONG] or holders(lake) == [LONG, SHORT], "each body is kept"


@pytest.mark.parametrize(
    "fields", [{"outcome": "not_modified"}, {"outcome": "gone"}, {"body_digest": None}], ids=["304", "gone", "no body"]
)
def test_only_a_body_that_came_is_a_content(lake: Lake, fields: dict[str, Any]) -> None:
    see(lake, observed(SHORT, "same", **fields))
    assert find(lake) == 0


def test_a_body_that_is_not_to_be_stored_makes_copies_but_holds_nothing(lake: Lake) -> None:
    see(lake, observed(SHORT, "same", stored=False), observed(LONG, "same"))
    find(lake)
    assert firsts(lake)[LONG] == SHORT
    assert holders(lake) == [LONG]


def test_each_digest_is_read_once_and_a_run_without_news_writes_nothing(lake: Lake) -> None:
    see(lake, observed(SHORT, "same"))
    assert find(lake) == 1
    assert find(lake) == 0
    before = read(lake, "copy", kind="shard")
    see(lake, observed(LONG, "else"), cycle=NEXT)
    assert find(lake, DAY) == 1, "whichever cycle brought it and whichever asks"
    assert len(read(lake, "copy", kind="shard")) == len(before) + 1


def test_what_a_running_fetch_has_written_is_not_read_yet(lake: Lake) -> None:
    bucket = bucket_of_url(lake, SHORT)
    with lake.own("bucket", bucket, DAY):
        assert find(lake) == 0
    see(lake, observed(SHORT, "same"))
    assert find(lake) == 1


def test_a_bucket_that_nobody_ever_owned_is_read_when_somebody_has(lake: Lake) -> None:
    see(lake, observed(SHORT, "same"))
    find(lake)
    see(lake, observed(LONG, "same"))
    assert find(lake) == 1
    assert firsts(lake)[LONG] == SHORT


def test_a_shard_that_somebody_owns_is_left_to_its_owner(lake: Lake) -> None:
    with lake.own("shard", 1, DAY), pytest.raises(BucketTaken, match="shard=0001"):
        fingerprint.run(lake, DAY, 1)


def test_every_digest_falls_into_one_shard(tmp_path: Path) -> None:
    lake = lake_at(tmp_path, buckets=4)
    edges = [b"\x00" * 32, b"\x3f" + b"\xff" * 31, b"\x40" + b"\x00" * 31, b"\xc0" + b"\x00" * 31, b"\xff" * 32]
    see(lake, *(observed(f"{SHORT}{n}", body_digest=edge) for n, edge in enumerate(edges)))
    assert [fingerprint.run(lake, DAY, shard)["digests"] for shard in range(4)] == [2, 1, 0, 2]


URLS = [f"http://{host}.test/{'x' * length}" for host in "abc" for length in range(3)]
BATCHES = st.lists(
    st.dictionaries(st.sampled_from(URLS), st.tuples(st.sampled_from("dDe"), st.booleans()), max_size=6), max_size=4
)


@settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(BATCHES)
def test_firsts_and_holders_are_those_of_a_plain_loop(batches: list[dict[str, tuple[str, bool]]]) -> None:
    first: dict[str, str] = {}
    holder: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as root:
        lake = lake_at(root, buckets=2)
        for number, batch in enumerate(batches):
            at = DAY.start + timedelta(hours=number)
            see(lake, *(observed(url, body, stored=stored, at=at) for url, (body, stored) in batch.items()))
            find(lake)
            for body in {body for body, _ in batch.values()}:
                brought = sorted((len(url), url) for url, (found, _) in batch.items() if found == body)
                first.setdefault(body, brought[0][1])
                kept = sorted((len(url), url) for url, found in batch.items() if found == (body, True))
                if kept:
                    holder.setdefault(body, kept[0][1])
        rows = read(lake, "copy", kind="shard")
    assert len(rows) == sum(map(len, batches))
    for body in "dDe":
        own = [row for row in rows if row["digest"] == digest(body)]
        assert {row["first_url"] for row in own} == {first[body]} if own else body not in first
        assert all(row["is_first"] == (row["url"] == first[body]) for row in own)
        assert [row["url"] for row in own if row["is_holder"]] == ([holder[body]] if body in holder else [])
