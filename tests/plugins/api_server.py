"""A real api-server of Airflow with the plugin, two crawls and a DAG that is none; nothing schedules."""

import json
import os
import secrets
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import requests

from crawler.demo.airflow import API_SERVER_GRACE_SECONDS, clean_environment, free_port
from crawler.demo.leash import Leashed
from tests.plugins.conftest import PLUGINS

ROLES = {"root": "admin", "looker": "viewer"}
DAGS = """
from airflow.sdk import DAG
from recrawl_airflow import crawl_dag

docs = crawl_dag("docs", {docs!r})
shop = crawl_dag("shop", {shop!r})
with DAG("other", schedule=None):
    pass
"""


class ApiServer:
    """Runs as long as the context lasts."""

    def __init__(self, home: Path, docs: Path, shop: Path) -> None:
        self.home = home
        port = free_port()
        self.address = f"http://127.0.0.1:{port}"
        self.passwords = {user: secrets.token_urlsafe(12) for user in ROLES}
        dags = home / "dags"
        dags.mkdir(parents=True)
        (dags / "crawls.py").write_text(DAGS.format(docs=str(docs), shop=str(shop)))
        (home / "simple_auth_manager_passwords.json.generated").write_text(json.dumps(self.passwords))
        settings = {
            "CORE__DAGS_FOLDER": dags,
            "CORE__PLUGINS_FOLDER": PLUGINS,
            "CORE__LOAD_EXAMPLES": False,
            "CORE__SIMPLE_AUTH_MANAGER_USERS": ",".join(f"{user}:{role}" for user, role in ROLES.items()),
            "DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home / 'airflow.db'}",
            "API__HOST": "127.0.0.1",
            "API__PORT": port,
            "API__BASE_URL": self.address,
            "API_AUTH__JWT_SECRET": secrets.token_urlsafe(48),
            "USAGE_DATA_COLLECTION__ENABLED": False,
        }
        self.environment = {
            **clean_environment(os.environ),
            "AIRFLOW_HOME": str(home),
            "PYTHONPATH": str(PLUGINS.parent),
            **{f"AIRFLOW__{name}": str(value) for name, value in settings.items()},
        }
        self._server: Leashed | None = None

    def __enter__(self) -> "ApiServer":
        for words in (["db", "migrate"], ["dags", "reserialize"]):
            command = [sys.executable, "-m", "airflow", *words]
            done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
        port = self.address.rpartition(":")[2]
        self._server = Leashed(
            "api-server",
            [sys.executable, "-m", "airflow", "api-server", "--host", "127.0.0.1", "--port", port, "--workers", "1"],
            log=self.home / "api-server.log",
            environment=self.environment,
            grace_seconds=API_SERVER_GRACE_SECONDS,
        )
        limit = time.monotonic() + 180
        while not self._answers():
            assert self._server.exit_code is None, self._server.last_lines()
            assert time.monotonic() < limit, self._server.last_lines()
            time.sleep(0.3)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server:
            self._server.stop()

    def token(self, user: str) -> str:
        credentials = {"username": user, "password": self.passwords[user]}
        answer = requests.post(f"{self.address}/auth/token", json=credentials, timeout=30)
        answer.raise_for_status()
        return str(answer.json()["access_token"])

    def get(self, path: str, user: str | None = None, **options: Any) -> requests.Response:
        """The answer to a GET, redirects not followed."""
        headers = {"Authorization": f"Bearer {self.token(user)}"} if user else {}
        return requests.get(f"{self.address}{path}", headers=headers, timeout=60, allow_redirects=False, **options)

    def trigger(self, dag: str, day: str) -> None:
        """Have a run of `dag` that waits for ever, since no scheduler is there."""
        headers = {"Authorization": f"Bearer {self.token('root')}"}
        body = {"logical_date": f"{day}T00:00:00Z", "conf": {}}
        url = f"{self.address}/api/v2/dags/{dag}/dagRuns"
        requests.post(url, json=body, headers=headers, timeout=60).raise_for_status()

    def _answers(self) -> bool:
        try:
            return requests.get(f"{self.address}/api/v2/version", timeout=5).ok
        except requests.RequestException:
            return False
