"""`python -m tools.local_airflow up|down|cluster|cluster-down [CRAWL] [--unpause]`: Airflow here for one's own crawl.

CRAWL is a settings file or its folder; RECRAWL_SETTINGS or ./recrawl.toml without it. Real clock, real schedule, all on
loopback. `up` runs SQLite and LocalExecutor, `cluster` PostgreSQL, Redis and Celery workers (tools/cluster.py).

Owns a folder for each crawl in .recrawl, or the one that RECRAWL_AIRFLOW_HOME names: logs, password, metadata, and
`running.json` with the process to end, the address and the password. A lock there is held until the last process of
that Airflow is gone. `up` returns once Airflow is healthy; without CRAWL, `down` stops the Airflows of all crawls.
"""

import argparse
import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import FrameType
from typing import Any

from crawler.cli.edge import open_lake, settings_file
from crawler.core.config import Settings
from crawler.core.errors import RecrawlError
from crawler.demo.airflow import PASSWORDS, SESSIONS, USER, DemoFailed, LocalAirflow, is_free
from crawler.demo.airflow_api import AirflowApi, AirflowRefused
from crawler.demo.leash import end_strays
from tools.cluster import ClusterAirflow, ClusterImpossible, remove_stores

ROOT = Path(__file__).resolve().parents[1]
DAG = "recrawl"
KINDS: dict[str, type[LocalAirflow]] = {"up": LocalAirflow, "cluster": ClusterAirflow}
USUAL_PORT = 8080
START_SECONDS = 240
STOP_SECONDS = 60
DAG_SECONDS = 90


def main() -> int:
    """Dispatch; exit code 2 for what the operator can mend."""
    parser = argparse.ArgumentParser(prog="python -m tools.local_airflow", description=__doc__)
    parser.add_argument("command", choices=["up", "down", "cluster", "cluster-down", "serve"])
    parser.add_argument("crawl", nargs="?", help="settings file or its folder")
    parser.add_argument("--unpause", action="store_true", help="switch the DAG on")
    parser.add_argument("--kind", choices=KINDS, help=argparse.SUPPRESS)
    given = parser.parse_intermixed_args()  # `up --unpause mycrawl` as well as `up mycrawl --unpause`
    command, _, is_down = given.command.partition("-")
    try:
        if command == "down" or is_down:
            return down("up" if command == "down" else command, given.crawl, given.command)
        path = settings_of(given.crawl)
        return serve(given.kind, path) if command == "serve" else up(command, path, unpause=given.unpause)
    except RecrawlError as error:
        print(f"make {given.command}: {error}", file=sys.stderr)
        return error.exit_code
    except ClusterImpossible as error:
        print(f"make {given.command}: {error}", file=sys.stderr)
        return 2
    except AirflowRefused as error:
        print(f"make {given.command}: {error}", file=sys.stderr)
        return 1


def up(kind: str, path: Path, *, unpause: bool) -> int:
    """Start the Airflow of a crawl unless it runs, and say where it is and what it will do."""
    settings = open_lake(path).settings  # what is wrong with the settings is said here, not in a log
    if unpause:
        settings.require_contact()
    if kind == "cluster":
        ClusterAirflow.require_programs()
    home = Home.of(kind, path)
    is_first = not (home.folder / PASSWORDS).exists()
    told = home.serving() or _start(home, kind, path)
    if told is None:
        print(f"make {kind}: Airflow did not start; see {home.log}", file=sys.stderr)
        return 1
    is_on = AirflowApi(told["address"], USER, told["password"]).await_dag(DAG, DAG_SECONDS, unpause=unpause)
    print(f"Airflow: {told['address']}/dags/{DAG}")
    kept = f"it is kept in {home.folder / PASSWORDS}"
    print(f"Login: {USER}, password {told['password']} (said once; {kept})" if is_first else f"Login: {USER}; {kept}")
    print(what_a_cycle_does(settings))
    print(
        "The DAG is on: a cycle each day at 00:00 UTC, today's at once."
        if is_on
        else f"The DAG is paused. Switch it on there or with make {kind} UNPAUSE=1: it runs today's cycle at once."
    )
    print("Stop all with: make " + ("down" if kind == "up" else f"{kind}-down"))
    return 0


def what_a_cycle_does(settings: Settings) -> str:
    """What sites get to see of a cycle."""
    who = settings.crawl.user_agent or "nobody yet: set crawl.user_agent"
    return (
        f"A cycle asks for at most {settings.plan.budget_urls:,} URLs, {settings.plan.max_urls_per_host:,} of a host, "
        f"each host every {settings.politeness.delay_seconds:g} s at most, after its robots.txt, as {who!r}."
    )


def down(kind: str, crawl: str | None, command: str) -> int:
    """End what `up` started, for one crawl or all, and wait until it is gone."""
    homes = [Home.of(kind, settings_of(crawl))] if crawl else Home.all(kind)
    ended = [home for home in homes if home.end()]
    for home in homes:
        if home.is_locked():
            print(f"make {command}: a process of {home.folder} has not ended yet; see {home.log}", file=sys.stderr)
            return 1
    print(f"make {command}: " + ("stopped; the lake stays" if ended else "nothing runs"))
    return 0


