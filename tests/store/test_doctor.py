"""The doctor sees what is wrong with a lake, says what mends it, and after that is content."""

import itertools
import os
import shutil
import time
from pathlib import Path

import pytest

from crawler.core.errors import DiskNearlyFull
from crawler.cycle_run import run_cycle
from crawler.stages import check, publish
from crawler.store import holds
from crawler.store.doctor import Finding, examine
from crawler.store.files import Files
from crawler.store.lake import Lake
from crawler.store.space import needed_bytes, require_space
from tests.store.small_cycle import CYCLES, fetch_all, fold, prepare, run_whole, seeded_lake
from tests.store.small_lake import lake_at
from tests.store.small_web import fetch, small_settings


def a_lake(root: Path, cycles: int = 1) -> Lake:
    lake = seeded_lake(root)
    for cycle in CYCLES[:cycles]:
        run_whole(lake, cycle)
    return lake


def kinds(lake: Lake, *, action: bool | None = None) -> list[str]:
    """What is found besides the hint about the pool."""
    return [
        finding.kind for finding in examine(lake) if finding.kind != "pool" and action in (None, finding.needs_action)
    ]


def only(lake: Lake, kind: str) -> Finding:
    (found,) = (finding for finding in examine(lake) if finding.kind == kind)
    return found


def files(lake: Lake, pattern: str) -> list[Path]:
    return sorted(Path(lake.files.root).glob(pattern))


def test_a_new_lake_and_one_that_was_crawled_need_nothing(tmp_path: Path) -> None:
    assert kinds(lake_at(tmp_path / "new")) == []
    assert kinds(a_lake(tmp_path / "crawled", cycles=3)) == []


def test_the_pool_hint_names_as_many_slots_as_there_are_buckets(tmp_path: Path) -> None:
    hint = only(lake_at(tmp_path, buckets=4), "pool")
    assert not hint.needs_action
    assert "airflow pools set recrawl_fetch 4 " in hint.command


