"""What Airflow knows of crawls: which DAGs run one, with which settings, and how their active runs stand.

Reads the metadata database, in the api-server only.
"""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from airflow.api_fastapi.app import get_auth_manager
from airflow.models.asset import AssetModel
from airflow.models.dag import DagModel, DagTag
from airflow.models.dagrun import DagRun
from airflow.models.taskinstance import TaskInstance
from airflow.utils.session import create_session
from sqlalchemy import func, select

TAG = "recrawl"
MOST_RUNS = 4
DONE = ("success", "skipped")
BROKEN = ("failed", "upstream_failed")


@dataclass(frozen=True, slots=True)
class Stage:
    """The task instances of one task of a run."""

    name: str
    total: int
    done: int
    running: int
    failed: int


@dataclass(frozen=True, slots=True)
class ActiveRun:
    """A run that has not ended, with its stages in the order in which they began."""

    run_id: str
    cycle: str
    state: str
    stages: list[Stage]


def crawls(user: Any) -> list[str]:
    """The ids of the DAGs that run a crawl and that `user` may read, sorted."""
    readable = get_auth_manager().get_authorized_dag_ids(user=user, method="GET")
    with create_session() as session:
        tagged = select(DagTag.dag_id).join(DagModel, DagModel.dag_id == DagTag.dag_id).where(DagTag.name == TAG)
        found = set(session.scalars(tagged.where(DagModel.is_stale.is_(False))))
    return sorted(found & set(readable))


def settings_path(dag_id: str) -> Path:
    """The settings file of the crawl that a DAG runs: what its asset names, else that of the environment."""
    from recrawl_airflow.tasks import default_settings

    with create_session() as session:
        extra = session.scalar(select(AssetModel.extra).where(AssetModel.name == f"{dag_id}_cycle"))
    named = (extra or {}).get("settings")
    return Path(named) if named else default_settings()


def active_runs(dag_id: str) -> list[ActiveRun]:
    """The DAG's runs that have begun and not ended, oldest first."""
    wanted = select(DagRun).where(DagRun.dag_id == dag_id, DagRun.state.in_(("running", "queued")))
    found = []
    with create_session() as session:
        for run in session.scalars(wanted.order_by(DagRun.id).limit(MOST_RUNS)):
            day = (run.conf or {}).get("cycle") or (f"{run.logical_date:%Y-%m-%d}" if run.logical_date else "")
            found.append(ActiveRun(run.run_id, str(day), str(run.state), _stages(session, run)))
    return found


def _stages(session: Any, run: DagRun) -> list[Stage]:
    counted = (
        select(TaskInstance.task_id, TaskInstance.state, func.count(), func.min(TaskInstance.start_date))
        .where(TaskInstance.dag_id == run.dag_id, TaskInstance.run_id == run.run_id)
        .group_by(TaskInstance.task_id, TaskInstance.state)
    )
    states: dict[str, Counter[str]] = {}
    began: dict[str, str] = {}
    for task, state, count, start in session.execute(counted):
        states.setdefault(task, Counter())[str(state)] += count
        began[task] = min(began.get(task, "9"), start.isoformat() if start else "9")
    return [
        Stage(
            name,
            total=states[name].total(),
            done=sum(states[name][state] for state in DONE),
            running=states[name]["running"],
            failed=sum(states[name][state] for state in BROKEN),
        )
        for name in sorted(states, key=lambda name: (began[name], name))
    ]
