"""What all files of cases share: bodies as a row gives them, and facts compared with what a row expects."""

import base64
from collections.abc import Iterator, Mapping
from typing import Any

Row = dict[str, Any]


def body_of(given: Mapping[str, Any], name: str) -> bytes:
    """The bytes under `name` (text), `name_b64` (base64) or `name_parts` ([text, times] after each other)."""
    if f"{name}_b64" in given:
        return base64.b64decode(given[f"{name}_b64"])
    if f"{name}_parts" in given:
        return "".join(text * times for text, times in given[f"{name}_parts"]).encode()
    return str(given[name]).encode()


def compared(found: Mapping[str, Any], row: Row) -> list[str]:
    """Differences from the keys of `expected`; none if `found` has all values of it or of one in `accept`."""
    accepted = (row["expected"], *row.get("accept", ()))
    if any(not list(_unlike(found, each)) for each in accepted):
        return []
    return list(_unlike(found, row["expected"]))


def _unlike(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    for key, value in wanted.items():
        if key not in found:
            yield f"nothing is known of {key!r}"
        elif found[key] != value:
            yield f"{key} is {_short(found[key])}, expected {_short(value)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:300]}..."
