"""Whose turn it is: hosts by the instant of their next one, behind a second gate for each address that they share.

Owns the order, and the interval of an address. Instants are monotonic and arguments: nothing here waits or reads a
clock.
"""

import heapq
import math
from collections.abc import Collection, Mapping
from ipaddress import ip_address, ip_network
from typing import Generic, NamedTuple, Protocol, TypeVar


class Gated(Protocol):
    """What waits at the gates. address: None until it is known."""

    address: str | None

    @property
    def left(self) -> int:
        """Requests that it still needs."""

    @property
    def needs_seconds(self) -> float:
        """The time that these take at its own pace."""


Host = TypeVar("Host", bound=Gated)


class Terms(NamedTuple):
    """What holds at an address: requests in any minute are at most 60 / delay_seconds + buckets; 0 is no limit."""

    delay_seconds: float
    buckets: int


FREE = Terms(0.0, 1)
_NEARLY = 0.9


class _AddressGate(Generic[Host]):
    """Hosts at one address. opens: instant of the next turn; free: instant before which no request goes out.

    In the order of their coming, but one that at its own pace needs nearly as long as the address needs for all of them
    goes first: else it alone would be left at the end. Where the address is the limit there is no such host, and each
    has its turn.
    """

    def __init__(self, terms: Terms, opens: float) -> None:
        self.terms = terms
        self.interval = terms.delay_seconds * terms.buckets
        self.opens = self.free = opens + self.interval
        self._waiting: dict[Host, None] = {}  # in the order of their coming
        self._longest: list[tuple[float, int, Host]] = []  # a heap of the same; may hold hosts that have gone
        self._left: dict[Host, int] = {}
        self._all_left = 0
        self._joined = 0

    def note(self, host: Host) -> None:
        """Count what `host` has left."""
        left = host.left
        self._all_left += left - self._left.get(host, 0)
        self._left[host] = left

    def join(self, host: Host) -> None:
        """Let `host` wait."""
        if len(self._longest) > 2 * len(self._waiting) + 16:
            self._longest = [entry for entry in self._longest if entry[2] in self._waiting]
            heapq.heapify(self._longest)
        self._joined += 1
        self._waiting[host] = None
        heapq.heappush(self._longest, (-host.needs_seconds, self._joined, host))

    def next(self) -> Host:
        """Take the host whose turn it is."""
        while self._longest[0][2] not in self._waiting:
            heapq.heappop(self._longest)
        needs, _, host = self._longest[0]
        if -needs < _NEARLY * self._all_left * self.interval:
            host = next(iter(self._waiting))
        del self._waiting[host]
        return host

    def __len__(self) -> int:
        return len(self._waiting)


class Gates(Generic[Host]):
    """Hosts by the instant of their next turn, and one more gate for each address that several of them share.

    delay: seconds between two requests to an address; shares: buckets that have hosts there, each of which takes that
    many times the delay, by address; exempt: networks without an interval. started: monotonic instant of the task; it
    knows nothing of the last requests of the task before it, so no address is asked within its interval from then on.
    """

    def __init__(self, delay: float, shares: Mapping[str, int], exempt: Collection[str], *, started: float) -> None:
        self._delay = delay
        self._shares = shares
        self._exempt = tuple(ip_network(network) for network in exempt)
        self._started = started
        self._addresses: dict[str, _AddressGate[Host] | None] = {}
        self._heap: list[tuple[float, int, Host | _AddressGate[Host]]] = []
        self._pushed = 0

    def push(self, host: Host, at: float) -> None:
        """Let `host` have a turn at the monotonic instant `at` or later."""
        self._push(at, host)

    def pop(self, now: float) -> Host | None:
        """The host whose turn it is, which then is held by the caller until it is pushed again."""
        while self._heap and self._heap[0][0] <= now:
            _, _, entry = heapq.heappop(self._heap)
            if isinstance(entry, _AddressGate):
                if entry.opens > now:
                    self._push(entry.opens, entry)
                    continue
                host = entry.next()
                entry.opens = now + entry.interval
                if entry:
                    self._push(entry.opens, entry)
                return host
            gate = self._gate(entry.address)
            if gate is None:
                return entry
            gate.note(entry)
            if gate.opens <= now and not gate:
                gate.opens = now + gate.interval
                return entry
            gate.join(entry)
            if len(gate) == 1:
                self._push(gate.opens, gate)
        return None

    def next_turn(self) -> float | None:
        """The earliest instant at which `pop` can give a host; None if none waits."""
        return self._heap[0][0] if self._heap else None

    @property
    def has_intervals(self) -> bool:
        """Whether `free` and `send` are needed, and a host's address before its turn."""
        return self._delay > 0

    def free(self, address: str | None) -> float:
        """The instant before which no request may go to `address`."""
        gate = self._gate(address)
        return -math.inf if gate is None else gate.free

    def send(self, address: str | None, at: float, *, had_turn: bool) -> None:
        """Note that a request goes to `address` at the instant `at`, which is not before `free`.

        A turn comes before its request by as long as a connection takes, which is not always the same. had_turn:
        whether `pop` has counted it; else it was not known that the host is at this address.
        """
        gate = self._gate(address)
        if gate is not None:
            gate.free = at + gate.interval
            if not had_turn:
                gate.opens = max(gate.opens, at) + gate.interval

    def terms(self, address: str | None) -> Terms:
        """What holds at `address`."""
        gate = self._gate(address)
        return FREE if gate is None else gate.terms

    def _push(self, at: float, entry: Host | _AddressGate[Host]) -> None:
        self._pushed += 1
        heapq.heappush(self._heap, (at, self._pushed, entry))

    def _gate(self, address: str | None) -> _AddressGate[Host] | None:
        if address is None or self._delay <= 0:
            return None
        if address not in self._addresses:
            parsed = ip_address(address)
            is_exempt = any(parsed in network for network in self._exempt if network.version == parsed.version)
            terms = Terms(self._delay, max(self._shares.get(address, 1), 1))
            self._addresses[address] = None if is_exempt else _AddressGate(terms, self._started)
        return self._addresses[address]
