"""Clocks: calendar time is an input, delays run on the machine's monotonic clock.

Reads the file of a simulated clock; nothing else. Never reads settings.
"""

import json
import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

from crawler.core.errors import BadClockFile


class Clock(Protocol):
    """What a stage is told the time by."""

    def now(self) -> datetime:
        """The calendar time, aware, in UTC."""

    def monotonic(self) -> float:
        """Seconds that never run backwards; only differences mean anything."""


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


class SimulatedClock:
    """A calendar that is ahead of or behind the machine's by the seconds that a small file names.

    The file is JSON, `{"offset_seconds": 86400.0}`; every process that reads it agrees on the date, and
    rewriting it lets days pass at once. Delays are not touched by it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.offset_seconds())

    def monotonic(self) -> float:
        return time.monotonic()

    def offset_seconds(self) -> float:
        """How far the simulated calendar is ahead of the machine's."""
        try:
            return float(json.loads(self.path.read_text())["offset_seconds"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadClockFile(str(self.path), str(error)) from error

    def set(self, instant: datetime) -> None:
        """Make `now()` return `instant` at this moment, for every reader of the file."""
        offset = (instant - datetime.now(UTC)).total_seconds()
        beside = self.path.with_suffix(".tmp")
        beside.write_text(json.dumps({"offset_seconds": offset}))
        beside.replace(self.path)


def open_clock(simulated: str | None) -> Clock:
    """The clock that the settings ask for: `simulated` is the path of a clock file, or None."""
    return SimulatedClock(simulated) if simulated else SystemClock()
