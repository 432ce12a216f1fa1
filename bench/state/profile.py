"""Which statements of the product cost how much: CPU seconds by the name of the SQL file, noted as they run.

Wraps the functions of `crawler.store.query` in this process for good. What a stream of batches costs counts as its
statement's; what a view costs, as that of the statement that reads it.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

from crawler.store import query

STATEMENTS: dict[str, tuple[int, float]] = {}
"""By name the number of runs and their CPU seconds, since it was last cleared."""

_NAMED = {"run": 1, "arrow": 1, "materialise": 2, "view_query": 2}  # where the name is among the arguments
_UNNAMED = ("keep_rows", "view_files", "connect")
_watched: list[bool] = []


def watch() -> None:
    """Note every statement from now on."""
    if _watched:
        return
    _watched.append(True)
    for function, place in _NAMED.items():
        setattr(query, function, _timed(getattr(query, function), function, place))
    for function in _UNNAMED:
        setattr(query, function, _timed(getattr(query, function), function, None))


def _timed(function: Callable[..., Any], kind: str, place: int | None) -> Callable[..., Any]:
    def timed(*arguments: Any, **named: Any) -> Any:
        name = f"({kind})" if place is None else arguments[place]
        began = time.process_time()
        result = function(*arguments, **named)
        _note(name, time.process_time() - began)
        return _TimedReader(result, name) if kind == "arrow" else result

    return timed


def _note(name: str, seconds: float, runs: int = 1) -> None:
    before = STATEMENTS.get(name, (0, 0.0))
    STATEMENTS[name] = (before[0] + runs, before[1] + seconds)


class _TimedReader:
    """A stream of batches whose making counts as its statement's."""

    def __init__(self, reader: Any, name: str) -> None:
        self._reader = reader
        self._name = name

    def __iter__(self) -> Iterator[Any]:
        while True:
            began = time.process_time()
            try:
                batch = self._reader.read_next_batch()
            except StopIteration:
                return
            finally:
                _note(self._name, time.process_time() - began, 0)
            yield batch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)
