"""A leash ends what it holds, in whatever process group that hid, and whatever became of the holder."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from crawler.demo.leash import Leashed, end_strays

# A command with a child in a process group of its own that ignores SIGTERM, like a task of Airflow at work.
FAMILY = """
import os, signal, sys, time
child = os.fork()
if child == 0:
    os.setpgid(0, 0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)
open(sys.argv[1], "w").write(f"{os.getpid()} {child}")
time.sleep(600)
"""
HOLDER = """
import os, signal, sys
from pathlib import Path
import pytest

from crawler.demo.leash import Leashed, end_strays
command = [sys.executable, "-c", sys.argv[1], sys.argv[2]]
Leashed("family", command, log=Path(sys.argv[3]), environment=os.environ, grace_seconds=0.5)
while not Path(sys.argv[2]).exists() or not Path(sys.argv[2]).read_text():
    pass
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_stopping_ends_the_command_and_its_children_of_other_groups(tmp_path: Path) -> None:
    born = tmp_path / "born"
    command = [sys.executable, "-c", FAMILY, str(born)]
    leashed = Leashed("family", command, log=tmp_path / "log", environment=os.environ, grace_seconds=0.5)
    wait_until(lambda: born.exists() and bool(born.read_text()))
    assert leashed.exit_code is None

    leashed.stop()

    assert not any(is_alive(int(process)) for process in born.read_text().split())


def test_the_command_ends_when_its_holder_is_killed(tmp_path: Path) -> None:
    born = tmp_path / "born"
    holder = [sys.executable, "-c", HOLDER, FAMILY, str(born), str(tmp_path / "log")]
    assert subprocess.run(holder, check=False).returncode == -9

    wait_until(lambda: not any(is_alive(int(process)) for process in born.read_text().split()))


def test_what_is_left_when_holder_and_leash_are_both_killed_is_found_by_its_session(tmp_path: Path) -> None:
    born, record = tmp_path / "born", tmp_path / "sessions"
    leashed = Leashed(
        "family",
        [sys.executable, "-c", FAMILY, str(born)],
        log=tmp_path / "log",
        environment=os.environ,
        record=record,
    )
    wait_until(lambda: born.exists() and bool(born.read_text()))
    os.kill(int(record.read_text().split()[1]), signal.SIGKILL)
    wait_until(lambda: leashed.exit_code is not None)
    family = [int(process) for process in born.read_text().split()]
    assert all(map(is_alive, family))

    end_strays(record)

    wait_until(lambda: not any(map(is_alive, family)))
    assert not record.exists()


def test_a_session_of_another_start_of_the_machine_or_of_another_program_is_left_alone(tmp_path: Path) -> None:
    other = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        (tmp_path / "sessions").write_text(f"{boot} {other.pid}\nearlier {other.pid}\n")
        end_strays(tmp_path / "sessions")
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_a_lock_is_held_until_the_command_is_gone(tmp_path: Path) -> None:
    lock = os.open(tmp_path / "lock", os.O_CREAT | os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    leashed = Leashed("sleep", ["sleep", "60"], log=tmp_path / "log", environment=os.environ, lock=lock)
    os.close(lock)
    other = os.open(tmp_path / "lock", os.O_RDWR)
    try:
        with pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        leashed.stop()
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(other)


def test_an_end_of_its_own_shows_its_exit_code_and_last_words(tmp_path: Path) -> None:
    program = "print('first'); print('last'); raise SystemExit(7)"
    leashed = Leashed("short", [sys.executable, "-c", program], log=tmp_path / "log", environment=os.environ)
    wait_until(lambda: leashed.exit_code is not None)
    assert leashed.exit_code == 7
    assert leashed.last_lines(1) == "last"
    leashed.stop()


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_until(reached: Callable[[], bool], seconds: float = 60) -> None:
    limit = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < limit
        time.sleep(0.02)
