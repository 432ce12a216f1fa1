"""Bars of a run on a terminal: a line for each stage, and how far the fetches are."""

from collections import Counter
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Column

from crawler.cli.show import printable
from crawler.core.outcomes import Outcome
from crawler.store.live import Live

_SUMS = ("planned", "observed", "wire_bytes", "pages_per_second", "ready", "waiting", "held")


class Bars:
    """A context manager. Shows nothing unless standard error is a terminal; parts: of a mapped stage."""

    def __init__(self, parts: int, console: Console | None = None) -> None:
        self._parts = parts
        self._bars: dict[str, TaskID] = {}
        self._fetched: Counter[str] = Counter()
        self._outcomes: Counter[str] = Counter()
        self._running: dict[int, Live] = {}
        console = console or Console(stderr=True)
        self.is_shown = console.is_terminal
        # Not markup: what comes from the lake is shown as it is written.
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[detail]}", markup=False, table_column=Column(overflow="ellipsis", no_wrap=True)),
            console=console,
            disable=not self.is_shown,
        )

    def __enter__(self) -> "Bars":
        self._progress.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def advance(self, stage: str, part: int | None, result: Mapping[str, Any]) -> None:
        """Say that a stage, or a part of one, ended with `result`."""
        if stage == "fetch":  # its bar counts URLs, not buckets
            self._fetched.update({name: result.get(name, 0) for name in ("planned", "observed", "wire_bytes")})
            self._outcomes.update({each.value: result.get(each.value, 0) for each in Outcome})
            self._running.pop(-1 if part is None else part, None)
            self._show_fetches()
        else:
            self._progress.advance(self._bar(stage, 1 if part is None else self._parts))

    def show_fetches(self, running: Iterable[Live]) -> None:
        """Show what the running fetches say, beside those that have ended."""
        self._running = {live.bucket: live for live in running}
        self._show_fetches()

    def _show_fetches(self) -> None:
        sums: Counter[str] = Counter(self._fetched)
        outcomes: Counter[str] = Counter(self._outcomes)
        for live in self._running.values():
            sums.update({name: getattr(live.progress, name) for name in _SUMS})
            outcomes.update(live.progress.outcomes)
        if sums["planned"]:
            bar, detail = self._bar("fetch", None), _detail(sums, outcomes)
            self._progress.update(bar, total=sums["planned"], completed=sums["observed"], detail=detail)

    def _bar(self, stage: str, total: int | None) -> TaskID:
        if stage not in self._bars:
            self._bars[stage] = self._progress.add_task(stage, total=total, detail="")
        return self._bars[stage]


def _detail(sums: Mapping[str, Any], outcomes: Counter[str]) -> str:
    hosts = f"hosts: {sums['ready']:,} ready, {sums['waiting']:,} waiting, {sums['held']:,} held"
    speed = f"{sums['pages_per_second']:.1f} pages/s, {sums['wire_bytes'] / 1e6:,.1f} MB"
    found = ", ".join(f"{count:,} {name}" for name, count in outcomes.most_common(4) if count)
    return printable("; ".join(part for part in (speed, hosts, found) if part))
