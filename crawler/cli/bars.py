"""Bars of a run on a terminal: a line for each stage, and how far the fetches are."""

import time
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any

from rich.console import Console, Group
from rich.live import Live as Screen
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Display
from rich.text import Text

from crawler.cli.show import printable
from crawler.core.outcomes import Outcome
from crawler.core.progress import Progress
from crawler.store.live import Live


class Bars:
    """A context manager. Shows nothing unless standard error is a terminal; parts: of a mapped stage."""

    def __init__(self, parts: int, console: Console | None = None) -> None:
        self._parts = parts
        self._bars: dict[str, TaskID] = {}
        self._ended: list[Progress] = []
        self._began: float | None = None
        self._running: dict[int, Live] = {}
        console = console or Console(stderr=True)
        self.is_shown = console.is_terminal
        self._display = Display(
            TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
            console=console, disable=not self.is_shown,
        )  # fmt: skip
        self._detail = Text()  # no markup: what comes from the lake is shown as it is written
        self._screen = Screen(Group(self._display, self._detail), console=console)

    def __enter__(self) -> "Bars":
        if self.is_shown:
            self._screen.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._screen.stop()

    def advance(self, stage: str, part: int | None, result: Mapping[str, Any]) -> None:
        """Say that a stage, or a part of one, ended with `result`."""
        if stage == "fetch":  # its bar counts URLs, not buckets
            outcomes = {each.value: result[each.value] for each in Outcome if each.value in result}
            counts = {
                name: result.get(name, 0) for name in ("planned", "observed", "discovered", "requests", "wire_bytes")
            }
            self._ended.append(Progress(**counts, outcomes=outcomes))
            self._running.pop(-1 if part is None else part, None)
            self._show_fetches()
        else:
            self._display.advance(self._bar(stage, 1 if part is None else self._parts))

    def show_fetches(self, running: Iterable[Live]) -> None:
        """Show what the running fetches say, beside those that have ended."""
        self._running = {live.bucket: live for live in running}
        self._show_fetches()

    def _show_fetches(self) -> None:
        self._began = self._began or time.monotonic()
        parts = [*self._ended, *(live.progress for live in self._running.values())]
        total = Progress.total(parts, seconds=time.monotonic() - self._began)
        if total.planned:
            self._display.update(self._bar("fetch", None), total=total.planned, completed=total.observed)
            self._detail.plain = printable(total.detail)

    def _bar(self, stage: str, total: int | None) -> TaskID:
        if stage not in self._bars:
            self._bars[stage] = self._display.add_task(stage, total=total)
        return self._bars[stage]
