"""What people and programs get to see: tables, tab-separated lines, JSON.

Page titles, URLs and errors come from strangers, so nothing crawled reaches a terminal with its control characters.
Reads and writes no lake.
"""

import json
import math
import sys
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from crawler.store.ask import Answer

SCREEN_ROWS = 200
_FILE_WIDTH = 160  # characters, where no terminal says how wide it is
_TURNED_ROWS = 6  # so many rows are turned into columns where a table does not fit


def show(answer: Answer, *, as_json: bool = False, title: str = "") -> None:
    """Write `answer` to standard output: JSON if asked for, a table on a terminal, else tab-separated lines.

    A single value is written bare, so that a script can use it.
    """
    if as_json:
        write_json(as_dicts(answer))
    elif sys.stdout.isatty() or title:
        _write_table(answer, title)
    else:
        _write_lines(answer)


def as_dicts(answer: Answer) -> list[dict[str, Any]]:
    """The rows of `answer` by column, with values that JSON knows."""
    return [dict(zip(answer.columns, map(_plain, row), strict=True)) for row in answer.rows]


def write_json(value: object) -> None:
    """Write `value` as one JSON document."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def say(text: str) -> None:
    """Write one line for a person to standard output."""
    sys.stdout.write(printable(text) + "\n")


def warn(text: str) -> None:
    """Write one line for a person to standard error."""
    sys.stderr.write(f"recrawl: {printable(text)}\n")


def facts(counts: Iterable[tuple[str, object]]) -> None:
    """Write names with their values, a line each; empty ones are left out."""
    shown = [(printable(name), cell(value)) for name, value in counts]
    width = max((len(name) for name, _ in shown), default=0)
    for name, value in shown:
        if value:
            sys.stdout.write(f"{name:{width}}  {value}\n")


def printable(text: str) -> str:
    """`text` with every character that a terminal could obey, or that hides others, written as its escape."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else _escape(character) for character in text)


def cell(value: object) -> str:
    """One value as a person reads it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return ", ".join(f"{printable(str(name))} {cell(inner)}" for name, inner in value.items())
    return printable(str(value))


def _write_table(answer: Answer, title: str) -> None:
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _FILE_WIDTH)
    rows = list(islice(answer.rows, SCREEN_ROWS + 1))
    table = _table(answer.columns, rows[:SCREEN_ROWS])
    unlimited = console.options.update(max_width=10_000)
    if 0 < len(rows) <= _TURNED_ROWS and Measurement.get(console, unlimited, table).minimum > console.width:
        turned = [(name, *values) for name, *values in zip(answer.columns, *rows, strict=True)]
        table = _table(turned[0], turned[1:])
    if title:
        console.print(Text(printable(title), style="bold"))
    console.print(table if rows else Text("no row\n"))
    if len(rows) > SCREEN_ROWS:
        say(f"... and more: the first {SCREEN_ROWS} rows are shown; --json or a pipe gives all")


def _table(columns: Sequence[object], rows: Sequence[Sequence[object]]) -> Table:
    table = Table(box=SIMPLE_HEAD)
    for number, column in enumerate(columns):
        numeric = any(isinstance(row[number], int | float | Decimal) for row in rows)
        heading = cell(column).replace("_", " ") if isinstance(column, str) else cell(column)  # so that it can wrap
        table.add_column(Text(heading), justify="right" if numeric else "left", no_wrap=numeric, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell(value)) for value in row))
    return table


def _write_lines(answer: Answer) -> None:
    write = sys.stdout.write
    first = list(islice(answer.rows, 2))
    if len(answer.columns) != 1 or len(first) != 1:
        write("\t".join(map(printable, answer.columns)) + "\n")
    for rows in (first, answer.rows):
        for row in rows:
            write("\t".join(map(cell, row)) + "\n")


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, bytes):
        return value.hex()
    return value.isoformat() if isinstance(value, date) else str(value)
