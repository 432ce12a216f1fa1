"""Links become known URLs exactly once, those of copies never, and what a rule stops is counted."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from crawler.core.cycle import Cycle
from crawler.core.errors import BucketTaken
from crawler.stages import fingerprint, merge, seed
from crawler.store.lake import Lake
from crawler.store.state import checkpoint_epochs
from tests.store.small_lake import (
    DAY,
    NOON,
    Row,
    bucket_of_url,
    captured,
    digest,
    known,
    lake_at,
    linked,
    observed,
    read,
    write,
)

A, B = "http://a.test/", "http://b.test/"
NEXT = Cycle(DAY.day + timedelta(days=1))


def seeded(root: Path, *, buckets: int = 1, **sections: Any) -> Lake:
    """A lake whose seeds are A and B."""
    lake = lake_at(root, buckets=buckets, **sections)
    seed.run(lake, [A, B])
    return lake


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return seeded(tmp_path)


@pytest.fixture
def two(tmp_path: Path) -> Lake:
    """A lake of two buckets, with a seed in each."""
    lake = seeded(tmp_path, buckets=2)
    assert bucket_of_url(lake, A) != bucket_of_url(lake, B)
    return lake


def page(lake: Lake, url: str, body: str, *links: Row | str, cycle: Cycle = DAY, **fields: Any) -> None:
    """Write a fetch of `url`: its observation, capture and links."""
    rows = [link if isinstance(link, dict) else linked(url, link) for link in links]
    captures = [captured(url, body)] if fields.get("stored", True) else []
    write(
        lake,
        bucket_of_url(lake, url),
        {"capture": captures, "link": rows, "observation": [observed(url, body, **fields)]},
        cycle=cycle,
    )


def find_copies(lake: Lake, cycle: Cycle = DAY) -> None:
    for shard in range(lake.buckets):
        fingerprint.run(lake, cycle, shard)


def merge_all(lake: Lake, cycle: Cycle = DAY) -> dict[str, int]:
    """Fingerprint and merge everything; returns the sums of new and rejected URLs."""
    find_copies(lake, cycle)
    results = [merge.run(lake, cycle, bucket) for bucket in range(lake.buckets)]
    return {name: sum(result[name] for result in results) for name in ("new", "rejected")}


def found(lake: Lake) -> dict[str, Row]:
    """The rows of table url that merges wrote, each once."""
    rows = [row for row in read(lake, "url") if row["kind"] != "seed"]
    assert len({row["url_key"] for row in rows}) == len(rows), "a URL was added twice"
    return {row["url"]: row for row in rows}


def rejected(lake: Lake) -> dict[str, tuple[int, str]]:
    return {row["rule"]: (row["urls"], row["example"]) for row in read(lake, "rejected")}


def test_a_link_makes_a_url_known_one_link_farther_than_its_source(lake: Lake) -> None:
    page(lake, A, "front", linked(A, f"{A}1", source_depth=4, kind="area"))
    assert merge_all(lake) == {"new": 1, "rejected": 0}
    row = found(lake)[f"{A}1"]
    told = [row[name] for name in ("depth", "hops", "is_seed", "kind", "source_url", "discovered_at", "cycle")]
    assert told == [5, 0, False, "area", A, NOON, DAY.day]


def test_links_go_to_the_bucket_of_their_target(two: Lake) -> None:
    page(two, A, "front of a", f"{B}1", f"{A}1")
    assert merge_all(two)["new"] == 2
    assert {url: row["bucket"] for url, row in found(two).items()} == {
        url: bucket_of_url(two, url) for url in (f"{A}1", f"{B}1")
    }


def test_a_known_url_is_not_found_again(lake: Lake) -> None:
    page(lake, A, "one", A, B, f"{A}1")
    assert merge_all(lake)["new"] == 1
    page(lake, B, "two", A, B, f"{A}1")
    assert merge_all(lake)["new"] == 0
    assert set(found(lake)) == {f"{A}1"}


def test_of_many_links_to_a_url_the_shallowest_tells_how_it_was_found(lake: Lake) -> None:
    page(lake, A, "one", linked(A, f"{A}1", source_depth=3))
    page(lake, B, "two", linked(B, f"{A}1", source_depth=2))
    merge_all(lake)
    assert (found(lake)[f"{A}1"]["depth"], found(lake)[f"{A}1"]["source_url"]) == (3, B)


def test_a_nofollow_link_is_not_followed_but_another_to_the_same_url_is(lake: Lake) -> None:
    page(lake, A, "one", linked(A, f"{A}1", nofollow=True), linked(A, f"{A}2", nofollow=True))
    assert merge_all(lake) == {"new": 0, "rejected": 0}
    page(lake, B, "two", f"{A}2")
    merge_all(lake)
    assert set(found(lake)) == {f"{A}2"}


# Copies


def test_links_of_a_copy_never_count_whichever_bucket_holds_it(two: Lake) -> None:
    page(two, A, "same", f"{A}of-the-first", f"{B}of-the-first")
    page(two, B + "copy", "same", f"{A}of-the-copy", f"{B}of-the-copy")
    merge_all(two)
    assert set(found(two)) == {f"{A}of-the-first", f"{B}of-the-first"}


def test_links_of_a_copy_of_the_text_do_not_count_either(lake: Lake) -> None:
    page(lake, A, "one", copy_digest=digest("text"))
    page(lake, B + "copy", "two", f"{A}of-the-copy", copy_digest=digest("text"))
    assert merge_all(lake)["new"] == 0


def test_links_of_a_copy_do_not_count_when_its_first_came_in_an_earlier_cycle(lake: Lake) -> None:
    page(lake, A + "long", "same")
    merge_all(lake)
    page(lake, B, "same", f"{B}of-the-copy", cycle=NEXT)
    assert merge_all(lake, NEXT)["new"] == 0


def test_a_copy_that_changes_has_links_again(lake: Lake) -> None:
    page(lake, A, "same")
    page(lake, B + "copy", "same", f"{B}of-the-copy")
    page(lake, B + "copy", "other", f"{B}of-the-other")
    merge_all(lake)
    assert set(found(lake)) == {f"{B}of-the-other"}


def test_no_link_is_read_before_all_shards_have_seen_its_source(two: Lake) -> None:
    page(two, A, "front", f"{A}1")
    for shards in range(two.buckets):
        assert all(merge.run(two, DAY, bucket)["new"] == 0 for bucket in range(2)), f"{shards} shards have run"
        fingerprint.run(two, DAY, shards)
    assert merge_all(two)["new"] == 1


def test_a_copy_names_its_first_in_its_own_bucket(two: Lake) -> None:
    page(two, A, "same")
    page(two, B + "copy", "same")
    merge_all(two)
    (row,) = read(two, "duplicate")
    assert (row["bucket"], row["first_url"], row["body_digest"]) == (bucket_of_url(two, B), A, digest("same"))


def test_the_body_of_mirrors_is_kept_once_over_all_buckets(two: Lake) -> None:
    page(two, A, "same")
    page(two, B + "copy", "same")
    page(two, B, "own")
    assert len(read(two, "capture")) == 3
    merge_all(two)
    assert sorted(row["url"] for row in read(two, "capture")) == [A, B]
    page(two, B + "third", "same")
    merge_all(two)
    assert sorted(row["url"] for row in read(two, "capture")) == [A, B]


def test_a_body_whose_first_may_not_be_stored_is_kept_by_the_next(lake: Lake) -> None:
    page(lake, A, "same", stored=False)
    page(lake, B + "copy", "same")
    merge_all(lake)
    assert [row["url"] for row in read(lake, "capture")] == [B + "copy"]


# Late, cleared and repeated


def test_links_of_a_late_fetch_are_found_by_the_next_merge_of_any_cycle(two: Lake) -> None:
    page(two, A, "today", f"{A}1", cycle=NEXT)
    merge_all(two, NEXT)
    page(two, B, "late", f"{A}2", f"{B}2", cycle=DAY)
    assert merge_all(two, NEXT)["new"] == 2
    assert {url: row["cycle"] for url, row in found(two).items()} == dict.fromkeys(
        [f"{A}1", f"{A}2", f"{B}2"], NEXT.day
    )


def test_links_that_a_cleared_fetch_writes_again_are_not_read_again(lake: Lake) -> None:
    page(lake, A, "same")
    page(lake, B + "copy", "same", f"{B}of-the-copy")
    merge_all(lake)
    bucket = bucket_of_url(lake, B)
    again = {table: [row for row in read(lake, table) if row["bucket"] == bucket] for table in ("observation", "link")}
    write(lake, bucket, again, finished=True)
    assert len(read(lake, "link")) == 1
    assert merge_all(lake) == {"new": 0, "rejected": 0}


def test_a_merge_that_is_run_again_finds_nothing_and_writes_nothing(lake: Lake) -> None:
    page(lake, A, "front", f"{A}1", f"{A}2")
    assert merge_all(lake)["new"] == 2
    before = lake.current("url", "bucket", 0, lake.settled("bucket", 0))
    assert merge.run(lake, DAY, 0) == {"bucket": 0, "new": 0, "rejected": 0, "checkpoint": 0}
    assert lake.current("url", "bucket", 0, lake.settled("bucket", 0)) == before


def test_a_merge_that_is_killed_before_its_last_file_is_done_again(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    page(lake, A, "front", f"{A}1")
    find_copies(lake)
    bucket = bucket_of_url(lake, A)
    put = lake.files.put

    def die_at_the_lead(staged: Path, name: str) -> None:
        if "/url/" in f"/{name}":
            raise KeyboardInterrupt
        put(staged, name)

    with monkeypatch.context() as patch:
        patch.setattr(lake.files, "put", die_at_the_lead)
        with pytest.raises(KeyboardInterrupt):
            merge.run(lake, DAY, bucket)
    assert found(lake) == {}
    assert merge.run(lake, DAY, bucket)["new"] == 1
    assert set(found(lake)) == {f"{A}1"}


def test_a_bucket_that_somebody_owns_is_left_to_its_owner(two: Lake) -> None:
    with two.own("bucket", 1, DAY), pytest.raises(BucketTaken, match="bucket=0001"):
        merge.run(two, DAY, 1)


# Rules


def test_a_trap_and_a_url_out_of_scope_are_counted_by_rule_with_an_example(tmp_path: Path) -> None:
    lake = seeded(tmp_path, scope={"rules": [{"deny": "/private/"}]})
    traps = [linked(A, f"{A}{'x/' * n}", trap="traps.max_depth") for n in (1, 2)]
    page(lake, A, "front", *traps, "http://else.test/", f"{B}private/1", f"{B}public/1")
    assert merge_all(lake) == {"new": 1, "rejected": 4}
    assert set(found(lake)) == {f"{B}public/1"}
    assert rejected(lake) == {
        "traps.max_depth": (2, f"{A}x/"),
        "scope.hosts": (1, "http://else.test/"),
        "scope.rules deny /private/": (1, f"{B}private/1"),
    }


def test_a_url_that_a_changed_scope_lets_in_is_found_when_it_is_linked_again(tmp_path: Path) -> None:
    page(seeded(tmp_path, scope={"rules": [{"deny": "/later/"}]}), A, "front", f"{A}later/1")
    narrow = seeded(tmp_path, scope={"rules": [{"deny": "/later/"}]})
    assert merge_all(narrow) == {"new": 0, "rejected": 1}
    wide = seeded(tmp_path)
    assert merge_all(wide)["new"] == 0
    page(wide, A, "front with news", f"{A}later/1")
    assert merge_all(wide)["new"] == 1


def test_another_host_is_followed_for_so_many_hops_from_the_seeds_hosts(tmp_path: Path) -> None:
    lake = seeded(tmp_path, scope={"max_hops": 1})
    page(lake, A, "front", linked(A, "http://far.test/", source_hops=0))
    merge_all(lake)
    assert found(lake)["http://far.test/"]["hops"] == 1
    page(
        lake,
        "http://far.test/",
        "far",
        linked("http://far.test/", "http://farther.test/", source_hops=1),
        linked("http://far.test/", f"{A}back", source_hops=1),
    )
    assert merge_all(lake) == {"new": 1, "rejected": 1}
    assert found(lake)[f"{A}back"]["hops"] == 0, "the hosts in scope are where hops begin"


def test_a_host_grows_up_to_its_limit_shallow_urls_first(tmp_path: Path) -> None:
    lake = seeded(tmp_path, traps={"max_urls_per_host": 3})
    page(lake, A, "front", *(linked(A, f"{A}{depth}", source_depth=depth) for depth in (4, 1, 3, 2)), f"{B}1")
    assert merge_all(lake) == {"new": 3, "rejected": 2}
    assert set(found(lake)) == {f"{A}1", f"{A}2", f"{B}1"}
    assert rejected(lake)["traps.max_urls_per_host"][0] == 2


@pytest.mark.parametrize(("texts", "new"), [(["t"] * 10, 0), ([f"t{n}" for n in range(10)], 5)], ids=["same", "new"])
def test_a_path_pattern_grows_past_its_limit_only_while_it_brings_new_texts(
    tmp_path: Path, texts: list[str], new: int
) -> None:
    lake = seeded(tmp_path, traps={"max_urls_per_pattern": 10, "min_new_share": 0.2})
    bucket = bucket_of_url(lake, A)
    urls = [f"{A}calendar/{number}" for number in range(10)]
    write(lake, bucket, {"url": [known(url) for url in urls]})
    rows = [
        observed(url, f"body {number}", text_digest=digest(text))
        for number, (url, text) in enumerate(zip(urls, texts, strict=True))
    ]
    write(lake, bucket, {"observation": rows})
    page(lake, A, "front", *(f"{A}calendar/{number}" for number in range(10, 15)), f"{A}other")
    assert merge_all(lake)["new"] == new + 1
    assert rejected(lake) == ({} if new else {"traps.max_urls_per_pattern": (5, f"{A}calendar/10")})


# Checkpoints


def test_a_checkpoint_is_written_when_the_tail_has_grown_past_its_share(tmp_path: Path) -> None:
    lake = lake_at(tmp_path, lake={"checkpoint_min_rows": 3, "checkpoint_share": 0.5})
    seed.run(lake, [A])
    page(lake, A, "front", *(f"{A}{number}" for number in range(9)))
    find_copies(lake)
    assert merge.run(lake, DAY, 0)["checkpoint"] == 0, "one URL was touched"
    page(lake, A, "front again")
    find_copies(lake)
    assert merge.run(lake, DAY, 0)["checkpoint"] == 10
    (first,) = checkpoint_epochs(lake, 0)
    for number in range(6):
        page(lake, f"{A}{number}", f"page {number}")
        find_copies(lake)
        assert merge.run(lake, DAY, 0)["checkpoint"] == (10 if number == 4 else 0), f"{number + 1} of 10 are touched"
    assert len(checkpoint_epochs(lake, 0)) == 2
    assert first == checkpoint_epochs(lake, 0)[0]
