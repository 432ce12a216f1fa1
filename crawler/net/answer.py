"""A response as the wild needs it: the head in one go, the body piece by piece, http.client's framing beneath.

http.client hands every head to a parser of e-mail, and drops all fields after one that is malformed, the body's length
among them. Here a head is cut where it ends and each line stands for itself. Reads from an Inlet; never from a socket.
"""

import http.client
import re
from collections.abc import Sequence
from typing import Any

from crawler.net.reply import first_value
from crawler.net.wire import Inlet

_FIELD = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:")
_SPACE = " \t\r"
_CONTROL_TO_SPACE = str.maketrans(dict.fromkeys((*range(9), *range(10, 32), 127), " "))
_KEEPS_ALIVE = re.compile(r"keep-alive", re.IGNORECASE)
_WITHOUT_BODY = (204, 304)


class Answer(http.client.HTTPResponse):
    """A response that is being read.

    fields: the head's, as (name, value) in its order, Latin-1. Interim answers (1xx, RFC 9110 15.2) are skipped. A line
    without a proper name is dropped, control characters are spaces, a folded line is one.
    """

    fp: Any

    def begin(self) -> None:
        """Read the head. Raises http.client.HTTPException, and what reading raises."""
        inlet: Inlet = self.fp
        while True:
            lines = inlet.read_head().decode("latin-1").split("\n")
            version, status, reason = _status_line(lines[0])
            if not 100 <= status < 200 or status == 101:
                break
        self.code = self.status = status
        self.reason = reason
        self.version = 10 if version in ("HTTP/1.0", "HTTP/0.9") else 11
        self.fields = _fields(lines[1:])
        inlet.head_is_over = True
        coding = self.all_values("transfer-encoding").lower()
        self.chunked = coding.rpartition(",")[2].strip() == "chunked"
        self.chunk_left = None
        self.length = 0 if status in _WITHOUT_BODY else None if self.chunked else self._announced()
        self.will_close = self._closes() or (self.length is None and not self.chunked)

    def value(self, name: str) -> str | None:
        """The first value of the field of that name."""
        return first_value(self.fields, name)

    def all_values(self, name: str) -> str:
        """The values of all fields of that name in lower case, as one list (RFC 9110 5.3)."""
        length = len(name)
        return ", ".join([value for key, value in self.fields if len(key) == length and key.lower() == name])

    def piece(self, size: int) -> bytes:
        """At most `size` bytes of the body; none at its end. Raises IncompleteRead if it ends before that."""
        found: bytes = self.read(size)
        if not found and self.length:
            raise http.client.IncompleteRead(b"", self.length)
        return found

    def _announced(self) -> int | None:
        text = self.all_values("content-length")
        try:
            lengths = {int(length) for length in text.split(",")} if text else set()
        except ValueError:
            return None
        if len(lengths) > 1:
            raise http.client.HTTPException(f"different lengths are announced: {text[:100]}")
        length = lengths.pop() if lengths else -1
        return length if length >= 0 else None

    def _closes(self) -> bool:
        said = self.value("connection") or ""
        if self.version == 11:
            return "close" in said.lower()
        stays = self.value("keep-alive") or _KEEPS_ALIVE.search(said)
        return not (stays or _KEEPS_ALIVE.search(self.value("proxy-connection") or ""))


def _status_line(line: str) -> tuple[str, int, str]:
    version, code, reason = (*line.split(None, 2), "", "", "")[:3]
    if not version.startswith("HTTP/1.") and version != "HTTP/0.9":
        raise http.client.UnknownProtocol(version) if version.startswith("HTTP/") else http.client.BadStatusLine(line)
    if not (len(code) == 3 and code.isascii() and code.isdigit() and code[0] != "0"):
        raise http.client.BadStatusLine(line)
    return version, int(code), reason.strip()


def _fields(lines: Sequence[str]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for line in lines:
        text = line.rstrip("\r")
        if not text.isprintable():
            text = text.translate(_CONTROL_TO_SPACE)
        name = _FIELD.match(text)
        if name:
            found.append((name[1], text[name.end() :].strip(_SPACE)))
        elif found and text[:1] in (" ", "\t"):
            key, value = found[-1]
            found[-1] = (key, f"{value} {text.strip(_SPACE)}".strip())
    return found
