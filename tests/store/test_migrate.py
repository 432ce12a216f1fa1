"""A lake says its schema version; another version is opened by nobody and brought up by `recrawl migrate`."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from crawler.core.errors import BucketTaken, CorruptLake, NoLake, OtherLake, SchemaMismatch
from crawler.stages import admit, fingerprint, merge, plan, seed
from crawler.store import migrate as migrate_module
from crawler.store import query, tables
from crawler.store.columns import NewColumn
from crawler.store.files import Files
from crawler.store.lake import SCHEMA_VERSION, Lake, read_metadata
from crawler.store.migrate import migrate
from crawler.store.state import open_state, write_checkpoint
from tests.store.small_lake import (
    DAY,
    NOON,
    Row,
    StoppedClock,
    asked_robots,
    host_state,
    lake_at,
    linked,
    observed,
    read,
    write,
)

TABLES = {path.stem for path in (query.sql_folder() / "schema").glob("*.sql")}


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
    announce(lake, 0)
    with pytest.raises(CorruptLake, match="schema version 0"):
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


# Version 1 -> 2

NEW_IN_2 = {
    "observation": {"connections": 1, "address_delay_seconds": 0.0, "address_buckets": 1, "audit": False},
    "robots": {"connections": 1, "address_delay_seconds": 0.0, "address_buckets": 1, "suspect": False,
               "unreachable_since": None},
    "host_state": {"busy_at": None, "slow": False, "validator_audits": 0, "validator_lies": 0},
}  # fmt: skip


@pytest.fixture
def old_lake(tmp_path: Path) -> Iterator[Lake]:
    """A lake of version 1: two epochs of a bucket, one of them in a checkpoint, all files with the columns of then."""
    lake = lake_at(tmp_path / "old")
    for number, host in enumerate(("a.test", "b.test")):
        rows = {
            "observation": [observed(f"http://{host}/", "x")],
            "host_state": [host_state(host, delay_seconds=7.0)],
            "robots": [asked_robots(host, body=b"# none\n", body_digest=b"0")],
        }
        write(lake, 0, rows, finished=True if number == 0 else None)
        if number == 0:
            write_checkpoint(open_state(lake, lake.connect(), 0, lake.settled("bucket", 0)))
    for path in Path(lake.files.root).rglob("*.parquet"):
        old = pq.read_table(path)
        kept = tables.read_metadata(str(path))
        gone = {column for added in NEW_IN_2.values() for column in added} & set(old.column_names)
        old = old.drop_columns(sorted(gone))
        with pq.ParquetWriter(path, old.schema, store_schema=False) as sink:
            sink.write_table(old)
            sink.add_key_value_metadata(kept)
    lake.files.delete("meta/0001.json")
    announce(lake, 1)
    return lake


def parquet_files(lake: Lake) -> dict[str, tuple[dict[str, str], list[Row]]]:
    """Every Parquet file below the root: its metadata and its rows."""
    root = Path(lake.files.root)
    return {
        str(path.relative_to(root)): (tables.read_metadata(str(path)), pq.read_table(path).to_pylist())
        for path in root.rglob("*.parquet")
    }


def test_version_1_becomes_2_by_new_columns_alone(old_lake: Lake) -> None:
    before = parquet_files(old_lake)
    assert len(before) == 10, "three tables in two epochs, and four parts of a checkpoint"
    with pytest.raises(SchemaMismatch):
        Lake.open(old_lake.settings, old_lake.clock)
    assert migrate(old_lake.files.root, to_version=2) == (1, 2)
    after = parquet_files(old_lake)
    assert after.keys() == before.keys()
    for name, (metadata, rows) in after.items():
        table = {"checkpoint": f"{name.rpartition('-')[2]}"}.get(name.split("/")[1], name.split("/")[1])
        new = NEW_IN_2.get({"host.parquet": "host_state", "robots.parquet": "robots"}.get(table, table), {})
        assert metadata == before[name][0]
        assert rows == [{**row, **new} for row in before[name][1]], name
    assert any(metadata == {"complete": "true"} for metadata, _ in after.values())


def test_a_migrated_lake_is_read_folded_and_written_like_a_new_one(old_lake: Lake) -> None:
    migrate(old_lake.files.root)
    lake = Lake.open(old_lake.settings, old_lake.clock)
    write(lake, 0, {"observation": [observed("http://c.test/", connections=3)], "host_state": [host_state("c.test")]})
    con = lake.connect()
    open_state(lake, con, 0, lake.settled("bucket", 0))
    hosts = query.rows(query.run(con, "state/host"))
    assert {row["host"]: row["slow"] for row in hosts} == {"a.test": False, "b.test": False, "c.test": False}
    assert len(query.rows(query.run(con, "state/robots"))) == 2
    assert sorted(row["connections"] for row in read(lake, "observation")) == [1, 1, 3]


def test_a_migration_that_was_killed_between_two_files_is_run_again(
    old_lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    put, left = Files.put, [4]

    def put_some(files: Files, staged: Path, name: str) -> None:
        if not left[0]:
            raise Crash
        left[0] -= 1
        put(files, staged, name)

    with monkeypatch.context() as patch:
        patch.setattr(Files, "put", put_some)
        with pytest.raises(Crash):
            migrate(old_lake.files.root)
    assert read_metadata(old_lake.files).schema_version == 1
    migrate(old_lake.files.root)
    found = [rows[0] for name, (_, rows) in parquet_files(old_lake).items() if "/observation/" in name]
    assert [row["connections"] for row in found] == [1, 1]


def test_a_lake_in_use_is_not_migrated(old_lake: Lake) -> None:
    let_go = old_lake.guard.hold("bucket=0000", "another task")
    try:
        with pytest.raises(BucketTaken):
            migrate(old_lake.files.root)
    finally:
        let_go()
    assert migrate(old_lake.files.root) == (1, SCHEMA_VERSION)


def test_a_file_that_is_torn_stops_the_migration_and_is_named(old_lake: Lake) -> None:
    name = next(name for name in parquet_files(old_lake) if "/observation/" in name)
    old_lake.files.put_bytes(b"PAR1 torn", name)
    with pytest.raises(CorruptLake, match=name):
        migrate(old_lake.files.root)


# From version 2 on


def test_version_2_gets_all_columns_of_a_new_lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = lake_at(tmp_path / "old")
    seed.run(lake, ["http://a.test/"])
    plan.run(lake, DAY, 0)
    admit.run(lake, DAY)
    rows = {"observation": [observed("http://a.test/", "x")], "link": [linked("http://a.test/", "http://a.test/1")]}
    write(lake, 0, rows, finished=True)
    fingerprint.run(lake, DAY, 0)
    merge.run(lake, DAY, 0)
    write_checkpoint(open_state(lake, lake.connect(), 0, lake.settled("bucket", 0)))
    new = new_since_2(monkeypatch)
    for path in Path(lake.files.root).rglob("*.parquet"):
        old, kept = pq.read_table(path), tables.read_metadata(str(path))
        old = old.drop_columns(sorted({*new.get(table_of(path), ())} & set(old.column_names)))
        with pq.ParquetWriter(path, old.schema, store_schema=False) as sink:
            sink.write_table(old)
            sink.add_key_value_metadata(kept)
    lake.files.delete("meta/0001.json")
    announce(lake, 2)
    migrate(lake.files.root)
    for path in Path(lake.files.root).rglob("*.parquet"):
        wanted = tables.arrow_schema(table_of(path))
        found = pq.read_schema(path)
        assert sorted(found.names) == sorted(wanted.names), path
    again = Lake.open(lake.settings, lake.clock)
    assert {row["url"] for row in read(again, "url")} == {"http://a.test/", "http://a.test/1"}


def new_since_2(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """By table the columns that the migrations from version 2 on add."""
    found: dict[str, list[str]] = {}

    def note(_files: Files, added: Mapping[str, tuple[NewColumn, ...]]) -> int:
        for table, columns in added.items():
            found.setdefault(table, []).extend(column.name for column in columns)
        return 0

    with monkeypatch.context() as patch:
        patch.setattr(migrate_module, "add_columns", note)
        for version in range(2, SCHEMA_VERSION):
            migrate_module.MIGRATIONS[version](Files("unused"))
    return found


def table_of(path: Path) -> str:
    """The table that a Parquet file of a lake is of."""
    if path.parent.parent.name == "checkpoint":
        part = path.stem.rpartition("-")[2]
        return {"host": "host_state"}.get(part, part)
    return next(name for name in (each.name for each in path.parents) if name in TABLES)
