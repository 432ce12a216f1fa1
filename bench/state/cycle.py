"""Cycles at fixed work: the stages as `recrawl run` runs them, with a fetch that has no web.

Plan, admit, fingerprint and merge are what a cycle costs; check and publish are measured beside them.
"""

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Self

from bench.state import fetch, sql
from bench.state.measure import Cost, Workers
from bench.state.web import Web
from crawler.store import query

COUNTED = ("plan", "admit", "fingerprint", "merge")
_TOUCHING = ("url", "observation", "duplicate", "mention")


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

    @property
    def bytes_read(self) -> int:
        return sum(self.stages[stage].bytes_read for stage in COUNTED)

    @property
    def bytes_written(self) -> dict[str, int]:
        """By table, what the counted stages wrote."""
        total: dict[str, int] = {}
        for stage in COUNTED:
            for table, size in self.stages[stage].bytes_written.items():
                total[table] = total.get(table, 0) + size
        return total

    @property
    def checkpoint_rows(self) -> int:
        """Rows of the checkpoints that its merges wrote."""
        return self.stages["merge"].said.get("checkpoint", 0)

    def checkpoint_seconds(self, processes: int) -> float:
        """How much of `seconds` these checkpoints were, with merges beside each other."""
        return self.stages["merge"].said["checkpoint_microseconds"] / 1e6 / processes

    @property
    def checkpoint_cpu_seconds(self) -> float:
        return self.stages["merge"].said["checkpoint_cpu_microseconds"] / 1e6


class Player:
    """Plays the cycles of a lake, one after another; a context manager, since it holds processes."""

    def __init__(self, web: Web, *, processes: int = 2, is_profiled: bool = False) -> None:
        self._web = web
        self.workers = Workers(web.settings, processes, is_profiled=is_profiled)
        self._fetchers = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.workers.__exit__()
        self._fetchers.shutdown(cancel_futures=True)

    def choose(self, number: int) -> dict[str, Cost]:
        """Plan and admit the cycle with that number, from 1."""
        web = self._web
        web.set_clock(number)
        cycle = web.cycle(number)
        return {"plan": self.workers.run("plan", cycle, range(web.buckets)), "admit": self.workers.run("admit", cycle)}

    def play(self, number: int, *, publish: bool = False) -> Cycled:
        """Run the whole cycle."""
        web, workers = self._web, self.workers
        stages = self.choose(number)
        cycle, every = web.cycle(number), range(web.buckets)
        fetched = list(self._fetchers.map(fetch.run, [web] * len(every), [cycle] * len(every), every))
        for stage in ("fingerprint", "merge"):
            stages[stage] = workers.run(stage, cycle, every)
        for stage in ("check", "publish") if publish else ():
            stages[stage] = workers.run(stage, cycle)
        observed, links = (sum(each[name] for each in fetched) for name in ("observed", "links"))
        return Cycled(number, stages, observed, links)


def touched(web: Web, numbers: Sequence[int]) -> int:
    """How many URLs' states the cycles touched."""
    lake, con = web.open(), web.connect()
    for table in _TOUCHING:
        files = [
            file
            for number in numbers
            for bucket in range(web.buckets)
            for file in lake.current(table, "bucket", bucket, lake.settled("bucket", bucket), web.cycle(number))
        ]
        query.view_files(con, f"cycle_{table}", table, lake.paths(files))
    ((found,),) = sql.run(con, "touched", {}).fetchall()
    return int(found)
