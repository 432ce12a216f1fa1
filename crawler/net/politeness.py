"""When a host may be asked again.

Owns the arithmetic of delays (HostPace) and the order in which hosts get their turn (Gates). Everything counts from
the end of a response on the monotonic clock, which is an argument: nothing here waits or reads a clock.
"""

import heapq
import math
from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from ipaddress import ip_address, ip_network
from typing import Generic, Protocol, TypeVar

from crawler.core.fetch_settings import PolitenessSettings
from crawler.core.model import HostState
from crawler.core.outcomes import Outcome
from crawler.net.reply import Reply

_SMOOTHING = 0.3  # weight of the newest response time
_MOST_PENALTY = 1024.0
_PENALTY_DECAY = 0.9  # by each good answer: about seven of them halve it
_LEAST_PENALISED_SECONDS = 0.1  # what is doubled where no delay is set at all
_LEAST_RESTART_SECONDS = 0.2
_RESTART_FACTOR = 2.0
_BUSY = (429, 503)
_NOT_ASKED = frozenset({Outcome.DNS_FAILED, Outcome.BLOCKED_ADDRESS})
_UNREACHED = frozenset({Outcome.CONNECT_FAILED, Outcome.TIMED_OUT, Outcome.TLS_FAILED, Outcome.PROTOCOL_ERROR})


@dataclass(slots=True)
class HostPace:
    """The delay of one host.

    floor: seconds, of the settings. allowed: monotonic instant from which the next request may go out. delay_seconds:
    what was owed after the last response. requests: sent in this task. earlier_requests: of the 24 hours before it.
    answers: replies noted. known_seconds: `restart_seconds` as last written down. is_unrecorded: the delay that is owed
    is longer than that and is not written down.
    """

    settings: PolitenessSettings
    floor: float
    allowed: float
    delay_seconds: float = 0.0
    response_seconds: float = 0.0
    crawl_delay_seconds: float | None = None
    penalty: float = 1.0
    error_streak: int = 0
    requests: int = 0
    earlier_requests: int = 0
    answers: int = 0
    known_seconds: float = field(init=False)
    is_unrecorded: bool = False

    def __post_init__(self) -> None:
        self.known_seconds = self.restart_seconds

    @classmethod
    def resume(
        cls,
        settings: PolitenessSettings,
        floor: float,
        state: HostState | None,
        *,
        now: datetime,
        monotonic: float,
        is_last_unknown: bool,
    ) -> "HostPace":
        """The pace that a task starts with.

        is_last_unknown: the host may have been asked after `state` was written, so its whole delay is owed from now on.
        """
        pace = cls(settings, floor, monotonic)
        if state is not None:
            pace.delay_seconds = state.delay_seconds
            pace.response_seconds = state.response_seconds
            pace.crawl_delay_seconds = state.crawl_delay_seconds
            pace.penalty = state.penalty
            pace.error_streak = state.error_streak
            pace.earlier_requests = state.requests_last_day
            owed = (state.allowed_at - now).total_seconds()
            pace.allowed += min(max(owed, 0.0), state.delay_seconds)  # a calendar set back must not hold it for ever
            pace.known_seconds = pace.restart_seconds
        if is_last_unknown:
            # The server may be busy still with a request that nobody waits for any more.
            pace.allowed = max(pace.allowed, monotonic + pace.response_seconds + pace.known_seconds)
        return pace

    @property
    def usual_seconds(self) -> float:
        """The delay after an answer without a wish of its own."""
        adaptive = min(self.settings.delay_factor * self.response_seconds, self.settings.adaptive_cap_seconds)
        usual = max(self.floor, adaptive, self.crawl_delay_seconds or 0.0)
        if self.penalty <= 1:
            return usual
        return max(usual, min(usual * self.penalty, self.settings.retry_after_cap_seconds))

    def obey(self, crawl_delay: float | None) -> None:
        """Take over what the host's robots.txt asks for; None if it asks for nothing."""
        cap = self.settings.crawl_delay_cap_seconds
        self.crawl_delay_seconds = None if crawl_delay is None else min(crawl_delay, cap)

    def answered(self, reply: Reply) -> float:
        """Note the reply; returns the seconds that are owed after it."""
        if reply.outcome in _NOT_ASKED:
            return 0.0
        if reply.sent:
            self.requests += 1
        if reply.status is not None:
            weight = _SMOOTHING if self.response_seconds else 1.0
            self.response_seconds += weight * (reply.elapsed - self.response_seconds)
        self.error_streak = min(self.error_streak + 1, 60_000) if reply.outcome in _UNREACHED else 0
        wish = 0.0
        if reply.status in _BUSY:
            self.penalty = min(self.penalty * 2, _MOST_PENALTY)
            wish = _LEAST_PENALISED_SECONDS * self.penalty
        elif reply.status is not None and reply.status < 500:
            self.penalty = max(self.penalty * _PENALTY_DECAY, 1.0)
        if reply.status is not None and reply.status >= 300:
            wish = max(wish, retry_after(reply, self.settings.retry_after_cap_seconds) or 0.0)
        return self.owe(reply.ended, wish)

    def abandoned(self, reply: Reply) -> None:
        """Note a request that we ended ourselves: it says nothing about the host, but is owed the delay if it was sent."""
        if reply.sent:
            self.requests += 1
            self.owe(reply.ended)

    def owe(self, ended: float, wish: float = 0.0) -> float:
        """Set the next allowed instant: the usual delay, or `wish` if that is longer, after `ended`."""
        self.delay_seconds = max(self.usual_seconds, wish)
        self.allowed = ended + self.delay_seconds
        self.answers += 1
        self.is_unrecorded = self.delay_seconds > self.known_seconds
        return self.delay_seconds

    def recorded(self, answers: int, restart_seconds: float) -> None:
        """The state after that many answers has been written down, with that many seconds for a restart."""
        self.known_seconds = restart_seconds
        if self.answers == answers:
            self.is_unrecorded = False

    def stretch(self) -> None:
        """Apply a delay that has grown since the last response, by a robots.txt that another host has served."""
        if self.requests and self.usual_seconds > self.delay_seconds:
            self.owe(self.allowed - self.delay_seconds)

    @property
    def restart_seconds(self) -> float:
        """What a task waits at its start that finds the present state recorded, but not what came after it."""
        return max(_LEAST_RESTART_SECONDS, _RESTART_FACTOR * self.usual_seconds)


