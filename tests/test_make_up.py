"""`make up` and `make down`: mistakes are said at once; real starts, a crash, a stop that leaves no process."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from crawler.demo.airflow import SESSIONS
from crawler.demo.leash import session_members
from tools import local_airflow

pytestmark = [pytest.mark.airflow, pytest.mark.xdist_group("scheduler")]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a crawl, whose Airflow is neither a developer's running one nor has his settings."""
    monkeypatch.setenv("RECRAWL_AIRFLOW_HOME", str(tmp_path / "airflow"))
    monkeypatch.setenv("RECRAWL_SETTINGS", str(tmp_path / "recrawl.toml"))
    return tmp_path


def make(*command: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "tools.local_airflow", *command]
    return subprocess.run(words, cwd=local_airflow.ROOT, capture_output=True, text=True, check=False)


def init(home: Path, user_agent: str = "") -> None:
    program = [sys.executable, "-c", "from crawler.cli import main; main()", "init", str(home)]
    subprocess.run([*program, "--user-agent", user_agent], cwd=local_airflow.ROOT, check=True)


def sessions(home: Path) -> list[int]:
    """The leashes of the Airflow that runs, one for each of its services."""
    return [int(line.split()[1]) for line in (home / "airflow" / SESSIONS).read_text().splitlines()]


def told(home: Path) -> dict[str, object]:
    return dict(json.loads((home / "airflow/running.json").read_text()))


def is_healthy(home: Path) -> bool:
    with urllib.request.urlopen(f"{told(home)['address']}/api/v2/monitor/health") as answer:
        return bool(json.load(answer)["metadatabase"]["status"] == "healthy")


def test_up_without_settings_says_how_to_begin(home: Path) -> None:
    ended = make("up")
    assert ended.returncode == 2
    assert "Run `recrawl init`" in ended.stderr


def test_a_dag_is_not_switched_on_for_a_crawl_that_names_no_contact(home: Path) -> None:
    init(home)
    ended = make("up", "--unpause", str(home))  # in the order of the Makefile
    assert ended.returncode == 2
    assert "names no contact" in ended.stderr


def test_down_with_nothing_running_is_no_error(home: Path) -> None:
    ended = make("down")
    assert (ended.returncode, ended.stdout) == (0, "make down: nothing runs\n")


def test_every_crawl_has_an_airflow_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RECRAWL_AIRFLOW_HOME", raising=False)
    one, two = (local_airflow.Home.of("up", tmp_path / name / "mine/recrawl.toml") for name in ("one", "two"))
    assert one.folder != two.folder
    assert one.folder.name.startswith("up-mine-")


def test_a_port_that_another_program_listens_on_is_left_to_it(tmp_path: Path) -> None:
    home = local_airflow.Home(tmp_path)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        (tmp_path / "port").write_text(str(taken))
        assert home.choose_port() != taken
        (tmp_path / "port").write_text(str(taken))
    assert home.choose_port() == taken


@pytest.mark.slow
def test_up_works_twice_and_after_crashes_and_down_leaves_no_process(home: Path) -> None:
    init(home, "testbot/1.0 (+https://example.org/bot)")
    begun: list[int] = []
    try:
        first, second = make("up"), make("up")
        assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
        begun += sessions(home)
        password = str(told(home)["password"])
        assert password in first.stdout
        assert password not in second.stdout
        assert f"{told(home)['address']}/dags/recrawl\n" in first.stdout
        assert "The DAG is paused" in second.stdout
        assert (home / "airflow/running.json").stat().st_mode & 0o077 == 0
        assert is_healthy(home)

        # The scheduler's leash is killed: the scheduler is an orphan, and whoever serves must end everything.
        os.kill(begun[2], signal.SIGKILL)
        wait_until(lambda: not (home / "airflow/running.json").exists())
        again = make("up")
        assert again.returncode == 0, again.stderr
        begun += sessions(home)
        assert told(home)["password"] == password

        # Who serves is killed, and an up comes before its services have noticed.
        os.kill(int(str(told(home)["process"])), signal.SIGKILL)
        last = make("up", "--unpause")
        assert last.returncode == 0, last.stderr
        assert re.search(r"The DAG is on", last.stdout)
        begun += sessions(home)
        assert is_healthy(home)
    finally:
        ended = make("down")
    assert ended.returncode == 0
    assert [member for session in begun for member in session_members(session)] == []
    assert make("down").stdout == "make down: nothing runs\n"


def wait_until(reached: Callable[[], bool], seconds: float = 60) -> None:
    limit = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < limit
        time.sleep(0.1)
