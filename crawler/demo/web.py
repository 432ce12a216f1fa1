"""The demo web's server: one process on loopback, one port, a listening socket per address.

Reads the simulated clock's file at each request and writes one JSON line per request to the log: instant_start and
instant_end (simulated, UTC), monotonic_start, monotonic_last_write and monotonic_end (the machine's, comparable
between processes), host, address, method, path, status, bytes (of the body), conditional, version (of the page whose
content was sent or confirmed, else null), complete (false where the client left first). An end is stamped after the
last byte was handed to the kernel, a last write just before that. Never listens beyond 127.0.0.0/8.

As a process: `python -m crawler.demo.web --clock FILE --log FILE --ready FILE`; ends on SIGTERM or SIGINT.
"""

import argparse
import asyncio
import errno
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from crawler.core.clock import SimulatedClock
from crawler.core.errors import RecrawlError
from crawler.demo.answer import Answerer
from crawler.demo.connection import Connection, Record
from crawler.demo.site import Plan, Site

DEFAULT_START = date(2026, 1, 1)
_BACKLOG = 256
_PORT_ATTEMPTS = 20


class DemoWeb:
    """A demo web to serve; start() listens and answers in a thread of its own until stop().

    start: the day (UTC) before which nothing changes. port 0: any free one. one_address: all hosts at 127.0.0.1, for
    systems whose loopback has no other address. archive: numbered pages of the archive's host. log_path None: no log.
    `site` is what is served; its URLs hold once started.
    """

    def __init__(
        self,
        seed: int,
        clock_file: str | os.PathLike[str],
        port: int = 0,
        hosts: int = 64,
        pages: int = 3200,
        log_path: str | os.PathLike[str] | None = None,
        start: date = DEFAULT_START,
        *,
        one_address: bool = False,
        archive: int = 200,
    ) -> None:
        self._clock = SimulatedClock(clock_file)
        self._log_path = os.devnull if log_path is None else log_path
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self.site = Site(Plan(seed, datetime.combine(start, time(), UTC), port, hosts, pages, one_address, archive))

    @property
    def port(self) -> int:
        """The port of all hosts; known once started."""
        return self.site.plan.port

    @property
    def resolve(self) -> dict[str, str]:
        """Host name to address."""
        return self.site.resolve

    @property
    def seeds(self) -> list[str]:
        """The front pages to start from; the other hosts are linked from these."""
        return self.site.seeds

    def start(self) -> None:
        """Listen. Raises BadClockFile, or OSError where an address or the port cannot be had."""
        self._clock.now()
        sockets = _listen(sorted(set(self.resolve.values())), self.port)
        self.site = Site(replace(self.site.plan, port=sockets[0].getsockname()[1]))
        log = Path(self._log_path).open("a", encoding="utf-8", buffering=1)  # noqa: SIM115 - the thread closes it
        ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._serve, args=(self._loop, sockets, log, ready), name="demo-web", daemon=True
        )
        self._thread.start()
        ready.wait()

    def stop(self) -> None:
        """Close every connection and the log."""
        if self._loop and self._thread:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop = self._thread = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _serve(
        self, loop: asyncio.AbstractEventLoop, sockets: list[socket.socket], log: TextIO, ready: threading.Event
    ) -> None:
        answerer = Answerer(self.site)
        opened: set[Connection] = set()
        record = _recorder(log)
        servers = [
            loop.run_until_complete(
                loop.create_server(
                    lambda: Connection(answerer, self._clock, record, opened), sock=listener, backlog=_BACKLOG
                )
            )
            for listener in sockets
        ]
        loop.call_soon(ready.set)
        loop.run_forever()
        for server in servers:
            server.close()
        for connection in list(opened):
            connection.abort()
        loop.run_until_complete(asyncio.sleep(0))  # lets the connections log what they were at
        loop.close()
        log.close()


def _recorder(log: TextIO) -> Record:
    def record(line: dict[str, object]) -> None:
        log.write(json.dumps(line, separators=(",", ":")) + "\n")

    return record


def _listen(addresses: Sequence[str], port: int) -> list[socket.socket]:
    """A listening socket per address, all on one port; for port 0 on one that is free at each of them."""
    for attempt in range(_PORT_ATTEMPTS):
        sockets: list[socket.socket] = []
        try:
            for address in addresses:
                sockets.append(_listen_at(address, sockets[0].getsockname()[1] if sockets else port))
        except OSError as error:
            for listener in sockets:
                listener.close()
            if port or error.errno != errno.EADDRINUSE or attempt == _PORT_ATTEMPTS - 1:
                raise
        else:
            return sockets
    raise AssertionError("the last attempt returns or raises")


def _listen_at(address: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        cure = " This system has no such loopback address: use --one-address." * (error.errno == errno.EADDRNOTAVAIL)
        raise OSError(error.errno, f"cannot listen at {address}:{port}: {error.strerror}.{cure}") from error
    return listener


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT. The ready file is written whole, once everything listens."""
    parser = argparse.ArgumentParser(prog="python -m crawler.demo.web", description="Serve the demo web on loopback.")
    parser.add_argument("--clock", required=True, help="file of the simulated clock")
    parser.add_argument("--log", required=True, help="file that gets a JSON line per request")
    parser.add_argument("--ready", required=True, help="JSON file to write: port, resolve, seeds and the web's plan")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--port", type=int, default=0, help="default: any free one")
    parser.add_argument("--hosts", type=int, default=64)
    parser.add_argument("--pages", type=int, default=3200)
    parser.add_argument("--start", type=date.fromisoformat, default=DEFAULT_START, help="day on which changes begin")
    parser.add_argument("--one-address", action="store_true", help="all hosts at 127.0.0.1")
    given = parser.parse_args(arguments)
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    try:
        web = DemoWeb(
            given.seed, given.clock, given.port, given.hosts, given.pages, given.log, given.start,
            one_address=given.one_address,
        )  # fmt: skip
        web.start()
    except (RecrawlError, OSError, ValueError) as error:
        sys.stderr.write(f"demo web: {error}\n")
        return 2
    _write_ready(web, Path(given.ready))
    stopped.wait()
    web.stop()
    return 0


def _write_ready(web: DemoWeb, path: Path) -> None:
    plan = web.site.plan
    ready = {
        "port": web.port,
        "resolve": web.resolve,
        "seeds": web.seeds,
        "pid": os.getpid(),
        "plan": {
            "seed": plan.seed,
            "start": plan.start.isoformat(),
            "port": plan.port,
            "hosts": plan.hosts,
            "pages": plan.pages,
            "one_address": plan.one_address,
            "archive": plan.archive,
        },
    }
    beside = path.with_name(f"{path.name}.tmp")
    beside.write_text(json.dumps(ready, indent=1), encoding="utf-8")
    beside.replace(path)


if __name__ == "__main__":
    sys.exit(main())