@pytest.mark.parametrize(
    "pattern",
    ["layout=1/observation/*/*/*.parquet", "layout=1/plan/*/*/*.parquet", "layout=1/checkpoint/*/*page.parquet"],
)
def test_a_torn_file_that_counts_needs_a_backup(tmp_path: Path, pattern: str) -> None:
    lake = a_lake(tmp_path)
    torn = files(lake, pattern)[-1]
    whole = torn.read_bytes()
    torn.write_bytes(whole[: len(whole) // 2])
    found = [finding for finding in examine(lake) if finding.kind == "torn"]
    assert [(finding.needs_action, finding.paths) for finding in found] == [
        (True, [str(torn.relative_to(lake.files.root))])
    ]
    assert "backup" in found[0].command
    torn.write_bytes(whole)
    assert kinds(lake) == []


@pytest.mark.parametrize("pattern", ["layout=1/lease/bucket=0000/*.json", "publish/*/*.json"])
def test_a_torn_lease_or_publication_is_found_and_keeps_the_doctor_from_nothing(tmp_path: Path, pattern: str) -> None:
    lake = a_lake(tmp_path)
    files(lake, pattern)[-1].write_text('{"epoch": ')
    assert "torn" in kinds(lake, action=True)


def test_a_file_that_a_publication_names_and_that_is_gone_is_lost(tmp_path: Path) -> None:
    lake = a_lake(tmp_path)
    gone = files(lake, "layout=1/copy/*/*/*.parquet")[0]
    gone.unlink()
    lost = only(lake, "lost")
    assert (lost.needs_action, lost.paths) == (True, [str(gone.relative_to(lake.files.root))])


def test_files_without_their_leases_are_a_copy_that_is_not_whole(tmp_path: Path) -> None:
    lake = a_lake(tmp_path)
    for lease in files(lake, "layout=1/lease/bucket=0000/*.json")[1:]:
        lease.unlink()
    assert "leases are missing" in " ".join(f.what for f in examine(lake) if f.kind == "lost")


def test_what_an_owner_wrote_after_it_was_taken_over_from_is_void_and_needs_nothing(tmp_path: Path) -> None:
    lake = a_lake(tmp_path)
    written = files(lake, "layout=1/observation/bucket=0000/*/*.parquet")[-1]
    late = written.with_name(written.name.replace("-0001", "-0099").replace("-0002", "-0099"))
    late.write_bytes(written.read_bytes())
    found = only(lake, "void")
    assert (found.needs_action, found.paths) == (False, [str(late.relative_to(lake.files.root))])


def test_foreign_files_and_staging_leftovers_are_noted(tmp_path: Path) -> None:
    lake = a_lake(tmp_path)
    root = Path(lake.files.root)
    (root / "notes.txt").write_text("mine")
    (root / "layout=1/observation/bucket=0000/.DS_Store").write_bytes(b"x")
    lake.files.staged(".parquet").write_bytes(b"begun")
    found = only(lake, "foreign")
    assert (found.needs_action, found.files) == (False, 2)
    assert "staging" not in kinds(lake), "it may be in the making"
    for staged in files(lake, "staging/.*"):
        os.utime(staged, (0, time.time() - 7200))
    assert "--repair" in only(lake, "staging").command


def test_missing_and_unfinished_cycles_need_an_action_that_ends_them(tmp_path: Path) -> None:
    lake = a_lake(tmp_path)
    prepare(lake, CYCLES[2])
    fetch_all(lake, CYCLES[2], [0])
    fold(lake, CYCLES[2])
    check.run(lake, CYCLES[2])
    publish.run(lake, CYCLES[2])
    found = {finding.command: finding.what for finding in examine(lake) if finding.needs_action}
    assert set(found) == {f"recrawl run --cycle {cycle}" for cycle in CYCLES[1:3]}
    assert "was never planned" in found[f"recrawl run --cycle {CYCLES[1]}"]
    assert "buckets [1] failed" in found[f"recrawl run --cycle {CYCLES[2]}"]
    for cycle in (CYCLES[1], CYCLES[2]):
        run_whole(lake, cycle)
    assert kinds(lake) == []


def test_it_says_who_holds_a_bucket_and_whose_owner_died(tmp_path: Path) -> None:
    lake = a_lake(tmp_path)
    prepare(lake, CYCLES[1])
    seen: list[str] = []

    def look(*_: object) -> None:
        seen.extend(finding.what for finding in examine(lake) if finding.kind == "lease")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(lake, CYCLES[1], 0, tokens=itertools.count(), asked=look)
    assert [what.startswith(f"bucket=0000 is held by {os.uname().nodename} pid {os.getpid()} ") for what in seen] == [
        True
    ]
    dead = only(lake, "lease")
    assert "ended without a release" in dead.what
    assert (dead.needs_action, dead.command) == (False, f"recrawl run --cycle {CYCLES[1]}")


def test_held_hosts_are_noted(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    holds.hold(lake, "a.test", "they wrote")
    assert only(lake, "hold").command == "recrawl release a.test"


# Room on the disk


def test_a_cycle_that_does_not_fit_is_not_begun_and_one_that_is_admitted_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = a_lake(tmp_path)
    needed = needed_bytes(lake)
    assert needed > 10_000
    monkeypatch.setattr(Files, "free_bytes", lambda _self: needed - 1)
    with pytest.raises(DiskNearlyFull, match=rf"cycle {CYCLES[1]} wants .* MB; nothing was planned"):
        list(run_cycle(lake.settings, CYCLES[1]))
    assert not files(lake, f"layout=1/plan/*/cycle={CYCLES[1]}")
    assert kinds(lake, action=True) == ["disk"]
    require_space(lake, CYCLES[0])
    monkeypatch.setattr(Files, "free_bytes", lambda _self: needed)
    require_space(lake, CYCLES[1])
    assert kinds(lake) == []


def test_the_first_cycle_wants_no_room_and_a_setting_replaces_the_estimate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Files, "free_bytes", lambda _self: 5_000)
    require_space(lake_at(tmp_path), CYCLES[0])
    require_space(lake_at(tmp_path, lake={"min_free_bytes": 5_000}), CYCLES[0])
    with pytest.raises(DiskNearlyFull):
        require_space(lake_at(tmp_path, lake={"min_free_bytes": 5_001}), CYCLES[0])


# What docs/operating.md says of copies and backups


def test_a_copy_made_while_nothing_runs_goes_on_by_itself(tmp_path: Path) -> None:
    lake = a_lake(tmp_path / "lake", cycles=2)
    before = {path: path.read_bytes() for path in files(lake, "**/*.parquet")}
    ignored = shutil.ignore_patterns("staging", "locks", "recrawl.duckdb")
    shutil.copytree(tmp_path / "lake", tmp_path / "copy", ignore=ignored)
    copy = Lake.open(small_settings(str(tmp_path / "copy")), lake.clock)
    assert kinds(copy) == []
    run_whole(copy, CYCLES[2])
    assert kinds(copy) == []
    assert {path: path.read_bytes() for path in files(lake, "**/*.parquet")} == before
    run_whole(lake, CYCLES[2])


def test_lost_files_come_back_from_a_backup_under_their_names(tmp_path: Path) -> None:
    lake = a_lake(tmp_path / "lake", cycles=2)
    shutil.copytree(tmp_path / "lake", tmp_path / "backup")
    for path in files(lake, "layout=1/link/**/*.parquet") + files(lake, "layout=1/copy/**/*.parquet"):
        path.unlink()
    lost = only(lake, "lost")
    assert lost.files == len(lost.paths) > 0
    for name in lost.paths:
        shutil.copy2(tmp_path / "backup" / name, tmp_path / "lake" / name)
    assert kinds(lake) == []
