"""HTTP/1.1 on one connection of the demo web: reads requests, sends answers, notes when each began and ended.

Owns bytes and stamps; what to answer is `answer.py`'s. Never closes first, unless asked to or faced with what it
cannot read.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from http import HTTPStatus

from crawler.core.clock import Clock
from crawler.demo.answer import Answer, Answerer

_LONGEST_HEAD = 32 << 10
_METHODS = ("GET", "HEAD")
Record = Callable[[dict[str, object]], None]


@dataclass(slots=True)
class _Request:
    """What is known of the request being answered. `start` and `last_write`: monotonic."""

    instant: datetime
    start: float
    method: str = ""
    host: str = ""
    target: str = ""
    conditional: bool = False
    closes: bool = False
    answer: Answer | None = None
    sent: int = 0
    last_write: float = 0.0


class Connection(asyncio.Protocol):
    """One client. `opened` is the set of live connections, kept up to date by each."""

    def __init__(self, answerer: Answerer, clock: Clock, record: Record, opened: "set[Connection]") -> None:
        self._answerer = answerer
        self._clock = clock
        self._record = record
        self._opened = opened
        self._transport: asyncio.Transport
        self._address = ""
        self._received = b""
        self._request: _Request | None = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note the address that was reached."""
        if not isinstance(transport, asyncio.Transport):
            raise TypeError(f"expected a stream transport, found {transport!r}")
        self._transport = transport
        # No buffer counts as drained but an empty one, so that an end is never stamped early.
        transport.set_write_buffer_limits(high=0)
        self._address = transport.get_extra_info("sockname")[0]
        self._opened.add(self)

    def data_received(self, data: bytes) -> None:
        """Stamp the start at a request's first byte; answer once its head is whole."""
        self._received += data
        if self._request is None:
            self._request = _Request(self._clock.now(), time.monotonic())
        self._advance()

    def resume_writing(self) -> None:
        """The kernel has taken the last byte of an answer that it did not take at once."""
        if self._request and self._request.last_write:
            self._finish(self._request, complete=True)

    def connection_lost(self, exc: Exception | None) -> None:
        """Log a request that the client did not wait for; it was made all the same."""
        self._opened.discard(self)
        if self._timer:
            self._timer.cancel()
        if self._request and self._request.answer:
            self._log(self._request, complete=False)
            self._request = None

    def abort(self) -> None:
        self._transport.abort()

    def _advance(self) -> None:
        request = self._request
        if request is None or request.answer or self._transport.is_closing():
            return
        head, end, rest = self._received.partition(b"\r\n\r\n")
        if end:
            self._received = rest
            answer = self._read(request, head)
        elif len(head) > _LONGEST_HEAD:
            request.closes = True
            answer = Answer(431)
        else:
            return
        request.answer = answer
        if answer.seconds:
            self._timer = asyncio.get_running_loop().call_later(answer.seconds, self._send, request, answer)
        else:
            self._send(request, answer)

    def _read(self, request: _Request, head: bytes) -> Answer:
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        parts = first.split(" ")
        request.host = headers.get("host", "").lower().rpartition(":")[0] or headers.get("host", "").lower()
        connection = headers.get("connection", "").lower()
        if len(parts) != 3 or not parts[1].startswith("/") or not request.host:
            request.closes = True
            return Answer(400)
        request.method, request.target, version = parts
        request.conditional = "if-none-match" in headers or "if-modified-since" in headers
        has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        request.closes = has_body or connection == "close" or (version == "HTTP/1.0" and connection != "keep-alive")
        if request.method not in _METHODS:
            return Answer(405, [("Allow", ", ".join(_METHODS))])
        return self._answerer.answer(self._address, request.host, request.target, headers, request.instant)

    def _send(self, request: _Request, answer: Answer) -> None:
        lines = [
            f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}",
            f"Date: {format_datetime(request.instant, usegmt=True)}",
            *(f"{name}: {value}" for name, value in answer.headers),
        ]
        if answer.status != 304:
            lines.append(f"Content-Length: {len(answer.body)}")
        if request.closes:
            lines.append("Connection: close")
        head = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"
        body = b"" if request.method == "HEAD" else answer.body
        request.sent = len(body)
        request.last_write = time.monotonic()
        self._transport.write(head + body)
        if self._transport.get_write_buffer_size() == 0:
            self._finish(request, complete=True)

    def _finish(self, request: _Request, *, complete: bool) -> None:
        self._log(request, complete=complete)
        self._request = None
        if request.closes:
            self._transport.close()
        elif self._received:
            self.data_received(b"")

    def _log(self, request: _Request, *, complete: bool) -> None:
        end = time.monotonic()
        answer = request.answer or Answer(0)
        self._record(
            {
                "instant_start": request.instant.isoformat(timespec="microseconds"),
                "instant_end": self._clock.now().isoformat(timespec="microseconds"),
                "monotonic_start": request.start,
                "monotonic_last_write": request.last_write or end,
                "monotonic_end": end,
                "host": request.host,
                "address": self._address,
                "method": request.method,
                "path": request.target,
                "status": answer.status,
                "bytes": request.sent,
                "conditional": request.conditional,
                "version": answer.version,
                "complete": complete,
            }
        )
