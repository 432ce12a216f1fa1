"""Upkeep merges, lets expire and deletes, and no reader or stage sees a difference, whatever is killed when."""

import itertools
import os
import shutil
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from crawler.core.cycle import Cycle
from crawler.core.errors import BucketTaken
from crawler.stages import check, fingerprint, publish
from crawler.store import manifest, purges
from crawler.store.backtest import backtest
from crawler.store.doctor import examine
from crawler.store.erase import erase
from crawler.store.explain import explain
from crawler.store.files import Files
from crawler.store.lake import Lake
from crawler.store.manifest import CYCLE_TABLES
from crawler.store.reader import open_reader
from crawler.store.state import open_state
from crawler.store.upkeep import upkeep
from tests.store.small_cycle import fetch_all, fold, prepare, run_whole, seeded_lake
from tests.store.small_lake import NOON, captured, digest, lake_at, make_known, observed, read, write
from tests.store.small_web import FIRST_DAY, A, ManualClock, small_settings

pytestmark = pytest.mark.xdist_group("upkeep")  # one crawl for all of them

URL = f"{A}/1"
DAYS = [0, 1, 75]  # of the cycles; the first two are of March, the last of May
CYCLES = [Cycle((FIRST_DAY + timedelta(days=day)).date()) for day in DAYS]
LATER = CYCLES[-1].start + timedelta(days=40)
GRACE = 73 * 3600.0
STRIDE = int(os.environ.get("UPKEEP_STRIDE", "47"))
"""File operations from one kill to the next; `make soak` tries each."""


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    lake = seeded_lake(tmp_path_factory.mktemp("crawled"), buckets=1)
    for cycle in CYCLES:
        run_whole(lake, cycle)
    check.run(lake, CYCLES[0])
    return lake


@pytest.fixture
def lake(crawled: Lake, tmp_path: Path) -> Lake:
    return copy_of(crawled, tmp_path / "lake")


def copy_of(lake: Lake, root: Path, **upkeep_settings: Any) -> Lake:
    shutil.copytree(lake.files.root, root)
    settings = small_settings(str(root), buckets=1)
    if upkeep_settings:
        section = settings.upkeep.model_copy(update=upkeep_settings)
        settings = settings.model_copy(update={"upkeep": section})
    return Lake.open(settings, ManualClock(lake.clock.instant))


def age(lake: Lake) -> None:
    """Let the grace pass for all that is in the lake."""
    for path in Path(lake.files.root).rglob("*"):
        if path.is_file():
            stat = path.stat()
            os.utime(path, (stat.st_atime - GRACE, stat.st_mtime - GRACE))


def keep(lake: Lake, **options: Any) -> Any:
    lake.clock.instant = max(lake.clock.instant, LATER)
    return upkeep(lake, **options)


def log_files(lake: Lake) -> list[str]:
    return sorted(str(path.relative_to(lake.files.root)) for path in Path(lake.files.root).glob("layout=1/*/*/*=*/e*"))


def rows(lake: Lake) -> dict[str, Any]:
    """What readers are told of single rows."""
    tables = (*(table for table in CYCLE_TABLES if table != "capture"), "capture", "copy", "page")
    with open_reader(lake) as con:
        return {table: con.execute(f"FROM {table} ORDER BY ALL").fetchall() for table in tables}


def seen(lake: Lake) -> dict[str, Any]:
    """What readers and stages are told, but for what says when it was asked."""
    found = rows(lake)
    with open_reader(lake) as con:
        for view in ("host", "coverage", "politeness_audit"):
            found[view] = con.execute(f"FROM {view} ORDER BY ALL").fetchall()
        found["cycle"] = con.execute("SELECT * EXCLUDE (published_at) FROM cycle ORDER BY ALL").fetchall()
    con = lake.connect()
    open_state(lake, con, 0, lake.settled("bucket", 0))
    found["state"] = con.execute("FROM state_page ORDER BY url_key").fetchall()
    found["backtest"] = backtest(lake, ["uniform"], until=CYCLES[-1]).to_dict()
    found["history"] = explain(lake, URL).to_dict()["history"]
    return found


