"""An Airflow on this machine: SQLite, LocalExecutor, real scheduler, everything on 127.0.0.1.

Owns one folder, AIRFLOW_HOME: metadata database, logs, password. Starts api-server, scheduler and dag-processor as
leashed processes; no triggerer, since nothing is deferred. Never touches another Airflow of the machine: its
AIRFLOW variables are dropped, and its ports are left alone.
"""

import json
import os
import secrets
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from crawler.demo.airflow_api import AirflowApi
from crawler.demo.leash import GRACE_SECONDS, Leashed, end_strays

USER = "admin"
PASSWORDS = "simple_auth_manager_passwords.json.generated"  # Airflow's own name for it
SESSIONS = "sessions"  # what runs, so that the next start can end what a crash left
START_SECONDS = 180.0
# It says at once that it has finished, but its process does not end.
API_SERVER_GRACE_SECONDS = 1.0


class DemoFailed(Exception):
    """The demo cannot go on; the message says why and where to look."""


class LocalAirflow:
    """Airflow for as long as the context lasts.

    home: its folder, made if absent; another start there goes on with its database. dags, plugins: folders.
    pools: name to slots; their largest is the number of tasks that run at once. variables: further environment of
    every task. port, password: chosen if not given. lock: a descriptor that stays open until every process is gone.
    """

    def __init__(
        self,
        home: Path,
        *,
        dags: Path,
        plugins: Path,
        pools: Mapping[str, int],
        variables: Mapping[str, str],
        port: int | None = None,
        password: str | None = None,
        lock: int | None = None,
    ) -> None:
        self.home = home
        self.pools = dict(pools)
        self.port = port or free_port()
        self.password = password or secrets.token_urlsafe(12)
        settings = airflow_settings(
            home, dags=dags, plugins=plugins, port=self.port, parallelism=max(self.pools.values())
        )
        self.environment = {
            **clean_environment(os.environ),
            "AIRFLOW_HOME": str(home),
            **as_variables(settings),
            **variables,
        }
        self.api = AirflowApi(f"http://127.0.0.1:{self.port}", USER, self.password)
        self._services: list[Leashed] = []
        self._lock = lock

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End all services and wait until none of their processes is left."""
        for service in self._services:
            service.let_go()
        for service in self._services:
            service.stop()
        self._services.clear()
        (self.home / SESSIONS).unlink(missing_ok=True)

    def check(self) -> None:
        """Raise DemoFailed if a service has ended."""
        for service in self._services:
            if service.exit_code is not None:
                raise DemoFailed(
                    f"Airflow's {service.name} ended with code {service.exit_code}; the end of {service.log}:\n"
                    f"{service.last_lines()}"
                )

    def errors_of(self, run: str) -> list[str]:
        """What the failed tasks of a run logged as their error, a line each."""
        found = []
        for log in sorted(self.home.glob(f"logs/*/run_id={run}/**/*.log")):
            for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
                entry = json.loads(line) if line.startswith("{") else {}
                if details := entry.get("error_detail"):
                    found.append(f"{entry.get('task_id')}: {details[0].get('exc_value')}")
        return list(dict.fromkeys(found))

    def _start(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        end_strays(self.home / SESSIONS)
        passwords = self.home / PASSWORDS
        passwords.touch(mode=0o600)
        passwords.write_text(json.dumps({USER: self.password}))
        self._prepare()
        migrate = self._run_airflow("migrate", "db", "migrate")
        if self._await(lambda: migrate.exit_code is not None, "migrate its database") and migrate.exit_code:
            raise DemoFailed(f"`airflow db migrate` failed; the end of {migrate.log}:\n{migrate.last_lines()}")
        self._services.remove(migrate)
        self._run_components()
        self._await(self._is_healthy, "become healthy")
        for pool, slots in self.pools.items():
            self.api.set_pool(pool, slots)

    def _prepare(self) -> None:
        """Start what Airflow itself needs. SQLite needs nothing."""

    def _run_components(self) -> None:
        words = ["api-server", "--host", "127.0.0.1", "--port", str(self.port), "--workers", "1"]
        self._run_airflow("api-server", *words, grace_seconds=API_SERVER_GRACE_SECONDS)
        self._run_airflow("scheduler", "scheduler", "--skip-serve-logs")
        self._run_airflow("dag-processor", "dag-processor")

    def _run_airflow(
        self,
        name: str,
        *arguments: str,
        environment: Mapping[str, str] | None = None,
        grace_seconds: float = GRACE_SECONDS,
    ) -> Leashed:
        command = [sys.executable, "-m", "airflow", *arguments]
        return self._run(name, command, environment=environment, grace_seconds=grace_seconds)

    def _run(
        self,
        name: str,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        ends_on: signal.Signals = signal.SIGTERM,
        grace_seconds: float = GRACE_SECONDS,
    ) -> Leashed:
        service = Leashed(
            name,
            command,
            log=self.home / f"{name}.log",
            environment=self.environment if environment is None else environment,
            ends_on=ends_on,
            grace_seconds=grace_seconds,
            record=self.home / SESSIONS,
            lock=self._lock,
        )
        self._services.append(service)
        return service

    def _is_healthy(self) -> bool:
        self.check()
        return self.api.is_healthy()

    def _await(self, reached: Callable[[], bool], what: str) -> bool:
        limit = time.monotonic() + START_SECONDS
        while not reached():
            if time.monotonic() > limit:
                raise DemoFailed(f"Airflow did not {what} in {START_SECONDS:.0f} s; its logs are in {self.home}")
            time.sleep(0.2)
        return True


class ThrowAwayAirflow(LocalAirflow):
    """An Airflow that starts no run by itself: whoever holds it turns the days."""

    def __init__(
        self, home: Path, *, dags: Path, plugins: Path, pools: Mapping[str, int], variables: Mapping[str, str]
    ) -> None:
        no_schedule = as_variables({"scheduler": {"use_job_schedule": "False"}})
        super().__init__(home, dags=dags, plugins=plugins, pools=pools, variables={**no_schedule, **variables})


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """`environment` without what would steer Airflow, the crawl or a proxy.

    Bytecode may be written: without it every process of Airflow takes three times as long to start.
    """
    prefixes = ("AIRFLOW", "_AIRFLOW", "RECRAWL_")
    names = {"PYTHONDONTWRITEBYTECODE", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"}
    return {
        name: value
        for name, value in environment.items()
        if not name.startswith(prefixes) and name.upper() not in names
    }


def airflow_settings(
    home: Path, *, dags: Path, plugins: Path, port: int, parallelism: int
) -> dict[str, dict[str, str]]:
    """Airflow's settings by section; each that is not its default has its reason here or is a matter of course."""
    address = f"http://127.0.0.1:{port}"
    return {
        "core": {
            "executor": "LocalExecutor",
            "load_examples": "False",
            "dags_folder": str(dags),
            "plugins_folder": str(plugins),
            # LocalExecutor queues without a limit, and what waits longer than a token lives fails: cap it here.
            "parallelism": str(parallelism),
            "max_active_tasks_per_dag": str(parallelism),
            "execution_api_server_url": f"{address}/execution/",
            "simple_auth_manager_users": f"{USER}:admin",
            "mp_start_method": "fork" if sys.platform == "linux" else "spawn",
        },
        "database": {"sql_alchemy_conn": f"sqlite:///{home / 'airflow.db'}"},
        "api": {"host": "127.0.0.1", "port": str(port), "base_url": address, "workers": "1"},
        "api_auth": {"jwt_secret": secrets.token_urlsafe(48)},
        "scheduler": {
            "scheduler_idle_sleep_time": "0.2",
            "task_instance_heartbeat_timeout": "60",  # a killed task is noticed after this, not after 300 s
            "task_queued_timeout": "3600",  # how long the token of a waiting task lives
        },
        # The supervisor of a task that ends at once sleeps this long before it notices.
        "workers": {"min_heartbeat_interval": "1"},
        "dag_processor": {"refresh_interval": "10"},
        "logging": {"base_log_folder": str(home / "logs"), "colored_console_log": "False"},
    }


def as_variables(settings: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Airflow's settings by section as the environment variables that Airflow reads them from."""
    return {
        f"AIRFLOW__{section.upper()}__{key.upper()}": value
        for section, keys in settings.items()
        for key, value in keys.items()
    }


def free_port() -> int:
    """A port of 127.0.0.1 that nothing listens on at the moment."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def is_free(port: int) -> bool:
    """Whether a server could listen on this port of 127.0.0.1 now."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port that was just left is free
        try:
            listener.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
