"""One owner of a partition at a time, whoever dies or stops, and one answer to which of its files count."""

import json
import os
import pickle
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from crawler.core.errors import BucketTaken, CorruptLake, LeaseLost
from crawler.store import tables
from crawler.store.lake import Lake
from crawler.store.lease import Lease, Owner, Settled, newest_lease
from tests.store.gated import NoGuard
from tests.store.owner import LAYOUT, PARTITION, TAKERS
from tests.store.small_lake import DAY, lake_at, observed, read, write

URL = "http://a.test/"
REPOSITORY = Path(__file__).resolve().parents[2]


@contextmanager
def process(*arguments: object) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", "tests.store.owner", *map(str, arguments)]
    with subprocess.Popen(command, cwd=REPOSITORY, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        try:
            yield running
        finally:
            assert running.stdin is not None
            running.stdin.close()
            running.kill()


@contextmanager
def owner_process(root: Path) -> Iterator["subprocess.Popen[str]"]:
    with process("own", root) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "owned\n"
        yield running


def test_a_killed_owner_frees_its_bucket_at_once_though_its_children_live(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    with owner_process(tmp_path) as owner:
        with pytest.raises(BucketTaken), lake.own("bucket", 0, DAY):
            pass
        owner.kill()
        owner.wait()
        with lake.own("bucket", 0, DAY) as taker:
            assert taker.epoch == 2
            assert taker.taken_over


def test_a_stopped_owner_keeps_its_bucket_and_the_waiter_is_told_its_pid(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    with owner_process(tmp_path) as owner:
        os.kill(owner.pid, signal.SIGSTOP)
        with pytest.raises(BucketTaken) as refused, lake.own("bucket", 0, DAY):
            pass
    assert f"pid {owner.pid} " in str(refused.value)
    assert refused.value.retryable
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)
    assert newest_lease(lake.files, lake.layout, PARTITION).epoch == 1, "who was refused began no epoch"


@pytest.mark.parametrize(
    ("kind", "loser"), [("race", "LeaseLost"), ("race-guarded", "BucketTaken")], ids=["without lock", "with lock"]
)
def test_of_twenty_processes_that_race_for_a_bucket_one_wins(tmp_path: Path, kind: str, loser: str) -> None:
    with process(kind, tmp_path) as racing:
        results, _ = racing.communicate()
    ended = Counter(results.splitlines())
    # Without the kernel lock somebody may begin epoch 2 after epoch 1 is created, but never two the same.
    owners = [result for result in ended if result.startswith("owner")]
    assert all(ended[owner] == 1 for owner in owners)
    assert len(owners) == 1 if kind == "race-guarded" else owners
    assert ended[loser] == TAKERS - len(owners)
    assert newest_lease(lake_at(tmp_path).files, LAYOUT, PARTITION).epoch == len(owners)


def test_children_of_every_kind_do_not_keep_the_bucket_after_its_owner(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    with ExitStack() as children:
        with lake.own("bucket", 0, DAY):
            children.enter_context(subprocess.Popen(["cat"], stdin=subprocess.PIPE, close_fds=False))
            fork_that_waits(children)
        with lake.own("bucket", 0, DAY) as owner:
            assert owner.epoch == 3


def fork_that_waits(children: ExitStack) -> None:
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(writing)
        os.read(reading, 1)
        os._exit(0)
    children.callback(os.waitpid, pid, 0)
    children.callback(os.close, writing)
    os.close(reading)


def test_a_forked_child_that_ends_its_copy_of_the_block_does_not_release_for_its_parent(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    with lake.own("bucket", 0, DAY):
        let_go = lake.guard.hold("bucket=0001", "test")
        pid = os.fork()
        if not pid:
            let_go()
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0, "the child closed a descriptor that is not its own"
        with pytest.raises(BucketTaken):
            lake.guard.hold("bucket=0001", "test")
        let_go()


def test_two_threads_or_lakes_of_one_process_do_not_share_a_bucket(tmp_path: Path) -> None:
    lake = lake_at(tmp_path, buckets=2)
    with lake.own("bucket", 0, DAY):
        with (
            pytest.raises(BucketTaken, match=f"pid {os.getpid()} "),
            lake_at(tmp_path, buckets=2).own("bucket", 0, DAY),
        ):
            pass
        with lake.own("bucket", 1, DAY), lake.own("shard", 0, DAY):
            pass


def test_an_owner_whose_block_fails_releases_nothing_and_the_next_is_told(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    with pytest.raises(ZeroDivisionError), lake.own("bucket", 0, DAY):
        raise ZeroDivisionError
    with lake.own("bucket", 0, DAY) as owner:
        assert (owner.epoch, owner.taken_over) == (2, True)
    with lake.own("bucket", 0, DAY) as owner:
        assert (owner.epoch, owner.taken_over) == (4, False), "a release is an epoch of nobody"


def commit(lake: Lake, owner: Owner, url: str = URL) -> None:
    staged = lake.files.staged(".parquet")
    stamp = {"cycle": DAY.day, "bucket": 0, "epoch": owner.epoch, "sequence": owner.sequence + 1}
    tables.write_rows(staged, "observation", [{**observed(url), **stamp}])
    lake.commit(owner, "observation", {"observation": staged})


def test_what_a_stopped_owner_writes_after_the_take_over_is_void_for_ever(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    lake.guard = NoGuard()

    def be_taken_over() -> None:
        with lake.own("bucket", 0, DAY) as stopped:
            commit(lake, stopped, f"{URL}1")
            commit(lake, stopped, f"{URL}2")
            with lake.own("bucket", 0, DAY) as taker:
                assert taker.settled.sealed == {1: 2}
                commit(lake, stopped, f"{URL}3")
                commit(lake, taker, f"{URL}4")
            commit(lake, stopped, f"{URL}5")

    with pytest.raises(LeaseLost) as lost:
        be_taken_over()
    assert lost.value.args == (PARTITION, 1)
    assert [row["url"] for row in read(lake, "observation")] == [f"{URL}1", f"{URL}2", f"{URL}4"]
    write(lake, 0, {"observation": []})
    assert lake.settled("bucket", 0).sealed == {1: 2, 2: 1, 4: 1}


def test_a_file_after_a_gap_never_counts_not_even_when_the_gap_is_filled(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    lake.guard = NoGuard()

    def leave_a_gap() -> None:
        with lake.own("bucket", 0, DAY) as owner:
            commit(lake, owner, f"{URL}1")
            owner.sequence = 2
            commit(lake, owner, f"{URL}3")
            with lake.own("bucket", 0, DAY):
                pass
            owner.sequence = 1
            commit(lake, owner, f"{URL}2")

    with pytest.raises(LeaseLost):
        leave_a_gap()
    assert [row["url"] for row in read(lake, "observation")] == [f"{URL}1"]


def test_a_side_table_counts_only_with_its_lead(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    with suppress(ZeroDivisionError), lake.own("bucket", 0, DAY) as owner:
        staged = lake.files.staged(".parquet")
        tables.write_rows(staged, "capture", [])
        lake.commit(owner, "capture", {"capture": staged})
        raise ZeroDivisionError
    write(lake, 0, {"observation": [observed(URL)]})
    assert lake.current("capture", "bucket", 0, lake.settled("bucket", 0)) == []


def test_an_open_epoch_counts_for_its_owner_alone(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    with lake.own("bucket", 0, DAY) as owner:
        commit(lake, owner)
        assert lake.current("observation", "bucket", 0, lake.settled("bucket", 0)) == []
        assert len(lake.current("observation", "bucket", 0, owner.written)) == 1
    assert len(lake.current("observation", "bucket", 0, lake.settled("bucket", 0))) == 1


def test_a_lease_file_names_holder_cycle_and_what_it_seals(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    with suppress(ZeroDivisionError), lake.own("bucket", 0, DAY) as owner:
        commit(lake, owner)
        raise ZeroDivisionError
    with lake.own("bucket", 0, DAY):
        content = json.loads(lake.files.read(f"{LAYOUT}/lease/{PARTITION}/e00000002.json"))
    assert f"pid {os.getpid()} " in content.pop("holder")
    assert content == {"epoch": 2, "cycle": str(DAY), "sealed": 1, "history": [[1, 1]]}


def test_a_lease_reads_back_as_it_was_written() -> None:
    lease = Lease(7, "somebody", str(DAY), Settled(6, {2: 1, 6: 12}))
    assert Lease.from_json(lease.to_json(), "path") == lease


def test_a_lease_file_that_is_none_is_an_error_that_names_it(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    lake.files.put_bytes(b"{}", f"{LAYOUT}/lease/{PARTITION}/e00000001.json")
    with pytest.raises(CorruptLake, match=r"e00000001\.json: is no lease file"), lake.own("bucket", 0, DAY):
        pass