def test_old_months_become_one_file_a_table_and_bucket_and_nobody_sees_a_difference(lake: Lake) -> None:
    before, files = seen(lake), len(log_files(lake))
    told = keep(lake)
    assert {row["action"] for row in told.rows()} == {"merge"}
    assert seen(lake) == before, "the day's files are still there"
    age(lake)
    told = keep(lake)
    assert {row["rule"] for row in told.rows()} >= {"replaced", "publication", "check", "lease", "checkpoint"}
    assert seen(lake) == before
    assert [finding.kind for finding in examine(lake) if finding.needs_action and finding.kind != "cycle"] == []
    merged = [name for name in log_files(lake) if "month=2026-03" in name]
    assert len(merged) >= 6
    assert all(name.endswith("-whole.parquet") for name in merged)
    days = Counter(name.rpartition("/")[0] for name in log_files(lake) if "cycle=2026-03-" in name)
    assert len(days) < 3, "a table has a folder there only if it had no second file"
    assert len(log_files(lake)) < 0.75 * files
    age(lake)
    keep(lake)
    assert keep(lake).rows() == []


def test_a_dry_run_says_the_same_and_changes_nothing(lake: Lake) -> None:
    age(lake)
    before = {name: lake.files.changed_at(name) for name in lake.files.all_names()}
    said = keep(lake, dry_run=True).rows()
    assert {name: lake.files.changed_at(name) for name in lake.files.all_names()} == before
    done = {(row["action"], row["rule"]): row for row in keep(lake).rows()}
    assert [done[row["action"], row["rule"]] for row in said] == said


def test_a_cycle_that_is_run_again_after_its_month_was_merged_doubles_nothing(lake: Lake) -> None:
    before = rows(lake)
    keep(lake)
    age(lake)
    keep(lake)
    fetch_all(lake, CYCLES[0])
    fold(lake, CYCLES[0])
    check.run(lake, CYCLES[0])
    assert publish.run(lake, CYCLES[0])["failed"] == []
    assert rows(lake) == before
    age(lake)
    keep(lake)
    assert rows(lake) == before


def test_the_crawl_goes_on_as_it_would_without_upkeep(crawled: Lake, tmp_path: Path) -> None:
    with_upkeep, without = copy_of(crawled, tmp_path / "with"), copy_of(crawled, tmp_path / "without")
    keep(with_upkeep)
    age(with_upkeep)
    keep(with_upkeep)
    last = Cycle(LATER.date())
    without.clock.instant = with_upkeep.clock.instant = LATER
    found = []
    for lake in (with_upkeep, without):
        prepare(lake, last)
        asked = fetch_all(lake, last)
        fold(lake, last)
        check.run(lake, last)
        publish.run(lake, last)
        with open_reader(lake) as con:
            pages = con.execute("SELECT url, outcome, fetches, duplicate_of, inlinks FROM page ORDER BY 1").fetchall()
            rows = con.execute("SELECT url, cycle, epoch, sequence, outcome FROM observation ORDER BY ALL").fetchall()
        found.append((sorted(asked), pages, rows))
    assert found[0] == found[1]


def test_what_is_purged_does_not_come_back(lake: Lake) -> None:
    keep(lake)
    erase(lake, purges.purge(lake, URL))
    age(lake)
    keep(lake)
    age(lake)
    keep(lake)
    with open_reader(lake) as con:
        assert con.execute("SELECT count(*) FROM capture_log WHERE url = ?", [URL]).fetchall() == [(0,)]
        assert con.execute("SELECT count(title) FROM observation WHERE url = ?", [URL]).fetchall() == [(0,)]
        assert con.execute("FROM page WHERE url = ?", [URL]).fetchall() == []


def test_an_unfinished_purge_and_a_bucket_at_work_are_left_alone(lake: Lake) -> None:
    let_go = lake.guard.hold("bucket=0000", "a fetch")
    assert "bucket=0000" in keep(lake).skipped[0]
    assert not [name for name in log_files(lake) if "bucket=0000/month=2026-03/" in name]
    assert [name for name in log_files(lake) if "shard=0000/month=2026-03/" in name]
    let_go()
    decided = purges.purge(lake, URL)
    assert "recrawl purge --yes" in keep(lake).skipped[0]
    with lake.alone(), pytest.raises(BucketTaken):
        erase(lake, decided)


