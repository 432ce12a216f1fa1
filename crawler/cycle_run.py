"""All stages of a cycle without Airflow: what `recrawl run` does, through the functions that the DAG calls.

Buckets run beside each other in processes, since a fetch mostly waits. Reads and writes nothing itself.
"""

import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from typing import Any, TypeAlias

from crawler.core.clock import open_clock
from crawler.core.config import Settings
from crawler.core.cycle import Cycle
from crawler.core.errors import CycleIncomplete, RecrawlError
from crawler.core.secrets import resolve_secrets
from crawler.stages import admit, check, fetch, fingerprint, merge, plan, publish
from crawler.store.lake import Lake
from crawler.store.space import require_space

Event: TypeAlias = tuple[str, int | None, dict[str, Any] | RecrawlError]
"""Stage, bucket or shard if it has one, and what it returned or the error that it ended with."""

_MAPPED: dict[str, Callable[[Lake, Cycle, int], dict[str, Any]]] = {
    "plan": plan.run,
    "fetch": fetch.run,
    "fingerprint": fingerprint.run,
    "merge": merge.run,
}


def run_cycle(settings: Settings, cycle: Cycle, *, processes: int | None = None) -> Iterator[Event]:
    """Run every stage of `cycle`, yielding an event as each part ends.

    A failed bucket does not stop the others; the cycle is published without it and CycleIncomplete is raised at the
    end. processes: how many buckets run beside each other; default all, since hosts' delays leave the machine idle.
    Raises DiskNearlyFull and MissingSecret before anything is planned.
    """
    settings.require_contact()
    resolve_secrets(settings, os.environ)  # each fetch looks them up for itself: they stay in their process
    lake = Lake.open(settings, open_clock(settings.clock.simulated))
    require_space(lake, cycle)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes or min(lake.buckets, 32), mp_context=context) as pool:
        for event in _mapped(pool, "plan", settings, cycle, lake.buckets):
            yield event
            _raise(event)
        yield "admit", None, admit.run(lake, cycle)
        failures: list[Event] = []
        for stage in ("fetch", "fingerprint", "merge"):
            for event in _mapped(pool, stage, settings, cycle, lake.buckets):
                yield event
                if isinstance(event[2], RecrawlError):
                    failures.append(event)
        checked = check.run(lake, cycle)
        yield "check", None, checked
        yield "publish", None, publish.run(lake, cycle)
    if checked["failed"] or checked["lagging"] or failures:
        reasons = "; ".join(f"{stage}[{number}]: {error}" for stage, number, error in failures)
        raise CycleIncomplete(
            str(cycle),
            checked["failed"] or checked["lagging"],
            f"Run `recrawl run --cycle {cycle}` again; it resumes. {reasons}".strip(),
        )


def _mapped(pool: ProcessPoolExecutor, stage: str, settings: Settings, cycle: Cycle, count: int) -> Iterator[Event]:
    running: dict[Future[dict[str, Any]], int] = {
        pool.submit(_run_one, stage, settings, cycle, number): number for number in range(count)
    }
    for future in as_completed(running):
        error = future.exception()
        if error is not None and not isinstance(error, RecrawlError):
            raise error
        yield stage, running[future], error if isinstance(error, RecrawlError) else future.result()


def _run_one(stage: str, settings: Settings, cycle: Cycle, number: int) -> dict[str, Any]:
    """One part of a stage in a worker process."""
    return _MAPPED[stage](Lake.open(settings, open_clock(settings.clock.simulated)), cycle, number)


def _raise(event: Event) -> None:
    if isinstance(event[2], RecrawlError):
        raise event[2]
