"""Seeds are known, in scope, and harmless to name again."""

from pathlib import Path

import pytest

from crawler.core.errors import BadSeeds, BucketTaken
from crawler.stages import fingerprint, merge, plan, seed
from crawler.store.lake import Lake
from crawler.store.marks import read_marks
from tests.store.small_lake import DAY, Row, bucket_of_url, lake_at, linked, make_known, observed, read, write
from tests.store.test_state import fold

URL = "http://a.test/"


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return lake_at(tmp_path)


def known(lake: Lake) -> dict[str, Row]:
    return {row["url"]: row for row in read(lake, "url")}


def test_a_line_is_a_url_and_what_is_none_is_counted_by_reason(lake: Lake) -> None:
    lines = ["# where it starts", "", f"  {URL} ", "HTTP://A.test:80/#top", "http://b.test/b", "ftp://c.test/", "plain"]
    result = seed.run(lake, lines)
    assert (result["added"], sum(result["rejected"].values())) == (2, 2)
    assert set(known(lake)) == {URL, "http://b.test/b"}


def test_a_seed_stands_at_no_distance_from_the_start(lake: Lake) -> None:
    seed.run(lake, [URL])
    row = known(lake)[URL]
    found = [row[name] for name in ("is_seed", "depth", "hops", "kind", "source_url", "discovered_at")]
    assert found == [True, 0, 0, "seed", None, lake.clock.now()]


def test_each_seed_goes_into_the_bucket_of_its_host(tmp_path: Path) -> None:
    lake = lake_at(tmp_path, buckets=8)
    urls = [f"http://{host}.test/" for host in "abcdefgh"]
    seed.run(lake, urls)
    assert {url: row["bucket"] for url, row in known(lake).items()} == {url: bucket_of_url(lake, url) for url in urls}


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([], "there is no line with a URL"),
        (["# only this"], "there is no line"),
        (["ftp://a.test/"], r"no line is a URL"),
    ],
)
def test_seeds_without_a_url_are_a_mistake_and_change_nothing(lake: Lake, lines: list[str], problem: str) -> None:
    with pytest.raises(BadSeeds, match=f"seeds list.txt: {problem}"):
        seed.run(lake, lines, source="list.txt")
    assert known(lake) == {}
    assert lake.files.names("seed") == []


def test_seeding_again_adds_nothing_to_what_is_known(lake: Lake) -> None:
    for _ in range(2):
        seed.run(lake, [URL])
    assert list(fold(lake)) == [URL]
    assert plan.run(lake, DAY, 0)["candidates"] == 1


def test_a_known_url_becomes_a_seed_and_its_host_comes_into_scope(lake: Lake) -> None:
    make_known(lake, URL)
    seed.run(lake, ["http://b.test/"])
    assert plan.run(lake, DAY, 0)["candidates"] == 1, "by default the seeds' hosts are in scope"
    lake.files.delete(f"{lake.layout}/plan/bucket=0000/cycle={DAY}/plan.parquet")
    seed.run(lake, [URL])
    assert fold(lake)[URL]["is_seed"]
    assert plan.run(lake, DAY, 0)["candidates"] == 2


def test_seeds_of_a_bucket_that_is_owned_are_refused_and_can_be_named_again(lake: Lake) -> None:
    with lake.own("bucket", 0, DAY), pytest.raises(BucketTaken):
        seed.run(lake, [URL])
    assert seed.run(lake, [URL])["added"] == 1
    assert list(fold(lake)) == [URL]


def test_seeding_forgets_nothing_of_what_the_bucket_has_merged(lake: Lake) -> None:
    seed.run(lake, [URL])
    write(lake, 0, {"observation": [observed(URL, "one")], "link": [linked(URL, f"{URL}1")]})
    fingerprint.run(lake, DAY, 0)
    assert merge.run(lake, DAY, 0)["new"] == 1
    before = read_marks(lake, "url", "bucket", 0, lake.settled("bucket", 0))
    seed.run(lake, [f"{URL}2"])
    assert read_marks(lake, "url", "bucket", 0, lake.settled("bucket", 0)) == before


def test_a_second_list_of_seeds_stands_beside_the_first(lake: Lake) -> None:
    seed.run(lake, [URL])
    seed.run(lake, ["http://b.test/"])
    assert lake.files.names("seed") == ["0001.parquet", "0002.parquet"]