def serve(kind: str, path: Path) -> int:
    """Run Airflow until SIGTERM; the process that `up` starts."""
    lake = open_lake(path)
    cores = os.cpu_count() or 1
    home = Home.of(kind, path)
    try:
        with home.lock() as lock, home.as_server():
            end_strays(home.folder / SESSIONS)
            airflow = KINDS[kind](
                home.folder,
                dags=ROOT / "dags",
                plugins=ROOT / "plugins",
                pools={"recrawl_plan": cores, "recrawl_fetch": lake.buckets, "recrawl_fold": cores},
                variables={"RECRAWL_SETTINGS": str(path.resolve())},
                port=home.choose_port(),
                password=home.password(),
                lock=lock,
            )
            signal.signal(signal.SIGTERM, _end)
            with contextlib.suppress(_Ended), airflow:
                home.tell({"process": os.getpid(), "address": airflow.api.address, "password": airflow.password})
                while True:
                    airflow.check()
                    time.sleep(1)
    except DemoFailed as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        home.running.unlink(missing_ok=True)
    return 0


@dataclass(frozen=True, slots=True)
class Home:
    """The folder of one Airflow, and who runs it."""

    folder: Path

    @classmethod
    def of(cls, kind: str, path: Path) -> "Home":
        """The home for the crawl whose settings are at `path`."""
        if given := os.environ.get("RECRAWL_AIRFLOW_HOME"):
            return cls(Path(given).resolve())
        crawl = path.resolve().parent
        mark = sha256(str(path.resolve()).encode()).hexdigest()[:8]
        return cls(ROOT / ".recrawl" / f"{kind}-{crawl.name}-{mark}")

    @classmethod
    def all(cls, kind: str) -> "list[Home]":
        """The homes of all crawls that were ever started."""
        if given := os.environ.get("RECRAWL_AIRFLOW_HOME"):
            return [cls(Path(given).resolve())]
        return [cls(folder) for folder in sorted((ROOT / ".recrawl").glob(f"{kind}-*"))]

    @property
    def running(self) -> Path:
        return self.folder / "running.json"

    @property
    def log(self) -> Path:
        return self.folder / "up.log"

    def serving(self) -> dict[str, Any] | None:
        """What the process that serves says of itself; None if there is none."""
        try:
            told: dict[str, Any] = json.loads(self.running.read_text())
        except (OSError, ValueError):
            return None
        return told if _is_held(self.folder / "serving") else None

    def tell(self, told: dict[str, Any]) -> None:
        """Write down that we serve; readable for the owner only."""
        beside = self.running.with_suffix(".tmp")
        beside.touch(mode=0o600)
        beside.write_text(json.dumps(told))
        beside.replace(self.running)

    def end(self) -> bool:
        """End what runs here and wait for it; whether there was something."""
        if not self.folder.exists():
            return False
        told = self.serving()
        if told:
            os.kill(told["process"], signal.SIGTERM)
        limit = time.monotonic() + STOP_SECONDS
        was_locked = False
        while self.is_locked() and time.monotonic() < limit:
            was_locked = True
            time.sleep(0.2)
        if not self.is_locked():
            end_strays(self.folder / SESSIONS)
            remove_stores(self.folder)
        return bool(told) or was_locked

    @contextmanager
    def as_server(self) -> Iterator[None]:
        """Be the one that serves. Call with the lock.

        This lock is handed on to no other process, so it tells whether the server lives while others still end, even
        before it is reaped. What a killed one said of itself is forgotten first.
        """
        self.running.unlink(missing_ok=True)
        handle = os.open(self.folder / "serving", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            while not _locks(handle):  # somebody is just looking
                time.sleep(0.01)
            yield
        finally:
            os.close(handle)

    @contextmanager
    def lock(self) -> Iterator[int]:
        """Have the folder to ourselves; what another Airflow left there may take a while to end."""
        handle = os.open(self.folder / "lock", os.O_CREAT | os.O_RDWR, 0o600)
        limit = time.monotonic() + STOP_SECONDS
        try:
            while not _locks(handle):
                if time.monotonic() > limit:
                    raise DemoFailed(f"another Airflow in {self.folder} does not end")
                time.sleep(0.2)
            yield handle
        finally:
            os.close(handle)

    def is_locked(self) -> bool:
        """Whether a process of an Airflow in this folder lives."""
        return _is_held(self.folder / "lock")

    def password(self) -> str | None:
        """The password that was chosen at the first start."""
        try:
            return str(json.loads((self.folder / PASSWORDS).read_text())[USER])
        except (OSError, ValueError, KeyError):
            return None

    def choose_port(self) -> int | None:
        """The port of the last time or the usual one, so that a bookmark stays good; None if others have both."""
        kept = self.folder / "port"
        last = int(kept.read_text()) if kept.exists() else USUAL_PORT
        port = next((port for port in (last, USUAL_PORT) if is_free(port)), None)
        if port:
            kept.write_text(str(port))
        return port


class _Ended(Exception):
    """SIGTERM came."""


def _end(_number: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one must not disturb the stop
    raise _Ended


def settings_of(crawl: str | None) -> Path:
    """The settings file that the operator means."""
    named = crawl or os.environ.get("RECRAWL_SETTINGS")
    return settings_file(Path(named)) if named else ROOT / "recrawl.toml"


def _start(home: Home, kind: str, path: Path) -> dict[str, Any] | None:
    """Start the process that serves and wait until it does; None if it ended instead."""
    home.folder.mkdir(parents=True, exist_ok=True)
    with home.log.open("ab") as log:
        serving = subprocess.Popen(  # noqa: S603  ourselves
            [sys.executable, "-m", "tools.local_airflow", "serve", str(path.resolve()), "--kind", kind],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    limit = time.monotonic() + START_SECONDS
    while not (told := home.serving()):
        if serving.poll() is not None or time.monotonic() > limit:
            return None
        time.sleep(0.2)
    return told


def _is_held(lock: Path) -> bool:
    """Whether a process holds the lock file."""
    try:
        handle = os.open(lock, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        return not _locks(handle)
    finally:
        os.close(handle)


def _locks(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
