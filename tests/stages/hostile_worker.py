"""A parse worker that misbehaves as the page asks for: what a bug in a parser's C code would do.

A page's body is `misbehave: NAME`; every other page is read as always.
"""

import os
import re
import signal
from typing import Any

from crawler.page import reading, worker

_real = reading.read_page


def _read_page(body: bytes, **more: Any) -> Any:
    if body.startswith(b"misbehave: "):
        {"hang": _hang, "crash": _crash, "bug": _bug, "memory": _memory, "lie": _lie}[body[11:].decode()]()
    return _real(body, **more)


def _hang() -> None:
    re.match("(a+)+$", "a" * 64 + "b")  # in C: no Python signal handler ever runs


def _crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def _bug() -> None:
    raise ZeroDivisionError("a bug")


def _memory() -> None:
    bytearray(64 << 30)


def _lie() -> None:
    os.write(0, b"\x08\0\0\0\x02\0\0\0{}..")  # a reply without readings


def main() -> None:
    reading.read_page = _read_page
    worker.main()
