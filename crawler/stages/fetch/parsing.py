"""Reading pages outside the fetching threads: in processes that can be killed, batch by batch.

Owns the worker processes of one fetch task and the pages that wait for them. A page that hangs or kills its worker
ends with an error of its own; the others of its batch are read again, the worker is started anew, and the threads go
on fetching meanwhile. Decides nothing about what becomes of a reading. See docs/decisions/0012.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import IO, Generic, Protocol, TypeVar

from crawler.core.columns import LinkColumns
from crawler.core.config import Settings
from crawler.core.errors import ParserNotStarted
from crawler.page import messages
from crawler.page.reading import Job, Limits, LinkWriter, Reading, Rules, read

Ticket = TypeVar("Ticket")
Submitted = TypeVar("Submitted", contravariant=True)
Deliver = Callable[[Sequence[tuple[Ticket, Reading]], LinkColumns], None]
"""Takes the readings of a batch in order, and their links."""

_BATCH_PAGES = 16
_BATCH_BYTES = 2 << 20
_LINGER_SECONDS = 0.1  # how long a page waits for others to share its batch: a batch of one costs five times as much
# The worker's own alarm counts CPU time. By the clock it gets more, since the machine may be busy; a worker that needs
# even longer has been stopped.
_PATIENCE = 2.0
_GRACE_SECONDS = 10.0
_START_SECONDS = 120.0
_BOOT = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from crawler.page.worker import main; main()"
_PAGES_PER_WORKER = 50_000  # then it is started anew, so that nothing that a library leaks adds up


class Parser(Protocol[Submitted]):
    """Reads pages and delivers what it finds, from whatever thread."""

    @property
    def pages(self) -> int:
        """Pages that wait or are being read."""

    @property
    def weight(self) -> int:
        """Bytes of their bodies."""

    @property
    def restarts(self) -> int:
        """Workers that ended over a page so far."""

    def submit(self, ticket: Submitted, job: Job) -> None:
        """Have a page read; `ticket` comes back with it."""

    def drain(self, seconds: float | None = None) -> bool:
        """Wait until nothing submitted is undelivered or will be; whether that is so within `seconds`."""

    def close(self) -> None:
        """End the workers, whatever they are doing; what they have not read is not delivered."""


def rules_of(settings: Settings) -> Rules:
    """What reading pages needs of the settings."""
    traps = settings.traps
    return Rules(
        product_token=settings.crawl.product_token,
        min_text_bytes=settings.copies.min_text_bytes,
        max_parse_bytes=settings.fetch.max_parse_bytes,
        traps=Limits(
            traps.max_depth,
            traps.max_url_length,
            traps.max_path_segments,
            traps.max_repeated_segments,
            traps.max_query_parameters,
            traps.max_years_ahead,
        ),
        url_rules=settings.url_rules,
        feeds=settings.sitemaps.feeds,
    )


def open_parser(
    settings: Settings, deliver: Deliver[Ticket], failed: Callable[[BaseException], None]
) -> Parser[Ticket]:
    """The parser that `fetch.parse_workers` asks for. failed: told what ends a thread of it."""
    rules, fetch = rules_of(settings), settings.fetch
    if fetch.parse_workers == 0:
        return InTask(rules, deliver)
    return Workers(rules, deliver, failed, count=fetch.parse_workers, seconds=fetch.parse_seconds)


class InTask(Generic[Ticket]):
    """Reads each page in the thread that submits it: nothing stops a page that hangs."""

    pages = weight = restarts = 0

    def __init__(self, rules: Rules, deliver: Deliver[Ticket]) -> None:
        self._rules = rules
        self._deliver = deliver

    def submit(self, ticket: Ticket, job: Job) -> None:
        links = LinkWriter(self._rules.traps)
        reading = read(job, self._rules, links)
        self._deliver([(ticket, reading)], links.columns())

    def drain(self, seconds: float | None = None) -> bool:
        return True  # nothing ever waits

    def close(self) -> None:
        """Nothing to end."""


@dataclass(frozen=True, slots=True)
class _Waiting(Generic[Ticket]):
    ticket: Ticket
    job: Job
    since: float


class Workers(Generic[Ticket]):
    """Reads pages in `count` worker processes, each served by a thread; both start when there is work for them.

    seconds: of CPU time that one page may take.
    """

    def __init__(
        self,
        rules: Rules,
        deliver: Deliver[Ticket],
        failed: Callable[[BaseException], None],
        *,
        count: int,
        seconds: float,
    ) -> None:
        self.pages = 0
        self.weight = 0
        self._rules = rules
        self._deliver = deliver
        self._failed = failed
        self._count = count
        self._seconds = seconds
        self._waiting: deque[_Waiting[Ticket]] = deque()
        self._started = 0  # threads
        self._busy = 0  # of them
        self._workers: list[_Worker] = []
        self._is_draining = False
        self._is_closed = False
        lock = threading.Lock()
        self._work = threading.Condition(lock)
        self._done = threading.Condition(lock)
        self._threads = ThreadPoolExecutor(count, "parse")

    def submit(self, ticket: Ticket, job: Job) -> None:
        with self._work:
            self.pages += 1
            self.weight += len(job.body)
            self._waiting.append(_Waiting(ticket, job, time.monotonic()))
            waiting = len(self._waiting)
            if self._started == self._busy < self._count and (not self._started or waiting >= _BATCH_PAGES):
                self._started += 1
                self._threads.submit(self._serve).add_done_callback(self._thread_ended)
            elif waiting in (1, _BATCH_PAGES):  # in between, who waits for the batch to fill looks at the clock
                self._work.notify()

    @property
    def restarts(self) -> int:
        return sum(worker.losses for worker in self._workers)

    def drain(self, seconds: float | None = None) -> bool:
        with self._work:
            self._is_draining = True
            self._work.notify_all()
            is_done = self._done.wait_for(lambda: not self.pages or self._is_closed, seconds)
            self._is_draining = False
            return is_done

    def close(self) -> None:
        self._close()
        for worker in self._workers:
            worker.abandon()
        self._threads.shutdown()

    def _close(self) -> None:
        with self._work:
            self._is_closed = True
            self._work.notify_all()
            self._done.notify_all()

    def _serve(self) -> None:
        worker = _Worker(self._rules, self._seconds)
        self._workers.append(worker)
        try:
            while batch := self._next_batch():
                at = 0
                for readings, links in worker.read_all([each.job for each in batch]):
                    part = batch[at : at + len(readings)]
                    at += len(readings)
                    self._deliver([(each.ticket, found) for each, found in zip(part, readings, strict=True)], links)
                    with self._work:
                        self.pages -= len(part)
                        self.weight -= sum(len(each.job.body) for each in part)
                with self._work:
                    self._busy -= 1
                    self._done.notify_all()
        finally:
            worker.end()

    def _thread_ended(self, thread: "Future[None]") -> None:
        error = thread.exception()
        if error is not None:
            self._close()
            self._failed(error)

    def _next_batch(self) -> list[_Waiting[Ticket]]:
        """Wait for a batch that is full or has waited long enough; none at the end."""
        with self._work:
            while not self._is_closed:
                if not self._waiting:
                    self._work.wait()
                    continue
                rest = self._waiting[0].since + _LINGER_SECONDS - time.monotonic()
                if rest <= 0 or self._is_draining or len(self._waiting) >= _BATCH_PAGES:
                    self._busy += 1
                    return self._take_batch()
                self._work.wait(rest)
            return []

    def _take_batch(self) -> list[_Waiting[Ticket]]:
        batch = [self._waiting.popleft()]
        size = len(batch[0].job.body)
        while self._waiting and len(batch) < _BATCH_PAGES and size < _BATCH_BYTES:
            batch.append(self._waiting.popleft())
            size += len(batch[-1].job.body)
        if self._waiting:
            self._work.notify()
        return batch


class _WorkerEnded(Exception):
    """A worker did not answer. Argument: why, in words for a row."""


class _Worker:
    """One worker process, started when it is needed and again after it has ended."""

    def __init__(self, rules: Rules, seconds: float) -> None:
        self._rules = rules
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._complaints: IO[bytes] | None = None
        self._is_abandoned = False
        self._read_pages = 0
        self.losses = 0  # processes that ended over a page

    def read_all(self, jobs: Sequence[Job]) -> Iterator[tuple[list[Reading], LinkColumns]]:
        """The readings of `jobs` in one or several parts, with an error for each that ends its worker when alone.

        Fewer, once the worker is abandoned.
        """
        try:
            yield self._read(jobs)
        except _WorkerEnded as ended:
            if self._is_abandoned:
                return
            self.losses += 1
            if len(jobs) > 1:
                for job in jobs:
                    yield from self.read_all([job])
            else:
                columns = LinkWriter(self._rules.traps)
                columns.add_page([], jobs[0].depth)
                yield [Reading(error=str(ended))], columns.columns()

    def abandon(self) -> None:
        """Kill the process and start no other. Any thread may say so."""
        self._is_abandoned = True
        process = self._process
        if process is not None:
            process.kill()

    def end(self) -> None:
        """End the process, whatever it is doing."""
        if self._socket is not None:
            self._socket.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._complaints is not None:
            self._complaints.close()
        self._socket = self._process = self._complaints = None

    def _read(self, jobs: Sequence[Job]) -> tuple[list[Reading], LinkColumns]:
        if self._read_pages >= _PAGES_PER_WORKER:
            self.end()
        if self._is_abandoned:
            raise _WorkerEnded("nobody waits for it")
        channel = self._socket or self._start()
        seconds = self._seconds * len(jobs) * _PATIENCE + _GRACE_SECONDS
        deadline = time.monotonic() + seconds
        try:
            channel.settimeout(seconds)
            for piece in messages.request(jobs, self._seconds):
                channel.sendall(piece)
            found = messages.read_reply(lambda size: _receive(channel, size, deadline), len(jobs))
        except TimeoutError as error:
            self.end()
            raise _WorkerEnded(f"the parser did not answer within {seconds:g} s") from error
        except (OSError, EOFError) as error:
            raise _WorkerEnded(self._how_it_ended()) from error
        except messages.NoReply as error:
            self.end()
            raise _WorkerEnded(f"the parser gave no answer: {error}") from error
        self._read_pages += len(jobs)
        return found

    def _start(self) -> socket.socket:
        """A process of nothing but the modules that reading needs, not even the caller's main module.

        It inherits no descriptor but its socket: who waits for the end of the task's output does not wait for a worker
        that is about to end. Raises ParserNotStarted.
        """
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115  # closed by `end`
        path = [entry or os.getcwd() for entry in sys.path]
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603  # our own interpreter and module
                [sys.executable, "-c", _BOOT, json.dumps(path)],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=self._complaints,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            )
        self._socket = ours
        self._read_pages = 0
        try:
            ours.settimeout(_START_SECONDS)
            ours.sendall(messages.hello(self._rules))
            said = _receive(ours, len(messages.READY), time.monotonic() + _START_SECONDS)
        except (OSError, EOFError) as error:
            how = self._how_it_ended()
            if self._is_abandoned:
                raise _WorkerEnded(how) from error
            raise ParserNotStarted(sys.executable, how) from error
        if said != messages.READY:
            raise ParserNotStarted(sys.executable, f"it said {said!r}")
        return ours

    def _how_it_ended(self) -> str:
        process, complaints = self._process, self._complaints
        if process is None or complaints is None:
            return "the parser is gone"
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_SECONDS)  # it has closed its socket, so it is about to end
        complaints.seek(0)
        last = complaints.read().decode(errors="replace").strip().rpartition("\n")[2]
        self.end()
        if process.returncode == -signal.SIGPROF:
            return f"the parser took longer than {self._seconds:g} s of CPU time"
        if process.returncode < 0:
            return f"the parser died of {signal.Signals(-process.returncode).name}"
        return f"the parser ended with code {process.returncode}: {last}"


def _receive(channel: socket.socket, size: int, deadline: float) -> bytes:
    """So many bytes. Raises TimeoutError at the deadline (monotonic), EOFError when the other side ends first."""
    content = bytearray(size)
    view, have = memoryview(content), 0
    while have < size:
        channel.settimeout(max(deadline - time.monotonic(), 0.001))
        count = channel.recv_into(view[have:])
        if not count:
            raise EOFError("the worker has ended")
        have += count
    return bytes(content)
