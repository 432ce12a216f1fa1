"""A client of Airflow's REST API: trigger, backfill, clear, wait. Knows no DAG and no process.

Its command line is not used: every call costs seconds, and its output is mixed with log lines.
"""

import time
from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Any

import requests

FINAL_RUN_STATES = frozenset({"success", "failed"})
_ATTEMPTS = 6


class AirflowRefused(Exception):
    """The API answered with an error. Arguments: method, path, status, body."""

    def __str__(self) -> str:
        method, path, status, body = self.args
        return f"Airflow answers {method} {path} with {status}: {body}"


class AirflowApi:
    """One user's session at `address` (http://host:port)."""

    def __init__(self, address: str, user: str, password: str) -> None:
        self.address = address
        self._credentials = {"username": user, "password": password}
        self._session = requests.Session()
        self._session.trust_env = False

    def is_healthy(self) -> bool:
        """Whether the API, the scheduler and the DAG processor are up. Needs no login."""
        try:
            answer = self._session.get(f"{self.address}/api/v2/monitor/health", timeout=5)
            parts = answer.json() if answer.ok else {}
        except (requests.RequestException, ValueError):
            return False
        return all(parts.get(part, {}).get("status") == "healthy" for part in ("scheduler", "dag_processor"))

    def set_pool(self, name: str, slots: int) -> None:
        """Create the pool, or change its slots."""
        try:
            self._call("POST", "/pools", {"name": name, "slots": slots, "include_deferred": False})
        except AirflowRefused as refusal:
            if refusal.args[2] != 409:
                raise
            self._call("PATCH", f"/pools/{name}", {"pool": name, "slots": slots, "include_deferred": False})

    def open_slots(self, pool: str) -> int:
        """How many more tasks the pool would let run."""
        return int(self._call("GET", f"/pools/{pool}")["open_slots"])

    def await_dag(self, dag: str, seconds: float, *, unpause: bool = True) -> bool:
        """Wait until the DAG is known, then switch it on if asked to; whether it is on.

        Raises AirflowRefused with its import error if it has one.
        """
        limit = time.monotonic() + seconds
        while True:
            try:
                found = (
                    self._call("PATCH", f"/dags/{dag}", {"is_paused": False})
                    if unpause
                    else self._call("GET", f"/dags/{dag}")
                )
            except AirflowRefused as refusal:
                errors = self._call("GET", "/importErrors")["import_errors"]
                if errors:
                    raise AirflowRefused("GET", "/importErrors", 200, errors[0]["stack_trace"]) from refusal
                if refusal.args[2] != 404 or time.monotonic() > limit:
                    raise
                time.sleep(0.3)
            else:
                return not found["is_paused"]

    def trigger(self, dag: str, day: date | None, conf: dict[str, Any] | None = None) -> str:
        """Start a run whose logical date is `day` at midnight UTC; its run id."""
        body = {"logical_date": _midnight(day) if day else None, "conf": conf or {}}
        return str(self._call("POST", f"/dags/{dag}/dagRuns", body)["dag_run_id"])

    def backfill(self, dag: str, first: date, last: date) -> int:
        """Have Airflow fill the days from `first` to `last`, both inclusive, one run at a time; the backfill's id."""
        body = {
            "dag_id": dag,
            "from_date": _midnight(first),
            "to_date": _midnight(last),
            "reprocess_behavior": "none",
            "max_active_runs": 1,
            "run_backwards": False,
            "dag_run_conf": {},
        }
        return int(self._call("POST", "/backfills", body)["id"])

    def run_of_day(self, dag: str, day: date) -> str | None:
        """The id of the run whose logical date is `day`; None before there is one."""
        query = {"logical_date_gte": _midnight(day), "logical_date_lte": _midnight(day)}
        runs = self._call("GET", f"/dags/{dag}/dagRuns", query=query)["dag_runs"]
        return str(runs[0]["dag_run_id"]) if runs else None

    def clear(self, dag: str, run: str, tasks: Sequence[str | tuple[str, int]]) -> None:
        """Have the tasks (or single mapped ones) and all that follow them run again."""
        body = {
            "dry_run": False,
            "dag_run_id": run,
            "task_ids": [task if isinstance(task, str) else list(task) for task in tasks],
            "include_downstream": True,
            "only_failed": False,
            "reset_dag_runs": True,
        }
        self._call("POST", f"/dags/{dag}/clearTaskInstances", body)

    def run_state(self, dag: str, run: str) -> str:
        """queued, running, success or failed."""
        return str(self._call("GET", f"/dags/{dag}/dagRuns/{run}")["state"])

    def task_instances(self, dag: str, run: str) -> list[dict[str, Any]]:
        """All task instances of a run, as the API shows them."""
        answer = self._call("GET", f"/dags/{dag}/dagRuns/{run}/taskInstances", query={"limit": "1000"})
        return list(answer["task_instances"])

    def wait(
        self, dag: str, run: str, *, seconds: float, watch: Callable[[list[dict[str, Any]]], None] | None = None
    ) -> str:
        """Poll until the run has ended; its state. `watch` is given the task instances each time."""
        limit = time.monotonic() + seconds
        while True:
            state = self.run_state(dag, run)
            if watch is not None:
                watch(self.task_instances(dag, run))
            if state in FINAL_RUN_STATES:
                return state
            if time.monotonic() > limit:
                raise AirflowRefused("GET", f"/dags/{dag}/dagRuns/{run}", 200, f"still {state} after {seconds:.0f} s")
            time.sleep(0.5)

    def _login(self) -> None:
        answer = self._session.post(f"{self.address}/auth/token", json=self._credentials, timeout=30)
        if not answer.ok:
            raise AirflowRefused("POST", "/auth/token", answer.status_code, answer.text[:300])
        self._session.headers["Authorization"] = f"Bearer {answer.json()['access_token']}"

    def _call(self, method: str, path: str, body: Any = None, query: dict[str, str] | None = None) -> Any:
        if "Authorization" not in self._session.headers:
            self._login()
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                answer = self._session.request(
                    method, f"{self.address}/api/v2{path}", json=body, params=query, timeout=60
                )
            except requests.RequestException as error:
                if method != "GET" or attempt == _ATTEMPTS:
                    raise AirflowRefused(method, path, "nothing", error) from error
            else:
                if answer.status_code != 503 or attempt == _ATTEMPTS:  # SQLite was locked: Airflow asks to try again
                    break
            time.sleep(0.5 * attempt)
        if not answer.ok:
            raise AirflowRefused(method, path, answer.status_code, answer.text[:2000])
        return answer.json() if answer.content else None


def _midnight(day: date) -> str:
    return datetime(day.year, day.month, day.day).strftime("%Y-%m-%dT00:00:00Z")  # noqa: DTZ001  Z is written
