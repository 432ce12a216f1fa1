"""A lake says its schema version; another version is opened by nobody and brought up by `recrawl migrate`."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from crawler.core.errors import CorruptLake, NoLake, OtherLake, SchemaMismatch
from crawler.store import migrate as migrate_module
from crawler.store.files import Files
from crawler.store.lake import SCHEMA_VERSION, Lake, read_metadata
from crawler.store.migrate import migrate
from tests.store.small_lake import NOON, StoppedClock, lake_at


class Crash(Exception):
    pass


def announce(lake: Lake, schema_version: int) -> None:
    number = len(lake.files.names("meta")) + 1
    content = replace(lake.metadata, schema_version=schema_version).to_json()
    lake.files.create_bytes(content, f"meta/{number:04d}.json")


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return lake_at(tmp_path)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Migrations from this version on, two steps; each notes its call."""
    made: list[int] = []

    def step(version: int) -> Callable[[Files], None]:
        return lambda files: made.append(version)

    monkeypatch.setattr(migrate_module, "MIGRATIONS", {v: step(v) for v in (SCHEMA_VERSION, SCHEMA_VERSION + 1)})
    return made


def test_a_new_lake_has_this_version_and_today_as_its_first_cycle(lake: Lake) -> None:
    assert lake.metadata.schema_version == SCHEMA_VERSION
    assert lake.metadata.first_cycle == NOON.date()


def test_creating_a_lake_again_opens_it_as_it_is(lake: Lake, tmp_path: Path) -> None:
    later = lake_at(tmp_path, clock=StoppedClock(NOON.replace(year=2027)))
    assert later.metadata == lake.metadata


def test_a_lake_of_an_older_version_is_not_opened_and_the_error_names_recrawl_migrate(lake: Lake) -> None:
    announce(lake, SCHEMA_VERSION - 1)
    with pytest.raises(SchemaMismatch, match="Run `recrawl migrate`") as found:
        Lake.open(lake.settings, lake.clock)
    assert found.value.args == (lake.files.root, SCHEMA_VERSION - 1, SCHEMA_VERSION)


def test_a_lake_of_a_newer_version_is_not_opened_and_the_error_asks_for_a_newer_recrawl(lake: Lake) -> None:
    announce(lake, SCHEMA_VERSION + 1)
    with pytest.raises(SchemaMismatch, match="Install a newer Recrawl"):
        Lake.open(lake.settings, lake.clock)


def test_a_newer_lake_is_not_migrated_back(lake: Lake) -> None:
    announce(lake, SCHEMA_VERSION + 1)
    with pytest.raises(SchemaMismatch, match="Install a newer Recrawl"):
        migrate(lake.files.root)


def test_a_lake_of_this_version_is_left_alone(lake: Lake, calls: list[int]) -> None:
    assert migrate(lake.files.root) == (SCHEMA_VERSION, SCHEMA_VERSION)
    assert (calls, lake.files.names("meta")) == ([], ["0001.json"])


def test_each_migration_runs_once_in_order_and_keeps_the_rest_of_the_metadata(lake: Lake, calls: list[int]) -> None:
    target = SCHEMA_VERSION + 2
    assert migrate(lake.files.root, to_version=target) == (SCHEMA_VERSION, target)
    assert migrate(lake.files.root, to_version=target) == (target, target)
    assert calls == [SCHEMA_VERSION, SCHEMA_VERSION + 1]
    assert read_metadata(lake.files) == replace(lake.metadata, schema_version=target)
    assert [json.loads(lake.files.read(f"meta/{name}"))["schema_version"] for name in lake.files.names("meta")] == [
        SCHEMA_VERSION,
        SCHEMA_VERSION + 1,
        target,
    ]


def test_a_crash_in_a_migration_repeats_that_one_and_none_before(lake: Lake, calls: list[int]) -> None:
    second = SCHEMA_VERSION + 1
    whole = migrate_module.MIGRATIONS[second]

    def crash(files: Files) -> None:
        whole(files)
        raise Crash

    migrate_module.MIGRATIONS[second] = crash
    with pytest.raises(Crash):
        migrate(lake.files.root, to_version=second + 1)
    assert read_metadata(lake.files).schema_version == second, "the first step is announced"
    migrate_module.MIGRATIONS[second] = whole
    assert migrate(lake.files.root, to_version=second + 1) == (second, second + 1)
    assert calls == [SCHEMA_VERSION, second, second]


def test_a_crash_before_the_new_version_is_announced_leaves_the_old_one(
    lake: Lake, calls: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> bool:
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(Files, "create_bytes", crash)
        with pytest.raises(Crash):
            migrate(lake.files.root, to_version=SCHEMA_VERSION + 1)
    assert Lake.open(lake.settings, lake.clock).metadata == lake.metadata
    assert migrate(lake.files.root, to_version=SCHEMA_VERSION + 1) == (SCHEMA_VERSION, SCHEMA_VERSION + 1)


def test_a_version_that_no_migration_starts_from_is_named(lake: Lake) -> None:
    announce(lake, SCHEMA_VERSION - 1)
    with pytest.raises(CorruptLake, match=f"schema version {SCHEMA_VERSION - 1}"):
        migrate(lake.files.root)


def test_there_is_nothing_to_open_or_to_migrate_where_no_lake_is(lake: Lake, tmp_path: Path) -> None:
    lake.files.delete("meta/0001.json")
    for call in (lambda: Lake.open(lake.settings, lake.clock), lambda: migrate(str(tmp_path / "elsewhere"))):
        with pytest.raises(NoLake, match="recrawl init"):
            call()


def test_another_number_of_buckets_is_another_lake(lake: Lake, tmp_path: Path) -> None:
    with pytest.raises(OtherLake, match=r"has lake\.buckets 1, the settings say 4\. Set lake\.buckets to 1"):
        lake_at(tmp_path, buckets=4)


@pytest.mark.parametrize("content", [b"", b"[]", b'{"schema_version": 1}', b'{"schema_version": null}'])
def test_metadata_that_is_none_is_named(lake: Lake, content: bytes) -> None:
    lake.files.put_bytes(content, "meta/0002.json")
    with pytest.raises(CorruptLake, match=r"meta/0002\.json"):
        Lake.open(lake.settings, lake.clock)
