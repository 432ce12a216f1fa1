"""All stages of a cycle without Airflow: what `recrawl run` does, through the functions that the DAG calls.

Buckets run beside each other in processes, since a fetch mostly waits. Reads and writes nothing itself.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing.synchronize import Event as Flag
from typing import Any, TypeAlias

from crawler.core.clock import open_clock
from crawler.core.config import Settings
from crawler.core.cycle import Cycle
from crawler.core.errors import CycleIncomplete, RecrawlError, Stopped
from crawler.core.secrets import resolve_secrets
from crawler.core.stop import Stop
from crawler.stages import admit, check, fetch, fingerprint, merge, plan, publish
from crawler.store.lake import Lake
from crawler.store.space import require_space
from crawler.store.wants import wanted_first

Event: TypeAlias = tuple[str, int | None, dict[str, Any] | RecrawlError]
"""Stage, bucket or shard if it has one, and what it returned or the error that it ended with."""

_WATCH_SECONDS = 1.0
_MAPPED: dict[str, Callable[[Lake, Cycle, int], dict[str, Any]]] = {
    "plan": plan.run,
    "fingerprint": fingerprint.run,
    "merge": merge.run,
}


def run_cycle(
    settings: Settings,
    cycle: Cycle,
    *,
    processes: int | None = None,
    stop: Callable[[], bool] = lambda: False,
    watch: Callable[[], None] = lambda: None,
) -> Iterator[Event]:
    """Run every stage of `cycle`, yielding an event as each part ends.

    A failed bucket does not stop the others; the cycle is published without it and CycleIncomplete is raised at the
    end. processes: how many buckets run beside each other; default all, since hosts' delays leave the machine idle.
    stop: asked each second whether to end early: fetches then do, other parts that have begun end first. watch: called
    as often. Raises DiskNearlyFull and MissingSecret before anything is planned, and Stopped.
    """
    settings.require_contact()
    resolve_secrets(settings, os.environ)  # each fetch looks them up for itself: they stay in their process
    lake = Lake.open(settings, open_clock(settings.clock.simulated))
    require_space(lake, cycle)
    with _Parts(settings, cycle, lake.buckets, processes, stop, watch) as parts:
        for event in parts.run("plan"):
            yield event
            _raise(event)
        yield "admit", None, admit.run(lake, cycle)
        failures: list[Event] = []
        for stage in ("fetch", "fingerprint", "merge"):
            # If there are fewer processes than buckets, those that others wait for come before the others.
            for event in parts.run(stage, wanted_first(lake) if stage == "fetch" else ()):
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


class _Parts:
    """The processes that run the parts of mapped stages; a context manager."""

    def __init__(
        self,
        settings: Settings,
        cycle: Cycle,
        count: int,
        processes: int | None,
        stop: Callable[[], bool],
        watch: Callable[[], None],
    ) -> None:
        context = multiprocessing.get_context("spawn")
        self._settings = settings
        self._cycle = cycle
        self._count = count
        self._stop = stop
        self._watch = watch
        self._stopping = context.Event()
        self._pool = ProcessPoolExecutor(
            processes or min(count, 32), mp_context=context, initializer=_begin, initargs=(self._stopping, os.getpid())
        )

    def __enter__(self) -> "_Parts":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self._stopping.set()  # whatever went wrong, nobody waits for a fetch that has hours to go
        self._pool.shutdown(cancel_futures=True)

    def run(self, stage: str, order: Sequence[int] = ()) -> Iterator[Event]:
        """Run a stage, yielding an event as each part ends. Raises Stopped once those that had begun have ended.

        order: that of the parts' beginnings, if it matters.
        """
        running: dict[Future[dict[str, Any]], int] = {
            self._pool.submit(_run_one, stage, self._settings, self._cycle, number): number
            for number in order or range(self._count)
        }
        while running:
            done, _ = wait(running, _WATCH_SECONDS, return_when=FIRST_COMPLETED)
            for future in done:
                number = running.pop(future)
                error = future.exception()
                if error is not None and not isinstance(error, RecrawlError):
                    raise error
                yield stage, number, error if isinstance(error, RecrawlError) else future.result()
            if self._stop():
                self._stopping.set()
                running = {future: number for future, number in running.items() if not future.cancel()}
            self._watch()
        if self._stopping.is_set() or self._stop():
            raise Stopped(str(self._cycle))


# In a worker process: what ends its fetch early, and what is held while it runs a part.
_stops: list[Callable[[], bool]] = []
_at_work = threading.Lock()


def _begin(stopping: Flag, parent: int) -> None:
    """Prepare a worker process: the run decides when its parts end, not the signals that a terminal sends to all."""
    own = Stop()

    def note(number: int, _frame: object) -> None:
        own.number = number

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, note)
    _stops[:] = [own, stopping.is_set, lambda: os.getppid() != parent]
    threading.Thread(target=_follow, name="follow the run", daemon=True).start()


def _follow() -> None:
    """End this process after its run, even one that was killed: a pool's idle worker would wait for ever."""
    run = multiprocessing.parent_process()
    if run is not None:
        run.join()
        with _at_work:
            os._exit(1)


def _run_one(stage: str, settings: Settings, cycle: Cycle, number: int) -> dict[str, Any]:
    """One part of a stage in a worker process."""
    with _at_work:
        lake = Lake.open(settings, open_clock(settings.clock.simulated))
        if stage == "fetch":
            return fetch.run(lake, cycle, number, stop=lambda: any(asked() for asked in _stops))
        return _MAPPED[stage](lake, cycle, number)


def _raise(event: Event) -> None:
    if isinstance(event[2], RecrawlError):
        raise event[2]
