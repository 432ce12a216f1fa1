"""What publish summarises is what its views say, and stays as it was."""

from pathlib import Path

import pytest

from crawler.core.errors import CorruptLake
from crawler.stages import publish
from crawler.store.summary import SUMMARIES, Summary, summaries
from tests.store.small_cycle import CYCLES, run_whole, seeded_lake
from tests.store.small_web import A, bucket_of_url

BUCKET_A = bucket_of_url(A)


def test_a_publication_is_summarised_as_the_crawl_stood_then(tmp_path: Path) -> None:
    lake = seeded_lake(tmp_path)
    for cycle in CYCLES[:3]:
        run_whole(lake, cycle)
    first, second, third = summaries(lake, 10)
    assert [first.cycle, second.cycle, third.cycle] == [str(cycle) for cycle in CYCLES[:3]]
    assert (first.crawl["known_urls"], first.crawl["fetched"]) == (5, 2)
    assert (third.crawl["known_urls"], third.crawl["fetched"], third.crawl["fresh_day"]) == (6, 6, 6)
    assert {host["host"]: (host["known_urls"], host["live"]) for host in third.hosts} == {
        "a.test": (3, 3),
        "b.test": (3, 3),
    }
    assert third.did["fetched"] == sum(outcome["observations"] for outcome in third.outcomes) == 6
    assert (third.politeness["requests"], third.politeness["violations"]) == (6, 0)


def test_a_new_publication_of_a_cycle_has_a_summary_of_its_own_and_the_newest_counts(tmp_path: Path) -> None:
    lake = seeded_lake(tmp_path)
    run_whole(lake, CYCLES[0], [BUCKET_A])
    assert [summary.did["failed_buckets"] for summary in summaries(lake, 1)] == [1]
    run_whole(lake, CYCLES[0])
    assert lake.files.names(f"{SUMMARIES}/cycle={CYCLES[0]}") == ["0001.json", "0002.json"]
    (newest,) = summaries(lake, 1)
    assert (newest.number, newest.did["failed_buckets"]) == (2, 0)


def test_publishing_again_leaves_earlier_summaries_as_they_were(tmp_path: Path) -> None:
    lake = seeded_lake(tmp_path)
    run_whole(lake, CYCLES[0])
    before = lake.files.read(f"{SUMMARIES}/cycle={CYCLES[0]}/0001.json")
    publish.run(lake, CYCLES[0])
    assert lake.files.read(f"{SUMMARIES}/cycle={CYCLES[0]}/0001.json") == before


def test_a_file_that_is_no_summary_is_named() -> None:
    with pytest.raises(CorruptLake, match="somewhere"):
        Summary.from_json(b"{}", "somewhere")
