"""A leash ends what it holds, in whatever process group that hid, and whatever became of the holder."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from crawler.demo.leash import Leashed

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
from crawler.demo.leash import Leashed
Leashed("family", [sys.executable, "-c", sys.argv[1], sys.argv[2]], log=Path(sys.argv[3]), environment=os.environ)
while not Path(sys.argv[2]).exists() or not Path(sys.argv[2]).read_text():
    pass
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_stopping_ends_the_command_and_its_children_of_other_groups(tmp_path: Path) -> None:
    born = tmp_path / "born"
    leashed = Leashed("family", [sys.executable, "-c", FAMILY, str(born)], log=tmp_path / "log", environment=os.environ)
    wait_until(lambda: born.exists() and bool(born.read_text()))
    assert leashed.exit_code is None

    leashed.stop()

    assert not any(is_alive(int(process)) for process in born.read_text().split())


def test_the_command_ends_when_its_holder_is_killed(tmp_path: Path) -> None:
    born = tmp_path / "born"
    holder = [sys.executable, "-c", HOLDER, FAMILY, str(born), str(tmp_path / "log")]
    assert subprocess.run(holder, check=False).returncode == -9

    wait_until(lambda: not any(is_alive(int(process)) for process in born.read_text().split()))


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
