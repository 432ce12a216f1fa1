"""Cycles at fixed work: the stages as `recrawl run` runs them, with a fetch that has no web.

Plan, admit, fingerprint and merge are what a cycle costs; check and publish are measured beside them.
"""

import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from bench.state import fetch
from bench.state.measure import Cost, Workers
from bench.state.web import Web

COUNTED = ("plan", "admit", "fingerprint", "merge")


@dataclass(slots=True)
class Cycled:
    """One cycle. stages: what each cost; admitted, links: its work."""

    number: int
    stages: dict[str, Cost]
    admitted: int
    links: int

    @property
    def seconds(self) -> float:
        return sum(self.stages[stage].seconds for stage in COUNTED)

    @property
    def cpu_seconds(self) -> float:
        return sum(self.stages[stage].cpu_seconds for stage in COUNTED)

    def bytes_written(self, *, checkpoints: bool) -> int:
        return sum(
            size
            for stage in COUNTED
            for table, size in self.stages[stage].bytes_written.items()
            if checkpoints or table != "checkpoint"
        )


class Player:
    """Plays the cycles of a lake, one after another; a context manager, since it holds processes."""

    def __init__(self, web: Web, *, processes: int = 2, profile: bool = False) -> None:
        self._web = web
        self.workers = Workers(web.settings, processes, profile=profile)
        self._fetchers = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))

    def __enter__(self) -> "Player":
        return self

    def __exit__(self, *_: object) -> None:
        self.workers.__exit__()
        self._fetchers.shutdown(cancel_futures=True)

    def play(self, number: int, *, publish: bool = True) -> Cycled:
        """Run the cycle with that number, from 1."""
        web, workers = self._web, self.workers
        web.set_clock(number)
        cycle = web.cycle(number)
        every = range(web.buckets)
        stages = {"plan": workers.run("plan", cycle, every), "admit": workers.run("admit", cycle)}
        fetched = list(self._fetchers.map(fetch.run, [web] * len(every), [cycle] * len(every), every))
        for stage in ("fingerprint", "merge"):
            stages[stage] = workers.run(stage, cycle, every)
        for stage in ("check", "publish") if publish else ():
            stages[stage] = workers.run(stage, cycle)
        return Cycled(
            number, stages, sum(each["observed"] for each in fetched), sum(each["links"] for each in fetched)
        )
