"""A web server on loopback for any number of hosts, told apart by the Host header, that logs every request.

One socket on an address of 127.0.0.0/8, served by one thread. The log is the server's own truth about politeness:
`started` is the instant of a request's first byte, `ended` that before the last write of its response, both on the
machine's monotonic clock, so the gap between two requests is never smaller than the one that the client kept.
"""

import asyncio
import random
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Request:
    """One request. `target` is the request target as it came; header names are in lower case."""

    method: str
    host: str
    target: str
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class Response:
    """What to answer. `wait_seconds` passes before the first byte; a request's matching ETag turns it into a 304."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    wait_seconds: float = 0.0


@dataclass(slots=True)
class Entry:
    """One line of the log. `host` is in lower case without port and trailing dot; `ended` is None while in flight."""

    host: str
    target: str
    conditional: bool
    started: float
    status: int = 0
    ended: float | None = None
    aborted: bool = False


@dataclass
class WebServer:
    """Serves `respond(request)` until it is stopped; a context manager."""

    respond: Callable[[Request], Response]
    log: list[Entry] = field(default_factory=list)

    def __enter__(self) -> "WebServer":
        self._socket = _bind()
        self.address, self.port = self._socket.getsockname()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._socket.close()

    @property
    def suffix(self) -> str:
        """What a canonical URL has after its host: nothing for port 80."""
        return "" if self.port == 80 else f":{self.port}"

    def pages(self) -> list[Entry]:
        """The log without robots.txt."""
        return [entry for entry in self.log if not entry.target.startswith("/robots")]

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._loop.create_server(lambda: _Connection(self), sock=self._socket))
        self._loop.run_forever()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()


class _Connection(asyncio.Protocol):
    def __init__(self, server: WebServer) -> None:
        self.server = server
        self.buffer = b""
        self.first_byte = 0.0
        self.open: list[Entry] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, chunk: bytes) -> None:
        if not self.buffer:
            self.first_byte = time.monotonic()
        self.buffer += chunk
        head, end, rest = self.buffer.partition(b"\r\n\r\n")
        if not end:
            return
        self.buffer = rest
        request = _parse(head)
        entry = Entry(
            request.host,
            request.target,
            "if-none-match" in request.headers or "if-modified-since" in request.headers,
            self.first_byte,
        )
        self.server.log.append(entry)
        self.open.append(entry)
        response = self.server.respond(request)
        if response.wait_seconds:
            asyncio.get_running_loop().call_later(response.wait_seconds, self._answer, request, response, entry)
        else:
            self._answer(request, response, entry)

    def _answer(self, request: Request, response: Response, entry: Entry) -> None:
        if entry.aborted:
            return
        headers = dict(response.headers)
        status, body = response.status, response.body
        if status == 200 and "ETag" in headers and request.headers.get("if-none-match") == headers["ETag"]:
            status, body = 304, b""
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
        if status != 304:
            lines.append(f"Content-Length: {len(body)}")
        lines += [f"{name}: {value}" for name, value in response.headers]
        entry.status = status
        entry.ended = time.monotonic()
        self.open.remove(entry)
        self.transport.write("\r\n".join([*lines, "", ""]).encode("latin-1") + body)

    def connection_lost(self, _error: Exception | None) -> None:
        for entry in self.open:
            entry.aborted = True
            entry.ended = time.monotonic()


def _parse(head: bytes) -> Request:
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    host = headers["host"].lower().partition(":")[0].removesuffix(".")
    return Request(method, host, target, headers)


def _bind() -> socket.socket:
    """A listening socket: port 80 of some loopback address where the machine lets us, else any port of 127.0.0.1."""
    for address, port in ((f"127.{random.randint(1, 254)}.{random.randint(0, 254)}.7", 80), ("127.0.0.1", 0)):
        listener = socket.socket()
        try:
            listener.bind((address, port))
        except OSError:
            listener.close()
            continue
        listener.listen(512)
        listener.setblocking(False)
        return listener
    raise AssertionError("no loopback address to listen on")


def gaps(log: Iterable[Entry]) -> dict[str, list[tuple[float, Entry, Entry]]]:
    """Per host: seconds from the end of each response to the start of the next request, and the two entries.

    A request that starts while another of its host is in flight gives a negative gap.
    """
    by_host: dict[str, list[Entry]] = defaultdict(list)
    for entry in log:
        by_host[entry.host].append(entry)
    found: dict[str, list[tuple[float, Entry, Entry]]] = {}
    for host, entries in by_host.items():
        entries.sort(key=lambda entry: entry.started)
        found[host] = [
            ((later.started - earlier.ended) if earlier.ended is not None else float("-inf"), earlier, later)
            for earlier, later in pairwise(entries)
        ]
    return found


def smallest_gap(log: Iterable[Entry]) -> dict[str, float]:
    """Per host that was asked twice: the smallest of `gaps`."""
    return {host: min(gap for gap, _, _ in found) for host, found in gaps(log).items() if found}
