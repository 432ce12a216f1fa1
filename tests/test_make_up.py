"""`make up` and `make down`: mistakes are said at once; a real start, a request, a stop that leaves no process."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tools import local_airflow

pytestmark = pytest.mark.airflow


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is neither a developer's running Airflow nor his settings."""
    monkeypatch.setenv("RECRAWL_AIRFLOW_HOME", str(tmp_path / "airflow"))
    monkeypatch.setenv("RECRAWL_SETTINGS", str(tmp_path / "recrawl.toml"))
    return tmp_path


def make(command: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "tools.local_airflow", command]
    return subprocess.run(words, cwd=local_airflow.ROOT, capture_output=True, text=True, check=False)


def processes_of(home: Path) -> list[str]:
    found = subprocess.run(["pgrep", "-af", str(home)], capture_output=True, text=True, check=False).stdout
    return [line for line in found.splitlines() if "pgrep" not in line]


def test_up_without_settings_says_how_to_begin(home) -> None:
    ended = make("up")
    assert ended.returncode == 2
    assert "Run `recrawl init`" in ended.stderr


def test_down_with_nothing_running_is_no_error(home) -> None:
    ended = make("down")
    assert (ended.returncode, ended.stdout) == (0, "make down: nothing runs\n")


@pytest.mark.slow
def test_up_twice_starts_one_airflow_and_down_leaves_no_process(home) -> None:
    (home / "recrawl.toml").write_text("[lake]\nbuckets = 1\n")
    recrawl = [sys.executable, "-c", "from crawler.cli import main; main()", "init"]
    subprocess.run([*recrawl, "--settings", str(home / "recrawl.toml")], cwd=local_airflow.ROOT, check=True)
    try:
        first, second = make("up"), make("up")
        assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
        assert first.stdout == second.stdout
        told = json.loads((home / "airflow/running.json").read_text())
        assert (home / "airflow/running.json").stat().st_mode & 0o077 == 0
        with urllib.request.urlopen(f"{told['address']}/api/v2/monitor/health") as answer:
            assert json.load(answer)["metadatabase"]["status"] == "healthy"
    finally:
        ended = make("down")
    assert ended.returncode == 0
    assert processes_of(home) == []