def test_bodies_that_no_page_says_any_more_expire_and_no_page_relies_on_them(tmp_path: Path) -> None:
    lake = lake_at(tmp_path, upkeep={"capture_days": 30})
    a, b, mirror, late = (f"http://a.test/{name}" for name in ("a", "b", "mirror", "late"))

    def bring(days: int, bodies: dict[str, str]) -> None:
        at = NOON + timedelta(days=days)
        lake.clock.instant = at  # type: ignore[misc]
        rows = {
            "observation": [observed(url, body, at=at) for url, body in bodies.items()],
            "capture": [captured(url, body, fetched_at=at) for url, body in bodies.items()],
        }
        write(lake, 0, rows, cycle=Cycle(at.date()))
        fingerprint.run(lake, Cycle(at.date()), 0)

    make_known(lake, a, b, mirror, late)
    bring(0, {a: "first", b: "shared", mirror: "shared"})
    bring(50, {a: "second", b: "other"})
    said = upkeep(lake, dry_run=True).rows()
    assert [(row["action"], row["rule"]) for row in said] == [("expire", "capture")]
    upkeep(lake)
    assert {(row["url"], row["body"].decode()) for row in read(lake, "capture")} == {
        (a, "second"),
        (b, "shared"),
        (b, "other"),
        (mirror, "shared"),
    }
    bring(51, {late: "first"})
    copies = read(lake, "copy", kind="shard")
    holders = {row["url"]: row["is_holder"] for row in copies if row["digest"] == digest("first")}
    assert holders[late], "the body of the first is gone"


def test_plans_and_links_expire_by_their_rules(crawled: Lake, tmp_path: Path) -> None:
    lake = copy_of(crawled, tmp_path / "rules", plan_days=60, link_days=60)
    told = keep(lake)
    assert {row["rule"] for row in told.rows() if row["action"] == "expire"} == {"plan", "link"}
    with open_reader(lake) as con:
        first = con.execute("SELECT min(cycle) FROM plan").fetchall()
        assert con.execute("SELECT count(*) FROM link").fetchall() == [(0,)]
    assert first == [(CYCLES[-1].day,)]
    age(lake)
    told = keep(lake)
    assert {row["rule"] for row in told.rows() if row["action"] == "delete"} >= {"plan", "link"}
    assert not list(Path(lake.files.root).glob("layout=1/plan/*/cycle=2026-03-*"))
    assert examine(lake)


def test_a_reader_sees_each_row_once_while_publications_are_renewed_one_after_the_other(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, seen_between = rows(lake), []
    create = manifest.create

    def create_and_look(*arguments: Any) -> bool:
        is_ours = create(*arguments)
        seen_between.append(rows(lake) == before)
        return is_ours

    with monkeypatch.context() as patched:
        patched.setattr(manifest, "create", create_and_look)
        keep(lake)
    assert seen_between == [True, True]


class Killed(BaseException):
    """The process ends here."""


def dying(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """End the process at its file operation number `step`."""
    calls = itertools.count(1)

    def before(act: Callable[..., Any]) -> Callable[..., Any]:
        def acting(*arguments: Any) -> Any:
            if next(calls) == step:
                raise Killed
            return act(*arguments)

        return acting

    for name in ("put", "create", "delete", "remove_folder"):
        monkeypatch.setattr(Files, name, before(getattr(Files, name)))


def test_killed_anywhere_readers_see_the_same_and_the_next_run_ends_it(
    lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = rows(lake)
    for step in itertools.count(1, STRIDE):
        copy = copy_of(lake, tmp_path / f"copy{step}")
        is_killed = False
        for _ in range(2):
            age(copy)
            with monkeypatch.context() as patched:
                dying(patched, step)
                try:
                    keep(copy)
                except Killed:
                    is_killed = True
            assert rows(copy) == whole, f"killed at step {step}"
        keep(copy)
        age(copy)
        keep(copy)
        assert rows(copy) == whole
        assert not [name for name in log_files(copy) if "observation" in name and "cycle=2026-03-" in name]
        shutil.rmtree(copy.files.root)
        if not is_killed:
            break
    assert step > 40