def retry_after(reply: Reply, cap: float) -> float | None:
    """The seconds of a Retry-After header (RFC 9110 10.2.3), at most `cap`; None without a usable one."""
    text = (reply.header("retry-after") or "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:20]), cap)
    instant = _http_date(text)
    if instant is None:
        return None
    # Against the server's own clock, so that a wrong one does not matter.
    seconds = (instant - (_http_date(reply.header("date") or "") or reply.ended_at)).total_seconds()
    return min(seconds, cap) if seconds > 0 else None


def _http_date(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return found if found.tzinfo is not None else None


class Gated(Protocol):
    """What waits at the gates: `address` is None until it is known."""

    address: str | None


Host = TypeVar("Host", bound=Gated)


class _AddressGate(Generic[Host]):
    def __init__(self, interval: float, opens: float) -> None:
        self.interval = interval
        self.opens = opens
        self.waiting: deque[Host] = deque()


class Gates(Generic[Host]):
    """Hosts by the instant of their next turn, and one more gate for each address that several of them share.

    interval: seconds between two requests to an address; shares: factor on it, by address; exempt: networks without
    an interval. opens: monotonic instant before which no address is asked.
    """

    def __init__(
        self, interval: float, shares: Mapping[str, int], exempt: Collection[str], *, opens: float = -math.inf
    ) -> None:
        self._interval = interval
        self._shares = shares
        self._exempt = tuple(ip_network(network) for network in exempt)
        self._opens = opens
        self._addresses: dict[str, _AddressGate[Host] | None] = {}
        self._heap: list[tuple[float, int, Host | _AddressGate[Host]]] = []
        self._pushed = 0

    @property
    def has_address_gates(self) -> bool:
        """Whether a host's address must be known before its turn."""
        return self._interval > 0

    def push(self, host: Host, at: float) -> None:
        """Let `host` have a turn at the monotonic instant `at` or later."""
        self._push(at, host)

    def pop(self, now: float) -> Host | None:
        """The host whose turn it is, which then is held by the caller until it is pushed again."""
        while self._heap and self._heap[0][0] <= now:
            _, _, entry = heapq.heappop(self._heap)
            if isinstance(entry, _AddressGate):
                host = entry.waiting.popleft()
                entry.opens = now + entry.interval
                if entry.waiting:
                    self._push(entry.opens, entry)
                return host
            gate = self._gate(entry.address)
            if gate is None:
                return entry
            if gate.opens <= now and not gate.waiting:
                gate.opens = now + gate.interval
                return entry
            gate.waiting.append(entry)
            if len(gate.waiting) == 1:
                self._push(gate.opens, gate)
        return None

    def next_turn(self) -> float | None:
        """The earliest instant at which `pop` can give a host; None if none waits."""
        return self._heap[0][0] if self._heap else None

    def _push(self, at: float, entry: Host | _AddressGate[Host]) -> None:
        self._pushed += 1
        heapq.heappush(self._heap, (at, self._pushed, entry))

    def _gate(self, address: str | None) -> _AddressGate[Host] | None:
        if address is None or self._interval <= 0:
            return None
        if address not in self._addresses:
            parsed = ip_address(address)
            is_exempt = any(parsed in network for network in self._exempt if network.version == parsed.version)
            interval = self._interval * max(self._shares.get(address, 1), 1)
            self._addresses[address] = None if is_exempt else _AddressGate(interval, self._opens)
        return self._addresses[address]
