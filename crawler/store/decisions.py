"""Decisions of an operator: small numbered files `NNNNNNNN.json` in a folder, created if absent and never changed.

Owns their names. Whoever comes later gets the higher number, so of two about the same thing the newer counts.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from crawler.core.errors import CorruptLake
from crawler.store.lake import Lake

_NAME = re.compile(r"(\d{8})\.json")
Decision = TypeVar("Decision")


def add_decision(lake: Lake, folder: str, fields: Mapping[str, Any]) -> int:
    """Write `fields` down under the next number that is free, and return it."""
    content = json.dumps(dict(fields)).encode()
    while True:
        number = 1 + max((number for number, _ in _numbered(lake, folder)), default=0)
        if lake.files.create_bytes(content, f"{folder}/{number:08d}.json"):
            return number


def read_decisions(
    lake: Lake, folder: str, what: str, make: Callable[[int, dict[str, Any]], Decision]
) -> Iterator[Decision]:
    """What `make` makes of the number and fields of every decision, oldest first.

    what: the word for one. Raises CorruptLake for a file that is none.
    """
    for number, name in _numbered(lake, folder):
        path = f"{folder}/{name}"
        try:
            yield make(number, json.loads(lake.files.read(path)))
        except (ValueError, TypeError) as error:
            raise CorruptLake(lake.files.path(path), f"is no {what}: {error}") from error


def _numbered(lake: Lake, folder: str) -> list[tuple[int, str]]:
    found = ((_NAME.fullmatch(name), name) for name in lake.files.names(folder))
    return sorted((int(match[1]), name) for match, name in found if match)
