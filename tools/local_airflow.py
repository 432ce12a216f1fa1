"""`python -m tools.local_airflow up|down`: Airflow on this machine for the crawl of ./recrawl.toml.

SQLite and LocalExecutor on loopback, real clock, real schedule. Owns the folder .recrawl/airflow, or the one that
RECRAWL_AIRFLOW_HOME names: database, logs, and `running.json` with the process to end, the address and the password.
`up` returns once Airflow is healthy.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

from crawler.cli.edge import open_lake
from crawler.core.errors import RecrawlError
from crawler.demo.airflow import USER, DemoFailed, ThrowAwayAirflow

ROOT = Path(__file__).resolve().parents[1]
HOME = Path(os.environ.get("RECRAWL_AIRFLOW_HOME") or ROOT / ".recrawl" / "airflow")
RUNNING = HOME / "running.json"
LOG = HOME / "up.log"
START_SECONDS = 180
STOP_SECONDS = 60


def main() -> int:
    """Dispatch; exit code 2 for what the operator can mend."""
    command = sys.argv[1:]
    try:
        if command == ["up"]:
            return up()
        if command == ["down"]:
            return down()
        if command == ["serve"]:
            return serve()
    except RecrawlError as error:
        print(f"make up: {error}", file=sys.stderr)
        return error.exit_code
    print("usage: python -m tools.local_airflow up|down", file=sys.stderr)
    return 2


def up() -> int:
    """Start Airflow unless it runs, and say where it is."""
    if not _running():
        open_lake(_settings())  # what is wrong with the settings is said here, not in a log
        HOME.mkdir(parents=True, exist_ok=True)
        RUNNING.unlink(missing_ok=True)
        with LOG.open("ab") as log:
            serving = subprocess.Popen(
                [sys.executable, "-m", "tools.local_airflow", "serve"],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        limit = time.monotonic() + START_SECONDS
        while not RUNNING.exists():
            if serving.poll() is not None or time.monotonic() > limit:
                print(f"make up: Airflow did not start; see {LOG}", file=sys.stderr)
                return 1
            time.sleep(0.2)
    told = json.loads(RUNNING.read_text())
    print(f"Airflow: {told['address']}/dags/recrawl   user {USER}   password {told['password']}")
    print("Unpause the DAG there to run a cycle each day at 00:00 UTC, or trigger one. Stop all with: make down")
    return 0


def down() -> int:
    """End what `up` started and wait until it is gone."""
    process = _running()
    if not process:
        print("make down: nothing runs")
        return 0
    os.kill(process, signal.SIGTERM)
    limit = time.monotonic() + STOP_SECONDS
    while _lives(process):
        if time.monotonic() > limit:
            print(f"make down: process {process} has not ended yet; see {LOG}", file=sys.stderr)
            return 1
        time.sleep(0.2)
    print("make down: stopped; the lake stays")
    return 0


def serve() -> int:
    """Run Airflow until SIGTERM; the process that `up` starts."""
    lake = open_lake(_settings())
    pools = {"recrawl_plan": os.cpu_count() or 1, "recrawl_fetch": lake.buckets, "recrawl_fold": os.cpu_count() or 1}
    variables = {
        "RECRAWL_SETTINGS": str(_settings().resolve()),
        "AIRFLOW__SCHEDULER__USE_JOB_SCHEDULE": "True",
        "PYTHONPATH": str(ROOT),
    }
    try:
        airflow = ThrowAwayAirflow(HOME, dags=ROOT / "dags", plugins=ROOT / "plugins", pools=pools, variables=variables)
        signal.signal(signal.SIGTERM, _end)
        with contextlib.suppress(_Ended), airflow:
            told = {"process": os.getpid(), "address": f"http://127.0.0.1:{airflow.port}", "password": airflow.password}
            beside = RUNNING.with_suffix(".tmp")
            beside.touch(mode=0o600)
            beside.write_text(json.dumps(told))
            beside.replace(RUNNING)
            while True:
                airflow.check()
                time.sleep(1)
    except DemoFailed as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        RUNNING.unlink(missing_ok=True)
    return 0


class _Ended(Exception):
    """SIGTERM came."""


def _end(_number: int, _frame: FrameType | None) -> None:
    raise _Ended


def _settings() -> Path:
    return Path(os.environ.get("RECRAWL_SETTINGS") or ROOT / "recrawl.toml")


def _running() -> int | None:
    """The process that serves, if one does."""
    try:
        process = int(json.loads(RUNNING.read_text())["process"])
    except (OSError, ValueError, KeyError):
        return None
    return process if _lives(process) else None


def _lives(process: int) -> bool:
    """Whether `process` is one of ours: neither gone, nor ended, nor another to whom the number went."""
    try:
        os.kill(process, 0)
        command = Path(f"/proc/{process}/cmdline")
        return not command.parent.exists() or b"tools.local_airflow" in command.read_bytes()
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main())
