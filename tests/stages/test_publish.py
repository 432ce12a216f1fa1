"""A cycle becomes visible whole, failed buckets stay out or as they were, and no publication goes back in time."""

from pathlib import Path

import pytest

from crawler.core.errors import StaleCheck
from crawler.stages import check, publish
from crawler.store.lake import Lake
from crawler.store.manifest import CHECKS, PUBLICATIONS, Manifest, create, gather, newest, published
from crawler.store.reader import open_reader
from tests.store.small_cycle import CYCLES, fetch_all, fold, prepare, seeded_lake
from tests.store.small_lake import write
from tests.store.small_web import A, B, bucket_of_url

CYCLE = CYCLES[0]
BUCKET_A, BUCKET_B = bucket_of_url(A), bucket_of_url(B)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """A planned cycle of two buckets with a page each."""
    made = seeded_lake(tmp_path)
    prepare(made, CYCLE)
    return made


def show(lake: Lake) -> set[str]:
    with open_reader(lake) as con:
        return {url for (url,) in con.execute("SELECT url FROM observation").fetchall()}


def complete(lake: Lake) -> dict[str, object]:
    check.run(lake, CYCLE)
    return publish.run(lake, CYCLE)


def test_a_failed_bucket_is_left_out_and_named_until_it_is_fetched(lake: Lake) -> None:
    fetch_all(lake, CYCLE, [BUCKET_A])
    result = complete(lake)
    assert (result["number"], result["buckets"], result["failed"]) == (1, 1, [BUCKET_B])
    assert show(lake) == {f"{A}/"}
    with open_reader(lake) as con:
        assert con.execute("SELECT buckets, failed_buckets FROM cycle").fetchall() == [(1, 1)]
    fetch_all(lake, CYCLE, [BUCKET_B])
    result = complete(lake)
    assert (result["number"], result["buckets"], result["failed"]) == (2, 2, [])
    assert show(lake) == {f"{A}/", f"{B}/"}


def test_a_published_bucket_that_fails_later_stays_as_it_was(lake: Lake) -> None:
    fetch_all(lake, CYCLE)
    fold(lake, CYCLE)
    complete(lake)
    (before,) = published(lake)
    write(lake, BUCKET_B, {"observation": []}, cycle=CYCLE, finished=False)
    assert complete(lake)["failed"] == [BUCKET_B]
    (after,) = published(lake)
    assert after.buckets[BUCKET_B] == before.buckets[BUCKET_B]
    assert set(before.plans) == set(after.plans)
    assert set(before.copies) <= set(after.copies)
    assert show(lake) == {f"{A}/", f"{B}/"}


def test_a_check_that_knows_less_than_the_publication_is_refused(lake: Lake) -> None:
    fetch_all(lake, CYCLE, [BUCKET_A])
    slow = gather(lake, CYCLE)
    fetch_all(lake, CYCLE, [BUCKET_B])
    fold(lake, CYCLE)
    complete(lake)
    assert create(lake, CHECKS, slow, 2)
    with pytest.raises(StaleCheck, match=f"newer rows of bucket {BUCKET_A}") as stale:
        publish.run(lake, CYCLE)
    assert stale.value.retryable
    assert show(lake) == {f"{A}/", f"{B}/"}
    assert complete(lake)["number"] == 2, "a new check and its publication are accepted"


def test_a_publication_that_another_run_makes_meanwhile_is_built_upon(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch_all(lake, CYCLE, [BUCKET_A])
    check.run(lake, CYCLE)
    raced = []

    def create_after_another(of: Lake, folder: str, manifest: Manifest, number: int) -> bool:
        if not raced:
            raced.append(create(of, folder, manifest, number))
        return create(of, folder, manifest, number)

    monkeypatch.setattr(publish, "create", create_after_another)
    assert publish.run(lake, CYCLE)["number"] == 2
    assert lake.files.names(f"{PUBLICATIONS}/cycle={CYCLE}") == ["0001.json", "0002.json"]


def test_publishing_a_check_again_changes_nothing_for_readers(lake: Lake) -> None:
    fetch_all(lake, CYCLE)
    complete(lake)
    before = show(lake)
    assert publish.run(lake, CYCLE)["number"] == 2
    assert show(lake) == before


def test_a_publication_names_exactly_the_files_that_its_check_read(lake: Lake) -> None:
    fetch_all(lake, CYCLE)
    check.run(lake, CYCLE)
    checked = newest(lake, CHECKS, str(CYCLE))
    fold(lake, CYCLE)
    publish.run(lake, CYCLE)
    assert checked is not None
    assert published(lake) == [checked[1]]


def test_a_manifest_reads_back_as_it_was_written(lake: Lake) -> None:
    fetch_all(lake, CYCLE)
    fold(lake, CYCLE)
    manifest = gather(lake, CYCLE)
    assert create(lake, CHECKS, manifest, 1)
    assert not create(lake, CHECKS, manifest, 1)
    assert newest(lake, CHECKS, str(CYCLE)) == (1, manifest)
    assert manifest.lagging == []
