"""Which host is asked next: the decisions of a fetch task, without its threads.

Owns the states of hosts and the gates. Every instant is an argument and nothing waits, so a simulated clock can drive
it; the engine calls it with its lock held.
"""

import math
from collections import deque
from dataclasses import dataclass, field

from crawler.net.gates import Gates
from crawler.stages.fetch.hosts import Host, State


class Postponed(Exception):
    """A request that was begun may not go out any more: its host has asked for time meanwhile, or is closed now."""


@dataclass(eq=False, slots=True)
class Turn:
    """A host in the hands of a thread. is_shared: others may ask it meanwhile, see `Schedule.begin`."""

    host: Host
    is_slow: bool = False
    is_shared: bool = False


@dataclass(slots=True)
class Schedule:
    """All hosts of a task that have something to do.

    deadline: monotonic instant after which nothing is asked. slow_threads: turns that hosts of the slow lane may have
    at once. busy: hosts that are not idle. parked: those that wait for their delay to be written down, since
    `parked_since`. is_closed: nothing more is to be asked.
    """

    gates: Gates[Host]
    deadline: float
    slow_threads: int
    busy: int = 0
    parked: list[Host] = field(default_factory=list)
    parked_since: float = math.inf
    is_closed: bool = False
    _slow_turns: int = 0
    _slow_waiting: deque[Host] = field(default_factory=deque)

    def queue(self, host: Host, now: float) -> None:
        """Queue, park or set aside an idle host."""
        host.settle()
        at = host.next_turn()
        if at is None and host.is_waiting and not host.is_held:
            host.state = State.WAITING
        elif at is None or at >= self.deadline or self.is_closed or host.is_spent or host.is_held:
            if not host.pace.under_way:
                self._set_aside(host)
                return
            host.state = State.ASKED
        elif host.pace.is_unrecorded:
            # Were we killed now, the next task would ask it too soon: write its delay down first.
            host.state = State.PARKED
            self.parked.append(host)
            self.parked_since = min(self.parked_since, now)
        else:
            host.state = State.QUEUED
            self.gates.push(host, at)
        self.busy += 1

    def take(self, now: float) -> Turn | None:
        """The turn of the host that may be asked now; None if there is none yet."""
        while (host := self.gates.pop(now)) is not None:
            at = host.next_turn()
            if at is None or at > now or host.pace.is_unrecorded:  # its delay has grown while it waited
                self._idle(host)
                self.queue(host, now)
                self._let_slow(now)
            elif not host.pace.slow:
                host.state = State.HELD
                return Turn(host)
            elif self._slow_turns < self.slow_threads:
                host.state = State.HELD
                self._slow_turns += 1
                return Turn(host, is_slow=True)
            else:
                self._slow_waiting.append(host)
        return None

    def next_turn(self) -> float | None:
        """The earliest instant at which `take` can give a turn; None if it cannot before another ends."""
        return self.gates.next_turn()

    def begin(self, turn: Turn, host: Host, now: float, *, share: bool = False) -> None:
        """A request to `host`, mostly that of `turn`, follows.

        share: let another thread have the host meanwhile, if it allows several connections.
        """
        host.pace.begin(now)
        if share and host.pace.connections > 1:
            turn.is_shared = True
            self._idle(host)
            self.queue(host, now)

    def may_send(self, host: Host, address: str | None, now: float) -> float:
        """The instant before which the request that was begun may not go out to `address`; ask again then.

        Raises Postponed if it may not go out any more.
        """
        if host.open_from(now) > now:
            raise Postponed
        at = max(host.pace.may_send(now), self.gates.free(address))
        if at == math.inf:
            raise Postponed
        return at

    def sent(self, host: Host, expected: str | None, address: str | None, now: float) -> None:
        """The request goes out to `address`. expected: the address for which the host had its turn."""
        host.pace.sent(now)
        self.gates.send(address, now, had_turn=address == expected)

    def end(self, turn: Turn, now: float) -> None:
        """The turn is over, and its reply noted."""
        if turn.is_slow:
            self._slow_turns -= 1
        self._let_slow(now)
        host = turn.host
        if not turn.is_shared or host.state is State.ASKED:
            self._idle(host)
            self.queue(host, now)

    def wake(self, host: Host, now: float) -> None:
        """Look again at what an idle or waiting host has to do."""
        if host.state in (State.WAITING, State.ASKED):
            self._idle(host)
        if host.state is State.IDLE:
            self.queue(host, now)

    def unpark(self, now: float) -> None:
        """The delays of the parked hosts have been written down; those that came too late are parked again."""
        parked, self.parked, self.parked_since = self.parked, [], math.inf
        for host in parked:
            self._idle(host)
            self.queue(host, now)

    def _let_slow(self, now: float) -> None:
        """Let the next slow host try, if its lane has room: one that is let may find that it may not be asked yet."""
        if self._slow_waiting and self._slow_turns < self.slow_threads:
            self.gates.push(self._slow_waiting.popleft(), now)

    def _idle(self, host: Host) -> None:
        host.state = State.IDLE
        self.busy -= 1

    def _set_aside(self, host: Host) -> None:
        host.state = State.IDLE
        errands = list(host.errands)
        host.errands.clear()
        for errand in errands:  # their robots.txt will not come; a host that is released begins with its own again
            errand.origin.is_sought = False
            if errand.home is not host:
                errand.origin.not_before = math.inf
                if errand.home.state is State.WAITING:
                    self._idle(errand.home)
