"""A discrete-event simulation of a fetch task: the scheduler's own classes, and in place of threads and web a clock."""

import heapq
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial

from crawler.core.blackout import Blackout
from crawler.core.fetch_settings import PolitenessSettings
from crawler.core.model import Target
from crawler.core.outcomes import Outcome, of_status
from crawler.net import robots
from crawler.net.gates import Gates
from crawler.net.politeness import HostPace
from crawler.net.reply import Reply
from crawler.stages.fetch.hosts import Host, Origin, State
from crawler.stages.fetch.schedule import Postponed, Schedule, Turn
from tests.stages.memory_ledger import target

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
WINDOW = 86_400.0


@dataclass
class Site:
    """What a host is like. replies: (seconds, status, Retry-After) of its requests in turn, round and round.

    addresses: that it is found at, in turn. connecting: seconds between a turn and its request, in turn.
    """

    pages: int
    delay: float
    replies: Sequence[tuple[float, int | None, float | None]] = ((0.1, 200, None),)
    addresses: Sequence[str | None] = (None,)
    connecting: Sequence[float] = (0.0,)
    connections: int = 1
    held: tuple[float, float] | None = None
    closed: Blackout = field(default_factory=Blackout)


@dataclass(eq=False)
class Asked:
    """A request as a server's log would have it."""

    host: str
    begun: float
    sent: float
    address: str | None
    ended: float = math.nan
    delay: float = math.nan
    wish: bool = False
    connections: int = 1
    is_slow: bool = False


@dataclass
class Simulation:
    """Runs the turns of `sites` on `threads` threads until nothing is left."""

    sites: dict[str, Site]
    threads: int
    politeness: PolitenessSettings
    shares: dict[str, int] = field(default_factory=dict)
    slow_threads: int = 2
    deadline: float = WINDOW
    flush_seconds: float = 0.3
    now: float = 0.0
    log: list[Asked] = field(default_factory=list)

    def run(self) -> "Simulation":
        gates: Gates[Host] = Gates(
            self.politeness.address_delay_seconds, self.shares, self.politeness.address_exempt, started=0.0
        )
        self.schedule = Schedule(gates, self.deadline, self.slow_threads)
        self.hosts = {name: self._host(name, site) for name, site in self.sites.items()}
        self.events: list[tuple[float, int, Callable[[], None]]] = []
        self.counted: defaultdict[str, int] = defaultdict(int)
        self.running = self._events = 0
        self._flushes_at = math.inf
        for name, site in self.sites.items():
            if site.held is not None:
                self._at(site.held[0], partial(self._hold, name, held=True))
                self._at(site.held[1], partial(self._hold, name, held=False))
        for host in self.hosts.values():
            self.schedule.queue(host, self.now)
        for _ in range(200_000):
            self._go()
            if self.schedule.parked and self._flushes_at == math.inf:
                self._flushes_at = self.now + self.flush_seconds
                self._at(self._flushes_at, self._flush)
            instants = [self.events[0][0]] if self.events else []
            turn = self.schedule.next_turn()
            if turn is not None and self.running < self.threads:
                instants.append(turn)
            if not instants:
                return self
            self.now = max(self.now, min(instants))
            while self.events and self.events[0][0] <= self.now:
                heapq.heappop(self.events)[2]()
        raise AssertionError("the simulation does not end")

    def _host(self, name: str, site: Site) -> Host:
        pace = HostPace(self.politeness, site.delay, 0.0, connections=site.connections)
        host = Host(name, pace, address=site.addresses[0], closed=site.closed)
        planned = [target(f"http://{name}/{number}", priority=-number) for number in range(site.pages)]
        host.plan(planned, {f"http://{name}": range(site.pages)} if planned else {})
        for origin in host.origins.values():
            origin.decide(robots.ALLOW, START + timedelta(days=9))
        return host

    def _at(self, instant: float, do: Callable[[], None]) -> None:
        self._events += 1
        heapq.heappush(self.events, (instant, self._events, do))

    def _hold(self, name: str, *, held: bool) -> None:
        host = self.hosts[name]
        host.is_held = held
        if not held and host.state is State.IDLE:
            self.schedule.queue(host, self.now)

    def _flush(self) -> None:
        self._flushes_at = math.inf
        for host in self.hosts.values():
            host.pace.recorded(host.pace.answers, host.pace.restart_seconds)
        self.schedule.unpark(self.now)

    def _go(self) -> None:
        while self.running < self.threads and (turn := self.schedule.take(self.now)) is not None:
            host = turn.host
            origin = None if host.is_held else host.next_origin(self.now)
            if origin is None:
                self.schedule.end(turn, self.now)
                continue
            self.running += 1
            page = origin.targets.popleft()
            self.schedule.begin(turn, host, self.now, share=True)
            site, number = self.sites[host.name], self.counted[host.name]
            self.counted[host.name] += 1
            connecting = site.connecting[number % len(site.connecting)]
            send = partial(self._send, turn, origin, page, number, self.now, host.address)
            self._at(self.now + connecting, send)

    def _send(self, turn: Turn, origin: Origin, page: Target, number: int, begun: float, expected: str | None) -> None:
        host, site = turn.host, self.sites[turn.host.name]
        address = site.addresses[number % len(site.addresses)]
        try:
            at = self.schedule.may_send(host, address, self.now)
        except Postponed:
            host.pace.cancel()
            origin.targets.appendleft(page)
            self._end(turn)
            return
        if at > self.now:
            self._at(at, lambda: self._send(turn, origin, page, number, begun, expected))
            return
        self.schedule.sent(host, expected, address, self.now)
        asked = Asked(host.name, begun, self.now, address, connections=site.connections, is_slow=turn.is_slow)
        self.log.append(asked)
        seconds, status, wait = site.replies[number % len(site.replies)]
        self._at(self.now + seconds, lambda: self._answer(turn, asked, seconds, status, wait))

    def _answer(self, turn: Turn, asked: Asked, seconds: float, status: int | None, wait: float | None) -> None:
        host, instant = turn.host, START + timedelta(seconds=self.now)
        headers = [] if wait is None else [("Retry-After", str(int(wait)))]
        outcome = Outcome.TIMED_OUT if status is None else of_status(status, retry_after=wait is not None)
        reply = Reply(
            outcome, status, headers, None, 0, False, asked.address, True, None, instant, instant, self.now, seconds
        )  # fmt: skip
        host.address = asked.address or host.address
        asked.ended, asked.delay = self.now, host.pace.answered(reply)
        asked.wish = status in (429, 503)
        host.pages += 1
        self._end(turn)

    def _end(self, turn: Turn) -> None:
        self.running -= 1
        self.schedule.end(turn, self.now)

    @property
    def makespan(self) -> float:
        return max(asked.ended for asked in self.log)


def quiet(**given: float) -> PolitenessSettings:
    """Delays by the floor alone, and addresses free unless said."""
    return PolitenessSettings(**{"delay_factor": 0.0, "address_delay_seconds": 0.0} | given)
