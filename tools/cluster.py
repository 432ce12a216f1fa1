"""The topology of docker-compose.yaml without Docker: PostgreSQL, Redis, two Celery workers, all on loopback.

Takes Debian's PostgreSQL and Redis, at free ports and in a folder of its own under the system's temporary folder,
which is removed when it ends: the metadata lasts as long as the cluster runs, the lake stays. The lake is a folder that
both workers see, since they are on one machine. Never touches a PostgreSQL or Redis that the machine runs already.
"""

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from crawler.demo.airflow import DemoFailed, LocalAirflow, as_variables, free_port, is_free
from crawler.demo.leash import Leashed

WORKERS = 2
ROLE = "recrawl"
STORES = "stores"  # names the folder of PostgreSQL and Redis
READY_SECONDS = 30.0


class ClusterImpossible(Exception):
    """A program or a package is missing; the message says which, and how to get it."""


class ClusterAirflow(LocalAirflow):
    """An Airflow with PostgreSQL, Redis and Celery workers for as long as the context lasts."""

    def __init__(self, home: Path, *, variables: Mapping[str, str], **given: Any) -> None:
        self._stores: list[Leashed] = []
        self._ports = {"postgres": free_port(), "redis": free_port()}
        self._passwords = {"postgres": secrets.token_urlsafe(24), "redis": secrets.token_urlsafe(24)}
        login = f"{ROLE}:{self._passwords['postgres']}@127.0.0.1:{self._ports['postgres']}/postgres"
        database = f"postgresql+psycopg2://{login}"
        shared = {
            "core": {"executor": "CeleryExecutor"},
            "celery": {
                "broker_url": f"redis://:{self._passwords['redis']}@127.0.0.1:{self._ports['redis']}/0",
                "result_backend": f"db+{database}",
                "worker_prefetch_multiplier": "1",  # a bucket must not wait behind another while a worker is free
            },
            # Longer than any task: what is not acknowledged by then is given to a second worker.
            "celery_broker_transport_options": {"visibility_timeout": "90000"},
        }
        private = {"database": {"sql_alchemy_conn": database}}
        super().__init__(home, variables={**as_variables(shared), **as_variables(private), **variables}, **given)
        self._slots = -(-max(self.pools.values()) // WORKERS)

    @staticmethod
    def require_programs() -> None:
        """Raise ClusterImpossible unless PostgreSQL, Redis and the Celery provider are here."""
        missing = [name for name, program in (("postgresql", _postgres("postgres")), ("redis-server", _redis()))
                   if program is None]  # fmt: skip
        if missing:
            raise ClusterImpossible(f"{' and '.join(missing)} not found. Run: apt-get install {' '.join(missing)}")
        if find_spec("airflow.providers") is None or find_spec("airflow.providers.celery") is None:
            raise ClusterImpossible("Airflow's Celery provider is not installed: install recrawl[airflow,celery]")

    def stop(self) -> None:
        """End all services, then what they talk to, and wait until no process is left."""
        stores, self._stores = self._stores, []
        self._services = [service for service in self._services if service not in stores]
        super().stop()
        self._services = stores
        super().stop()
        remove_stores(self.home)

    def _prepare(self) -> None:
        remove_stores(self.home)
        folder = Path(tempfile.mkdtemp(prefix="recrawl-cluster-"))
        (self.home / STORES).write_text(str(folder))
        folder.chmod(0o711)
        self._stores = [self._start_postgres(folder / "postgres"), self._start_redis(folder / "redis")]
        for name, port in self._ports.items():
            limit = time.monotonic() + READY_SECONDS
            while is_free(port):
                self.check()
                if time.monotonic() > limit:
                    raise DemoFailed(f"{name} does not listen on port {port}; see {self.home / name}.log")
                time.sleep(0.1)

    def _start_postgres(self, data: Path) -> Leashed:
        user = _own(data, "postgres")
        secret = data / "password"
        secret.touch(mode=0o600)
        secret.write_text(self._passwords["postgres"])
        _give(secret, user)
        command = [*_as(user), str(_postgres("initdb")), "--pgdata", str(data / "data"), "--username", ROLE]
        command += ["--auth", "scram-sha-256", "--pwfile", str(secret)]
        command += ["--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync"]
        made = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")  # noqa: S603  our own words
        secret.unlink()
        if made.returncode:
            raise DemoFailed(f"initdb failed: {made.stderr}")
        options = {
            "listen_addresses": "127.0.0.1",
            "port": str(self._ports["postgres"]),
            "unix_socket_directories": "",
            "fsync": "off",  # its data is thrown away anyway
        }
        command = [*_as(user), str(_postgres("postgres")), "-D", str(data / "data")]
        command += [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        return self._run("postgres", command, ends_on=signal.SIGINT)  # SIGTERM would wait for every client

    def _start_redis(self, data: Path) -> Leashed:
        user = _own(data, "redis")
        settings = data / "redis.conf"
        settings.touch(mode=0o600)
        settings.write_text(
            f"bind 127.0.0.1\nport {self._ports['redis']}\nrequirepass {self._passwords['redis']}\n"
            f'dir {data}\nsave ""\nappendonly no\n'
        )
        _give(settings, user)
        return self._run("redis", [*_as(user), str(_redis()), str(settings)])

    def _run_components(self) -> None:
        super()._run_components()
        self._run_airflow("triggerer", "triggerer", "--skip-serve-logs")
        # A worker needs neither the database nor the secret that signs tokens: its token comes with each task.
        secret = {"AIRFLOW__DATABASE__SQL_ALCHEMY_CONN", "AIRFLOW__API_AUTH__JWT_SECRET"}
        environment = {name: value for name, value in self.environment.items() if name not in secret}
        for number in range(1, WORKERS + 1):
            name = f"worker-{number}"
            words = ["celery", "worker", "--celery-hostname", name, "--concurrency", str(self._slots)]
            self._run_airflow(name, *words, "--skip-serve-logs", "--without-mingle", "--without-gossip",
                              environment=environment)  # fmt: skip


def remove_stores(home: Path) -> None:
    """Remove the data of PostgreSQL and Redis, which must have ended."""
    kept = home / STORES
    if kept.exists():
        shutil.rmtree(kept.read_text(), ignore_errors=True)
        kept.unlink()


def _postgres(program: str) -> Path | None:
    """A program of the newest PostgreSQL; Debian keeps those of the server out of the path."""
    versions = Path("/usr/lib/postgresql")
    found = sorted(versions.glob(f"*/bin/{program}"), key=lambda path: float(path.parents[1].name))
    elsewhere = shutil.which(program)
    return found[-1] if found else Path(elsewhere) if elsewhere else None


def _redis() -> Path | None:
    found = shutil.which("redis-server")
    return Path(found) if found else None


def _own(folder: Path, user: str) -> str | None:
    """Make a folder for a service; the user that it is to run as, None for the one who runs this."""
    folder.mkdir(mode=0o700)
    if os.geteuid() != 0:
        return None
    _give(folder, user)
    return user


def _give(path: Path, user: str | None) -> None:
    if user is not None:
        known = pwd.getpwnam(user)
        os.chown(path, known.pw_uid, known.pw_gid)


def _as(user: str | None) -> Sequence[str]:
    """The start of a command that is to run as `user`: PostgreSQL refuses to run as root."""
    if user is None:
        return []
    setpriv = shutil.which("setpriv") or "setpriv"
    return [setpriv, f"--reuid={user}", f"--regid={user}", "--clear-groups", "--"]
