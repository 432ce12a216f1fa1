"""The threads of one fetch task.

Owns the lock, the segment in the making and its writing. A thread takes the host whose turn it is (`schedule.py`,
`dispatch.py`), sends at most one request there (`turns.py`) and puts it back; the supervising thread writes segments,
looks which hosts an operator holds, and ends the task at the deadline, at a stop, or when nothing is left. Reads and
writes the lake through its ledger only.
"""

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial

from crawler.core.columns import FoundLinks
from crawler.core.errors import ProxyFailed
from crawler.core.model import HostState, Row, Target
from crawler.core.progress import Progress
from crawler.net.client import BeforeSend
from crawler.net.gates import Gates
from crawler.net.reply import Abandoned, Reply
from crawler.stages.fetch.discovery import Discovery
from crawler.stages.fetch.dispatch import Dispatch
from crawler.stages.fetch.hosts import Errand, Host, State
from crawler.stages.fetch.parsing import Parser
from crawler.stages.fetch.progress import progress_of
from crawler.stages.fetch.roster import Known, Roster
from crawler.stages.fetch.rows import Visit
from crawler.stages.fetch.schedule import Postponed, Schedule
from crawler.stages.fetch.segment import Segment
from crawler.stages.fetch.task import Ledger, Task

_SUPERVISE_SECONDS = 1.0
_HOLDS_SECONDS = 15.0  # between two looks at the holds; an operator is promised obedience within a minute
_PROGRESS_SECONDS = 2.0
_LET_END_SECONDS = 2.0  # that a stop gives the requests under way; whoever stops us kills us after five
_PARKED_SECONDS = 0.1  # a parked host is owed more than this, so it loses nothing while others join it


