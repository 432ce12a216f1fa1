"""The threads of one fetch task, and whose turn it is.

Owns the lock, the gates, the segment in the making and its writing. A thread takes the host whose turn it is, sends at
most one request there (`turns.py`) and puts it back; the supervising thread writes segments, looks which hosts an
operator holds, and ends the task at the deadline, at a stop, or when nothing is left. Reads and writes the lake
through its ledger only.
"""

import math
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from datetime import timedelta

from crawler.core.columns import FoundLinks
from crawler.core.model import Row
from crawler.net.politeness import Gates, HostPace
from crawler.net.reply import Abandoned, Reply
from crawler.stages.fetch.hosts import Errand, Host, State
from crawler.stages.fetch.parsing import Parser
from crawler.stages.fetch.progress import Progress, progress_of
from crawler.stages.fetch.rows import Visit
from crawler.stages.fetch.segment import Segment
from crawler.stages.fetch.task import Ledger, Task, floor_of

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
        *,
        progress: Callable[[Progress], None] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        self.lock = threading.RLock()
        self.counts: Counter[str] = Counter()
        self.is_stopped = False
        self._ledger = ledger
        self._task = task
        self._progress = progress
        self._stop = stop
        self._turn = threading.Condition(self.lock)
        self._room = threading.Condition(self.lock)
        self._news = threading.Condition(self.lock)
        self._leader: int | None = None
        self._is_closed = False
        self._planned = 0
        self._started = task.clock.monotonic()
        self._told = -math.inf
        self._is_broken = False
        self._failure: BaseException | None = None
        self._busy = 0  # hosts that are not idle
        self._hosts: dict[str, Host] = {}
        self._parked: list[Host] = []
        self._parked_since = math.inf
        self._parser: Parser[Visit] | None = None
        self._segment = Segment()
        self._dirty: dict[str, Host] = {}
        self._captured: set[bytes] = set()
        self._held: frozenset[str] = frozenset()
        self._holds_seen = -math.inf
        politeness = task.settings.politeness
        now = task.clock.monotonic()
        self._gates: Gates[Host] = Gates(
            politeness.address_delay_seconds,
            ledger.shared_addresses,
            politeness.address_exempt,
            opens=now + politeness.address_delay_seconds if ledger.taken_over else -math.inf,
        )

    # The supervising thread

    def run(self, hosts: Sequence[Host], take_turn: Callable[[Host], None], parser: Parser[Visit]) -> None:
        """Fetch what `hosts` have to do, and write everything down. parser: reads what the turns submit to it.

        What cannot be done before the deadline stays open. An error in a thread ends the task; what was fetched
        before it is written first.
        """
        self._hosts = {host.name: host for host in hosts}
        self._planned = sum(len(origin.targets) for host in hosts for origin in host.origins.values())
        self._parser = parser
        self._obey_holds()
        try:
            try:
                self._run_threads(hosts, take_turn)
            finally:
                parser.drain()
            if self._failure is not None:
                raise self._failure
        except BaseException:
            segment, _ = self._take_segment()
            if not segment.is_empty and not self._is_broken:
                self._ledger.append(segment.rows, segment.links)
            raise
        segment, _ = self._take_segment()
        self._ledger.finish(segment.rows, segment.links, complete=not self.is_stopped)

    def _run_threads(self, hosts: Sequence[Host], take_turn: Callable[[Host], None]) -> None:
        with self.lock:
            for host in hosts:
                self.schedule(host)
            if not self._busy:
                return
        count = min(self._task.settings.fetch.threads, len(hosts))
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

    def _supervise(self) -> None:
        clock = self._task.clock
        while True:
            with self.lock:
                now = clock.monotonic()
                if not self._busy or self._is_closed or now >= self._task.deadline:
                    return
                due = self._flush_due()
                if now < due:
                    self._news.wait(min(due - now, _SUPERVISE_SECONDS, self._task.deadline - now))
                    if not self._busy:
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
            if self._progress is not None and clock.monotonic() >= self._told + _PROGRESS_SECONDS:
                self._told = clock.monotonic()
                self._progress(self.snapshot())
            if clock.monotonic() >= self._flush_due():
                self._flush()

    def _obey_holds(self) -> None:
        """Leave alone the hosts that are held now; go on with those that were."""
        held = self._ledger.held()
        with self.lock:
            self._held, self._holds_seen = held, self._task.clock.monotonic()
            for host in list(self._hosts.values()):
                was_held, host.is_held = host.is_held, host.name in held
                if was_held and not host.is_held and host.state is State.IDLE and self._busy:
                    self.schedule(host)  # once nothing is busy the threads have ended

    def _flush_due(self) -> float:
        with self.lock:
            settings = self._task.settings.fetch
            if self._segment.is_full(settings.segment_pages):
                return -math.inf
            due = self._parked_since + _PARKED_SECONDS
            return due if self._segment.is_empty else min(due, self._segment.since + settings.segment_seconds)

    def _flush(self) -> None:
        segment, recorded = self._take_segment()
        self._is_broken = True
        self._ledger.append(segment.rows, segment.links)
        self._is_broken = False
        with self.lock:
            for host, answers, seconds in recorded:
                host.pace.recorded(answers, seconds)
            parked, self._parked, self._parked_since = self._parked, [], math.inf
            for host in parked:
                host.state = State.IDLE
                self._busy -= 1
                self.schedule(host)  # parks it again if it came too late for this segment
            self._room.notify_all()

    def _take_segment(self) -> tuple[Segment, list[tuple[Host, int, float]]]:
        """The rows that wait; for each host in them how many answers they tell of, and what a restart would wait."""
        with self.lock:
            segment, self._segment = self._segment, Segment()
            dirty, self._dirty = list(self._dirty.values()), {}
            segment.add({"host_state": [self._state_row(host) for host in dirty]}, segment.since)
            return segment, [(host, host.pace.answers, host.pace.restart_seconds) for host in dirty]

    def _state_row(self, host: Host) -> Row:
        clock, pace = self._task.clock, host.pace
        owed = timedelta(seconds=pace.allowed - clock.monotonic())
        return {
            "host_key": host.key,
            "host": host.name,
            "address": host.address,
            "delay_seconds": pace.delay_seconds,
            "allowed_at": clock.now() + owed,
            "response_seconds": pace.response_seconds,
            "crawl_delay_seconds": pace.crawl_delay_seconds,
            "penalty": pace.penalty,
            "error_streak": pace.error_streak,
            "requests": pace.requests,
            "slow": False,
            "validator_audits": host.trust.audits,
            "validator_lies": host.trust.lies,
        }

    def _close(self) -> None:
        with self.lock:
            self._is_closed = True
            self._turn.notify_all()
            self._room.notify_all()

    # The fetching threads

    def _work(self, take_turn: Callable[[Host], None]) -> None:
        while (host := self._take()) is not None:
            try:
                take_turn(host)
            except Abandoned as abandoned:  # its URL stays open; its host is owed the delay
                self._note_abandoned(host, abandoned.reply)
            with self.lock:
                host.state = State.IDLE
                self._busy -= 1
                self.schedule(host)

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
            self._news.notify()

    def _is_overfull(self) -> bool:
        pages, weight = (self._parser.pages, self._parser.weight) if self._parser else (0, 0)
        return self._segment.is_overfull(self._task.settings.fetch.segment_pages, pages=pages, weight=weight)

    def _take(self) -> Host | None:
        """Wait for a host's turn; None at the end. One thread waits for the next instant, the others for a word."""
        me = threading.get_ident()
        with self.lock:
            while True:
                while self._is_overfull() and not self._is_closed:
                    self._room.wait()
                if self._is_closed or not self._busy:
                    self._turn.notify_all()
                    return None
                now = self._task.clock.monotonic()
                host = self._gates.pop(now)
                if host is not None:
                    at = host.next_turn()
                    if at is not None and at > now:  # its delay has grown while it waited
                        self._gates.push(host, at)
                        continue
                    host.state = State.HELD
                    if self._leader is None:
                        self._turn.notify()
                    return host
                at = self._gates.next_turn()
                if at is None or self._leader is not None:
                    self._turn.wait()
                else:
                    self._leader = me
                    self._turn.wait(at - now)
                    if self._leader == me:
                        self._leader = None

    # What others may look at

    def snapshot(self) -> Progress:
        """How far the task is at this moment."""
        with self.lock:
            now = self._task.clock.monotonic()
            hosts = self._hosts.values()
            return progress_of(self.counts, hosts, planned=self._planned, seconds=now - self._started, now=now)

    # What a turn calls, or the lock's holder

    def commit(self, rows: Mapping[str, Sequence[Row]], host: Host | None = None) -> None:
        """Add rows to the segment; `host` if its pace has changed with them. Call with the lock held."""
        kept = dict(rows)
        fresh = [row for row in rows.get("capture", ()) if row["body_digest"] not in self._captured]
        self._captured.update(row["body_digest"] for row in fresh)
        kept["capture"] = fresh
        for row in rows.get("observation", ()):
            row["stored"] = bool(fresh)  # else fingerprint may make it the holder of a body that it did not bring
            self.counts["observed"] += 1
            self.counts[row["outcome"]] += 1
        self._segment.add(kept, self._task.clock.monotonic())
        if host is not None:
            self._dirty[host.name] = host
        if self._segment.is_full(self._task.settings.fetch.segment_pages):
            self._news.notify()

    def commit_links(self, found: FoundLinks) -> None:
        """Add the links of pages just committed, before the lock is let go. Call with the lock held."""
        self._segment.add_links(found)
        self._room.notify_all()  # these pages no longer wait at the parser

    def fail(self, failure: BaseException) -> None:
        """End the task with `failure`, unless it ends with another already."""
        with self.lock:
            self._failure = self._failure or failure
            self._close()
            self._news.notify()

    def answered(self, host: Host, reply: Reply) -> float:
        """Note a reply of `host`; returns the seconds that it is owed. Call with the lock held."""
        host.address = reply.address or host.address
        self.counts["requests"] += reply.sent
        self.counts["wire_bytes"] += reply.wire_bytes
        return host.pace.answered(reply)

    def assign(self, host: Host, errand: Errand) -> None:
        """Let `host` be asked for a robots.txt. Call with the lock held."""
        host.errands.append(errand)
        if host.state in (State.IDLE, State.WAITING):
            self.wake(host)

    def wake(self, host: Host) -> None:
        """Look again at what an idle or waiting `host` has to do. Call with the lock held."""
        if host.state is State.WAITING:
            host.state = State.IDLE
            self._busy -= 1
        if host.state is State.IDLE:
            self.schedule(host)

    def host(self, name: str) -> Host:
        """The host of that name; one without a plan gets the pace of an unknown host. Call with the lock held."""
        found = self._hosts.get(name)
        if found is None:
            clock = self._task.clock
            pace = HostPace.resume(
                self._task.settings.politeness,
                floor_of(self._task.settings, name),
                None,
                now=clock.now(),
                monotonic=clock.monotonic(),
                is_last_unknown=True,
            )
            found = self._hosts[name] = Host(name, pace, is_held=name in self._held)
        return found

    def schedule(self, host: Host) -> None:
        """Queue, park or set aside an idle host. Call with the lock held."""
        at = host.next_turn()
        if at is None and host.is_waiting and not host.is_held:
            host.state = State.WAITING
        elif at is None or at >= self._task.deadline or self._is_closed or host.is_spent or host.is_held:
            self._set_aside(host)
            return
        elif host.pace.is_unrecorded:
            # Were we killed now, the next task would ask it too soon: write its delay down first.
            host.state = State.PARKED
            self._parked.append(host)
            if self._parked_since == math.inf:
                self._parked_since = self._task.clock.monotonic()
                self._news.notify()
        else:
            host.state = State.QUEUED
            earlier = self._gates.next_turn()
            self._gates.push(host, at)
            if earlier is None or at < earlier:
                self._leader = None
                self._turn.notify()
        self._busy += 1

    def _set_aside(self, host: Host) -> None:
        host.state = State.IDLE
        errands = list(host.errands)
        host.errands.clear()
        for errand in errands:  # their robots.txt will not come; a host that is released begins with its own again
            errand.origin.is_sought = False
            if errand.home is not host:
                errand.origin.not_before = math.inf
                if errand.home.state is State.WAITING:
                    self._busy -= 1
                    errand.home.state = State.IDLE
        if not self._busy:
            self._news.notify()
            self._turn.notify_all()
