"""Runs the product's stages on a lake of its own, day after day of a simulated clock."""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from crawler.core.clock import SimulatedClock, open_clock
from crawler.core.config import Settings, load_settings
from crawler.core.cycle import Cycle
from crawler.cycle_run import run_cycle
from crawler.stages import admit, check, fetch, fingerprint, merge, plan, publish, seed
from crawler.store.lake import Lake
from crawler.store.reader import open_reader

FIRST_DAY = date(2026, 11, 2)
NO_DELAYS = {"delay_seconds": 0.0, "delay_factor": 0.0, "address_delay_seconds": 0.0}


def write_settings(folder: Path, tables: Mapping[str, Mapping[str, Any]]) -> Path:
    """A settings file in `folder`, with its simulated clock set to the start of the first day."""
    sections = {"lake": {"root": "lake"}, "clock": {"simulated": "clock.json"}}
    for name, keys in tables.items():
        sections[name] = {**sections.get(name, {}), **keys}
    text = "".join(f"[{name}]\n{''.join(_line(*key) for key in keys.items())}\n" for name, keys in sections.items())
    path = folder / "recrawl.toml"
    path.write_text(text, encoding="utf-8")
    SimulatedClock(folder / "clock.json").set(at(FIRST_DAY))
    return path


def at(day: date, hour: float = 1.0) -> datetime:
    """An instant of a day, in UTC."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(hours=hour)


class Crawl:
    """A lake with seeds, and a calendar that moves a day for each cycle."""

    def __init__(self, settings: Path, seeds: Iterable[str]) -> None:
        self.folder = settings.parent
        self.settings: Settings = load_settings(settings, {})
        clock = open_clock(self.settings.clock.simulated)
        assert isinstance(clock, SimulatedClock)
        self.clock = clock
        self.lake = Lake.create(self.settings, clock)
        self.day = FIRST_DAY
        seed.run(self.lake, list(seeds))

    @property
    def cycle(self) -> Cycle:
        return Cycle(self.day)

    def next_day(self) -> None:
        """Let a day pass."""
        self.day += timedelta(days=1)
        self.clock.set(at(self.day))

    def plan(self) -> None:
        """The stages before the fetch."""
        for bucket in range(self.lake.buckets):
            plan.run(self.lake, self.cycle, bucket)
        admit.run(self.lake, self.cycle)

    def finish(self) -> None:
        """The stages after the fetch."""
        for shard in range(self.lake.buckets):
            fingerprint.run(self.lake, self.cycle, shard)
        for bucket in range(self.lake.buckets):
            merge.run(self.lake, self.cycle, bucket)
        check.run(self.lake, self.cycle)
        publish.run(self.lake, self.cycle)

    def run(self) -> None:
        """All stages of today's cycle."""
        self.plan()
        for bucket in range(self.lake.buckets):
            fetch.run(self.lake, self.cycle, bucket)
        self.finish()

    def run_parallel(self, processes: int = 2) -> None:
        """All stages of today's cycle, the buckets beside each other in processes."""
        for _ in run_cycle(self.settings, self.cycle, processes=processes):
            pass

    def ask(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Rows of a query over the published lake."""
        with open_reader(self.lake) as reader:
            return reader.execute(query, list(parameters)).fetchall()


def _line(name: str, value: object) -> str:
    return f"{_toml(name) if '.' in name else name} = {_toml(value)}\n"


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_toml(str(key))} = {_toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