class Engine:
    """Runs turns until nothing is left.

    take_turn: what a thread does with the host that it holds. progress: told every two seconds how far it is.
    stop: asked each second whether to end early.
    """

    def __init__(
        self,
        ledger: Ledger,
        task: Task,
        roster: Roster,
        discovery: Discovery | None = None,
        *,
        progress: Callable[[Progress], None] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        self.lock = threading.RLock()
        self.counts: Counter[str] = Counter()
        self.is_stopped = False
        self._has_begun = False
        self._serve: Callable[[], None] | None = None
        self._ledger = ledger
        self._task = task
        self._progress = progress
        self._stop = stop
        self._planned = 0
        self._started = task.clock.monotonic()
        self._told = -math.inf
        self._is_broken = False
        self._failure: BaseException | None = None
        self._mine = threading.local()  # the turn of each thread
        self.roster = roster
        self.discovery = discovery
        self._unread = 0  # pages that may yet bring something to do
        self._parser: Parser[Visit] | None = None
        self._segment = Segment()
        self._dirty: dict[str, Host] = {}
        self._captured: set[bytes] = set()
        self._holds_seen = -math.inf
        politeness = task.settings.politeness
        self._gates: Gates[Host] = Gates(
            politeness.address_delay_seconds,
            ledger.shared_addresses,
            politeness.address_exempt,
            started=task.clock.monotonic(),
        )
        fetch = task.settings.fetch
        self._schedule = Schedule(self._gates, task.deadline, min(fetch.slow_threads, max(fetch.threads // 2, 1)))
        self._dispatch = Dispatch(
            self.lock, self._schedule, task.clock, is_overfull=self._is_overfull, is_busy=self._is_busy
        )

    # The supervising thread

    def run(
        self,
        take_turn: Callable[[Host], None],
        parser: Parser[Visit],
        serve: Callable[[], None] | None = None,
    ) -> None:
        """Fetch what the hosts of the roster have to do, and write everything down.

        parser: reads what the turns submit to it. serve: takes on what other buckets' owners want.
        What cannot be done before the deadline stays open. An error in a thread ends the task; what was fetched
        before it is written first.
        """
        self._planned = sum(len(origin.targets) for host in self.roster for origin in host.origins.values())
        self._parser = parser
        self._serve = serve
        self._obey_holds()
        try:
            try:
                self._run_threads(take_turn)
            finally:
                self._drain(parser)
            if self._failure is not None:
                raise self._failure
        except BaseException:
            segment, _ = self._take_segment()
            if not segment.is_empty and not self._is_broken:
                self._ledger.append(segment.rows, segment.links)
            raise
        segment, _ = self._take_segment()
        if self.discovery is not None and not self.is_stopped:
            segment.rows["discovery"].append(self.discovery.row())
        is_complete = not self.is_stopped and self.roster.proxy_failure is None
        self._ledger.finish(segment.rows, segment.links, complete=is_complete)
        if self.roster.proxy_failure is not None and not self.is_stopped:
            raise self.roster.proxy_failure

    def _run_threads(self, take_turn: Callable[[Host], None]) -> None:
        with self.lock:
            for host in self.roster:
                self._queue(host)
        if self._serve is not None:
            self._serve()
        with self.lock:
            self._has_begun = True
            if not self._is_busy():
                return
        count = self._task.settings.fetch.threads
        if self.discovery is None:
            count = min(count, sum(host.pace.connections for host in self.roster))
        with ThreadPoolExecutor(count, "fetch") as threads:
            try:
                working = [threads.submit(self._work, take_turn) for _ in range(count)]
                for thread in working:
                    thread.add_done_callback(self._thread_ended)
                self._supervise()
            finally:
                self._close()
            if self.is_stopped:
                wait(working, _LET_END_SECONDS)
                self._task.client.abandon()

    def _drain(self, parser: Parser[Visit]) -> None:
        """Wait for the pages that are still to be read; not for long once we are told to stop."""
        while not parser.drain(_LET_END_SECONDS if self.is_stopped else _SUPERVISE_SECONDS):
            if self.is_stopped:
                return
            self.is_stopped = self._stop is not None and self._stop()

    def _supervise(self) -> None:
        clock = self._task.clock
        while True:
            with self.lock:
                now = clock.monotonic()
                if not self._is_busy() or self._schedule.is_closed or now >= self._task.deadline:
                    return
                due = self._flush_due()
                if now < due:
                    self._dispatch.news.wait(min(due - now, _SUPERVISE_SECONDS, self._task.deadline - now))
                    if not self._is_busy():
                        return
            if clock.now() >= self._ledger.deadline:
                return
            if self._stop is not None and self._stop():
                self.is_stopped = True
                self._close()
                self._flush()  # first of all: whoever stops us may soon kill us
                return
            if clock.monotonic() >= self._holds_seen + _HOLDS_SECONDS:
                self._obey_holds()
                if self._serve is not None:
                    self._serve()
            if self._progress is not None and clock.monotonic() >= self._told + _PROGRESS_SECONDS:
                self._told = clock.monotonic()
                self._progress(self.snapshot())
            if clock.monotonic() >= self._flush_due():
                self._flush()

    def _obey_holds(self) -> None:
        """Leave alone the hosts that are held now; go on with those that were."""
        held = self._ledger.held()
        with self.lock:
            self._holds_seen = self._task.clock.monotonic()
            for host in self.roster.obey_holds(held):
                if host.state is State.IDLE and self._is_busy():
                    self._queue(host)

    def _flush_due(self) -> float:
        with self.lock:
            settings = self._task.settings.fetch
            if self._segment.is_full(settings.segment_pages):
                return -math.inf
            due = self._schedule.parked_since + _PARKED_SECONDS
            return due if self._segment.is_empty else min(due, self._segment.since + settings.segment_seconds)

    def _flush(self) -> None:
        segment, recorded = self._take_segment()
        self._is_broken = True
        self._ledger.append(segment.rows, segment.links)
        self._is_broken = False
        with self.lock:
            for host, answers, seconds in recorded:
                host.pace.recorded(answers, seconds)
            self._schedule.unpark(self._task.clock.monotonic())
            self._dispatch.tell()
            self._dispatch.room.notify_all()

    def _take_segment(self) -> tuple[Segment, list[tuple[Host, int, float]]]:
        """The rows that wait; for each host in them how many answers they tell of, and what a restart would wait."""
        with self.lock:
            segment, self._segment = self._segment, Segment()
            dirty, self._dirty = list(self._dirty.values()), {}
            segment.add({"host_state": [self.roster.state_row(host) for host in dirty]}, segment.since)
            return segment, [(host, host.pace.answers, host.pace.restart_seconds) for host in dirty]

    def _close(self) -> None:
        with self.lock:
            self._schedule.is_closed = True
            self._dispatch.tell_all()

    # The fetching threads

    def _work(self, take_turn: Callable[[Host], None]) -> None:
        with self.lock:
            turn = self._dispatch.take()
        while turn is not None:
            self._mine.turn = turn
            try:
                take_turn(turn.host)
            except Abandoned as abandoned:  # its URL stays open; its host is owed the delay
                self._note_abandoned(turn.host, abandoned.reply)
            with self.lock:
                self._schedule.end(turn, self._task.clock.monotonic())
                turn = self._dispatch.take()

    def _note_abandoned(self, host: Host, reply: Reply) -> None:
        with self.lock:
            host.pace.abandoned(reply)
            self.counts["requests"] += reply.sent
            self.commit({}, host)

    def _thread_ended(self, thread: "Future[None]") -> None:
        failure = thread.exception()
        if failure is not None:
            self.fail(failure)
        with self.lock:
            self._dispatch.news.notify()

    def _is_overfull(self) -> bool:
        pages, weight = (self._parser.pages, self._parser.weight) if self._parser else (0, 0)
        return self._segment.is_overfull(self._task.settings.fetch.segment_pages, pages=pages, weight=weight)

    def _is_busy(self) -> bool:
        """Whether something is, or may yet be, to be done; once nothing is, the threads end."""
        return bool(self._schedule.busy or self._unread)

    # What others may look at

    def snapshot(self) -> Progress:
        """How far the task is at this moment."""
        with self.lock:
            now = self._task.clock.monotonic()
            restarts = self._parser.restarts if self._parser else 0
            seconds = now - self._started
            return progress_of(
                self.counts, self.roster, planned=self._planned, restarts=restarts, seconds=seconds, now=now
            )

    # What a turn calls, or the lock's holder

    def commit(self, rows: Mapping[str, Sequence[Row]], host: Host | None = None) -> None:
        """Add rows to the segment; `host` if its pace has changed with them. Call with the lock held."""
        kept = dict(rows)
        fresh = [row for row in rows.get("capture", ()) if row["body_digest"] not in self._captured]
        self._captured.update(row["body_digest"] for row in fresh)
        kept["capture"] = fresh
        for row in rows.get("observation", ()):
            row["stored"] = bool(fresh)  # else fingerprint may make it the holder of a body that it did not bring
            self.counts["observed" if row["discovered"] is None else "discovered"] += 1
            self.counts[row["outcome"]] += 1
        self._segment.add(kept, self._task.clock.monotonic())
        if host is not None:
            self._dirty[host.name] = host
        if self._segment.is_full(self._task.settings.fetch.segment_pages):
            self._dispatch.news.notify()

    def commit_links(self, found: FoundLinks) -> None:
        """Add the links of pages just committed, before the lock is let go. Call with the lock held."""
        self._segment.add_links(found)
        self._dispatch.room.notify_all()  # these pages no longer wait at the parser

    def await_links(self, pages: int) -> None:
        """So many more pages, or fewer, are to be read whose links may be followed. Call with the lock held."""
        if self.discovery is not None:
            self._unread += pages
            if not self._is_busy():
                self._dispatch.tell()

    def room_of(self, name: str) -> float:
        """How many more pages than those that it has to do a host may be asked for. Any thread may ask."""
        with self.lock:
            return self.roster.room_of(name)

    def discover(self, targets: Sequence[Target], known: Known) -> None:
        """Let targets that were found on the way be fetched. known: by `Roster.know`. Call with the lock held."""
        for target in targets:
            self.wake(self.roster.meet(target, known))

    def fail(self, failure: BaseException) -> None:
        """End the task with `failure`, unless it ends with another already."""
        with self.lock:
            self._failure = self._failure or failure
            self._close()
            self._dispatch.news.notify()

    def begin(self, host: Host, *, share: bool = False) -> BeforeSend | None:
        """A request to `host` follows, and then `answered` or `cancel`; returns what the client calls before it sends.

        share: another thread may have the host meanwhile, if it allows several connections. What is returned waits for
        the gates as they are then, and raises Postponed if the host may not be asked any more.
        """
        if host.pace.connections > 1:
            with self.lock:
                self._schedule.begin(self._mine.turn, host, self._task.clock.monotonic(), share=share)
                self._dispatch.tell()
        elif not self._gates.has_intervals and not host.closed:
            return None
        return partial(self._before_send, host, host.address)

    def _before_send(self, host: Host, expected: str | None, address: str | None, start: Callable[[], None]) -> None:
        clock = self._task.clock
        while True:
            with self.lock:
                now = clock.monotonic()
                host.calendar_ahead = clock.now().timestamp() - now
                at = self._schedule.may_send(host, address, now)
                if at <= now:
                    start()
                    self._schedule.sent(host, expected, address, clock.monotonic())  # not before the log says so
                    return
            time.sleep(at - now)

    def answered(self, host: Host, reply: Reply) -> Row:
        """Note a reply of `host`; returns the columns that say how it was paced. Call with the lock held."""
        host.address = reply.address or host.address
        self.counts["requests"] += reply.sent
        self.counts["wire_bytes"] += reply.wire_bytes
        terms = self._gates.terms(reply.address)
        return {
            "delay_seconds": host.pace.answered(reply),
            "connections": host.pace.connections,
            "address_delay_seconds": terms.delay_seconds,
            "address_buckets": terms.buckets,
        }

    def cancel(self, host: Host, reason: Postponed | ProxyFailed) -> None:
        """The request to `host` that was begun is not made. Call with the lock held."""
        host.pace.cancel()
        if isinstance(reason, ProxyFailed):
            self.roster.bar(reason)

    @property
    def accepts_errands(self) -> bool:
        """Whether there are threads to run one. Ask with the lock held."""
        return not self._schedule.is_closed and (self._is_busy() or not self._has_begun)

    def assign(self, host: Host, errand: Errand) -> None:
        """Let `host` be asked for a robots.txt. Call with the lock held."""
        host.errands.append(errand)
        self.wake(host)

    def wake(self, host: Host) -> None:
        """Look again at what an idle or waiting `host` has to do. Call with the lock held."""
        self._schedule.wake(host, self._task.clock.monotonic())
        self._dispatch.tell()

    def host(self, name: str, known: Mapping[str, HostState] | None = None) -> Host:
        """The host of that name, see `Roster.host`. Call with the lock held."""
        return self.roster.host(name, known)

    def _queue(self, host: Host) -> None:
        self._schedule.queue(host, self._task.clock.monotonic())
        self._dispatch.tell()
