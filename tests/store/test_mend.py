"""What `recrawl doctor --repair` does to lakes that are really damaged: it is told first, and the crawl goes on."""

import itertools
import os
import shutil
import time
from pathlib import Path

import pytest

from crawler.store.doctor import examine
from crawler.store.lake import Lake
from crawler.store.mend import mends
from crawler.store.reader import open_reader
from crawler.store.skew import skews
from tests.command import Recrawl, write_settings
from tests.store.small_cycle import CYCLES, prepare, run_whole, seeded_lake
from tests.store.small_lake import known, lake_at, write
from tests.store.small_web import PAGES, ManualClock, fetch, small_settings

pytestmark = pytest.mark.xdist_group("mend")  # one crawl for all of them


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    lake = seeded_lake(tmp_path_factory.mktemp("crawled"))
    for cycle in CYCLES[:2]:
        run_whole(lake, cycle)
    return lake


@pytest.fixture
def lake(crawled: Lake, tmp_path: Path) -> Lake:
    shutil.copytree(crawled.files.root, tmp_path / "lake")
    return Lake.open(small_settings(str(tmp_path / "lake")), ManualClock(crawled.clock.instant))


def tear(lake: Lake, pattern: str) -> str:
    """Cut the newest file that `pattern` finds in half; returns its name."""
    path = sorted(Path(lake.files.root).glob(pattern))[-1]
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    return str(path.relative_to(lake.files.root))


def repair(lake: Lake) -> list[str]:
    """Do all mends; returns what they said."""
    said: list[str] = []
    while found := [mend for mend in mends(lake) if mend.what not in said]:
        for mend in found:
            mend.act()
            said.append(mend.what)
    return said


def actions(lake: Lake) -> list[str]:
    return [finding.kind for finding in examine(lake) if finding.needs_action]


def test_a_healthy_lake_has_nothing_to_mend(lake: Lake) -> None:
    assert mends(lake) == []


def test_torn_tables_are_set_aside_with_what_they_lose_and_the_crawl_goes_on(lake: Lake) -> None:
    losses = {
        "observation/bucket=0000": "asked for again",
        "url/bucket=0001": "found again",
        "capture/bucket=0000": "bodies, for ever",
        "copy/shard=0000": "stored again",
        "link/bucket=0000": "merges have read stays known",
    }
    torn = {tear(lake, f"layout=1/{table}/*/e*.parquet"): lost for table, lost in losses.items()}
    told = mends(lake)
    for name, lost in torn.items():
        (mend,) = (mend for mend in told if name in mend.what)
        assert mend.asks
        assert lost in mend.costs
        assert lake.files.exists(name), "it was only told"
    repair(lake)
    for name in torn:
        assert lake.files.exists(f"aside/{name}")
        assert not lake.files.exists(name)
    with open_reader(lake) as con:
        con.execute("SELECT count(*) FROM page").fetchall()
    for cycle in CYCLES[1:3]:
        run_whole(lake, cycle)
    with open_reader(lake) as con:
        assert {url for (url,) in con.execute("SELECT url FROM page WHERE fetches > 0").fetchall()} == set(PAGES)
        assert con.execute("FROM politeness_audit").fetchall() == []
    assert actions(lake) == []


def test_a_torn_checkpoint_loses_nothing(lake: Lake) -> None:
    question = "SELECT * FROM page ORDER BY url"
    with open_reader(lake) as con:
        before = con.execute(question).fetchall()
    tear(lake, "layout=1/checkpoint/bucket=0000/*-page.parquet")
    (mend,) = mends(lake)
    assert "lost: nothing" in mend.costs
    repair(lake)
    with open_reader(lake) as con:
        assert con.execute(question).fetchall() == before
    assert actions(lake) == []


def test_void_files_and_leftovers_are_deleted_and_summaries_and_views_made_again(lake: Lake) -> None:
    root = Path(lake.files.root)
    written = sorted(root.glob("layout=1/observation/bucket=0000/*/*.parquet"))[-1]
    shutil.copy(written, written.with_name("e00000001-0099.parquet"))
    staged = lake.files.staged(".parquet")
    staged.write_bytes(b"begun")
    os.utime(staged, (0, time.time() - 7200))
    shutil.rmtree(root / "summary")
    (root / "recrawl.duckdb").unlink()
    assert not any(mend.asks for mend in mends(lake))
    assert len(repair(lake)) == 5
    assert (root / "recrawl.duckdb").exists()
    assert len(list(root.glob("summary/*/*.json"))) == 2
    assert [finding.kind for finding in examine(lake)] == ["pool"]
    assert mends(lake) == []


def test_what_a_publication_names_and_is_gone_is_named_no_more(lake: Lake) -> None:
    for path in Path(lake.files.root).glob("layout=1/link/bucket=0000/*/*.parquet"):
        path.unlink()
    assert actions(lake) == ["lost"]
    assert [mend.asks for mend in mends(lake)] == [True]
    repair(lake)
    assert actions(lake) == []


def test_the_lease_of_an_owner_that_died_long_ago_is_ended_and_one_of_just_now_is_not(lake: Lake) -> None:
    prepare(lake, CYCLES[2])

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(lake, CYCLES[2], 0, tokens=itertools.count(), asked=die)
    assert mends(lake) == []
    (mend,) = mends(lake, now_seconds=time.time() + 7200)
    assert "ended without a release" in mend.what
    mend.act()
    assert lake.ownership("bucket", 0)[0].holder is None


def test_the_command_tells_first_and_mends_with_yes(lake: Lake, recrawl: Recrawl, tmp_path: Path) -> None:
    write_settings(tmp_path, '[crawl]\nuser_agent = "t/1 (+http://c.test/)"\n[lake]\nroot = "lake"\nbuckets = 2')
    torn = tear(lake, "layout=1/near/*/*/e*.parquet") if list(tmp_path.glob("lake/layout=1/near/**/*.parquet")) else ""
    torn = torn or tear(lake, "layout=1/link/bucket=0000/*/e*.parquet")
    told = recrawl("doctor", "--repair")
    assert (told.code, torn in told.out, "nothing was changed" in told.out) == (0, True, True)
    assert lake.files.exists(torn)
    assert recrawl("doctor", "--repair", "--yes").code == 0
    assert not lake.files.exists(torn)


# Skew


def test_a_bucket_with_far_more_urls_than_the_median_is_named_with_its_largest_host(tmp_path: Path) -> None:
    lake = lake_at(tmp_path, buckets=4)
    for bucket in range(4):
        write(lake, bucket, {"url": [known(f"http://small{bucket}.test/{page}") for page in range(2)]})
    assert skews(lake, least=1) == []
    write(lake, 2, {"url": [known(f"http://giant.test/{page}") for page in range(20)]})
    (found,) = skews(lake, least=1)
    assert (found.bucket, found.of, found.count, found.host, found.host_urls) == (2, "known URLs", 22, "giant.test", 20)
    assert skews(lake) == [], "small lakes are never even"
