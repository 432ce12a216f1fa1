"""When a host may be asked again.

Owns the arithmetic of delays. Everything counts from the end of a response on the monotonic clock, which is an
argument: nothing here waits or reads a clock.
"""

import heapq
import math
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime

from crawler.core.cycle import is_busy_still
from crawler.core.fetch_settings import PolitenessSettings
from crawler.core.model import HostState
from crawler.core.outcomes import Outcome
from crawler.net.reply import Reply

_SMOOTHING = 0.3  # weight of the newest response time
_MOST_PENALTY = 1024.0
_PENALTY_DECAY = 0.9  # by each good answer: about seven of them halve it
_LEAST_PENALISED_SECONDS = 0.1  # what is doubled where no delay is set at all
_LEAST_RESTART_SECONDS = 0.2
_CALENDAR_SLACK = 1.01  # what is owed across tasks is told by the calendar, which may run faster than real seconds
_RESTART_FACTOR = 2.0
_BUSY = (429, 503)
_SLOW_AFTER = 3  # times in a row without a connection or in time: the host goes to the slow lane
_QUICK_AFTER = 3  # answers in a row: it comes back
_MOST_DOUBLINGS = 20  # by failures in a row; a setting caps them long before
_NOT_ASKED = frozenset({Outcome.DNS_FAILED, Outcome.BLOCKED_ADDRESS})
_SLOW = frozenset({Outcome.CONNECT_FAILED, Outcome.TIMED_OUT})
_UNREACHED = frozenset({Outcome.CONNECT_FAILED, Outcome.TIMED_OUT, Outcome.TLS_FAILED, Outcome.PROTOCOL_ERROR})


@dataclass(slots=True)
class HostPace:
    """The delay of one host.

    floor: seconds, of the settings. allowed: monotonic instant from which the next request may go out. delay_seconds:
    what was owed after the last response. requests: sent in this task. earlier_requests: of the 24 hours before it.
    busy_at: when it last answered 429 or 503; is_busy: on this day or the day before. slow: belongs to the slow lane.
    answers: replies noted. known_seconds: `restart_seconds` as last written down. is_unrecorded: the delay that is owed
    is longer than that and is not written down.

    connections: most requests under way at once. With k > 1 a request goes out no earlier than the delay after the one
    before it, after what a busy server asked for, and while of the requests before it fewer than k are under way or
    ended less than their delay ago. under_way: those begun and not ended; with one connection nobody asks for it: 0.
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
    connections: int = 1
    busy_at: datetime | None = None
    is_busy: bool = False
    slow: bool = False
    good_streak: int = 0
    answers: int = 0
    known_seconds: float = field(init=False)
    is_unrecorded: bool = False
    under_way: int = 0
    _sent: float = -math.inf  # of the last request, or when it was begun
    _went: float = -math.inf
    _hold: float = field(init=False)
    _rests: list[float] = field(default_factory=list)  # when the delays of the last answers end; a heap

    def __post_init__(self) -> None:
        self.known_seconds = self.restart_seconds
        self._hold = self.allowed

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
        connections: int = 1,
    ) -> "HostPace":
        """The pace that a task starts with.

        is_last_unknown: the host may have been asked after `state` was written, so its whole delay is owed from now on.
        """
        pace = cls(settings, floor, monotonic, connections=connections)
        if state is not None:
            pace.delay_seconds = state.delay_seconds
            pace.response_seconds = state.response_seconds
            pace.crawl_delay_seconds = state.crawl_delay_seconds
            pace.penalty = state.penalty
            pace.error_streak = state.error_streak
            pace.earlier_requests = state.requests_last_day
            pace.slow = state.slow
            pace.busy_at = state.busy_at
            pace.is_busy = is_busy_still(state.busy_at, now)
            owed = (state.allowed_at - now).total_seconds()
            owed = min(max(owed, 0.0), state.delay_seconds)  # a calendar set back must not hold it for ever
            pace.allowed += owed * _CALENDAR_SLACK
            pace.known_seconds = pace.restart_seconds
        if is_last_unknown:
            # The server may be busy still with a request that nobody waits for any more.
            pace.allowed = max(pace.allowed, monotonic + pace.response_seconds + pace.known_seconds)
        pace._hold = pace.allowed
        return pace

    @property
    def usual_seconds(self) -> float:
        """The delay after an answer without a wish of its own."""
        adaptive = min(self.settings.delay_factor * self.response_seconds, self.settings.adaptive_cap_seconds)
        usual = max(self.floor, adaptive, self.crawl_delay_seconds or 0.0)
        if self.error_streak > 1:
            backed_off = usual * 2.0 ** min(self.error_streak - 1, _MOST_DOUBLINGS)
            usual = max(usual, min(backed_off, self.settings.adaptive_cap_seconds))
        if self.penalty <= 1:
            return usual
        return max(usual, min(usual * self.penalty, self.settings.retry_after_cap_seconds))

    def obey(self, crawl_delay: float | None) -> None:
        """Take over what the host's robots.txt asks for; None if it asks for nothing."""
        cap = self.settings.crawl_delay_cap_seconds
        self.crawl_delay_seconds = None if crawl_delay is None else min(crawl_delay, cap)

    def begin(self, now: float) -> None:
        """A request is about to be made; what follows counts it as under way."""
        if self.connections > 1:
            self.under_way += 1
            self._sent = max(self._sent, now)
            self._allow()

    def cancel(self) -> None:
        """The request that was begun will not be made."""
        if self.connections > 1:
            self.under_way -= 1
            self._allow()

    def may_send(self, now: float) -> float:
        """The instant before which a request that was begun may not go out.

        Infinity after a busy server has asked for time since `begin`: then cancel it.
        """
        if self.connections == 1:
            return -math.inf
        return math.inf if self._hold > now else self._went + self._spacing

    def sent(self, now: float) -> None:
        """A request that was begun goes out."""
        if self.connections > 1:
            self._went = now
            self._sent = max(self._sent, now)
            self._allow()

    def answered(self, reply: Reply) -> float:
        """Note the reply; returns the seconds that are owed after it."""
        if reply.outcome in _NOT_ASKED:
            self.cancel()
            return 0.0
        if reply.sent:
            self.requests += 1
        if reply.status is not None:
            weight = _SMOOTHING if self.response_seconds else 1.0
            self.response_seconds += weight * (reply.elapsed - self.response_seconds)
        self._note_reach(reply.outcome)
        wish = 0.0
        if reply.status in _BUSY:
            self.penalty = min(self.penalty * 2, _MOST_PENALTY)
            self.busy_at, self.is_busy = reply.ended_at, True
            wish = _LEAST_PENALISED_SECONDS * self.penalty
        elif reply.status is not None and reply.status < 500:
            self.penalty = max(self.penalty * _PENALTY_DECAY, 1.0)
        if reply.status is not None and reply.status >= 300:
            wish = max(wish, retry_after(reply, self.settings.retry_after_cap_seconds) or 0.0)
        return self.owe(reply.ended, wish)

    def _note_reach(self, outcome: Outcome) -> None:
        if outcome in _UNREACHED:
            self.error_streak = min(self.error_streak + 1, 60_000)
            self.good_streak = 0
            self.slow = self.slow or (outcome in _SLOW and self.error_streak >= _SLOW_AFTER)
        else:
            self.error_streak = 0
            self.good_streak += 1
            self.slow = self.slow and self.good_streak < _QUICK_AFTER

    def abandoned(self, reply: Reply) -> None:
        """Note a request that we ended ourselves: it says nothing of the host, but is owed the delay if it was sent."""
        if reply.sent:
            self.requests += 1
            self.owe(reply.ended)
        else:
            self.cancel()

    def owe(self, ended: float, wish: float = 0.0) -> float:
        """Set the next allowed instant: the usual delay, or `wish` if that is longer, after `ended`."""
        self.delay_seconds = max(self.usual_seconds, wish)
        if self.connections == 1:
            self.allowed = ended + self.delay_seconds
        else:
            self.under_way -= 1
            heapq.heappush(self._rests, ended + self.delay_seconds)
            if len(self._rests) > self.connections:
                heapq.heappop(self._rests)
            if wish:
                self._hold = max(self._hold, ended + self.delay_seconds)
            self._allow()
        self.answers += 1
        self.is_unrecorded = self.delay_seconds > self.known_seconds
        return self.delay_seconds

    @property
    def _spacing(self) -> float:
        """Between two requests of several connections; before the first answer nothing but the usual is known."""
        return max(self.delay_seconds, self.usual_seconds)

    def _allow(self) -> None:
        """Set `allowed` for a host with several connections; infinity while all are in use."""
        free = self.connections - self.under_way
        if free <= 0:
            self.allowed = math.inf
            return
        rest = heapq.nlargest(free, self._rests)[-1] if len(self._rests) >= free else -math.inf
        self.allowed = max(rest, self._sent + self._spacing, self._hold)

    def recorded(self, answers: int, restart_seconds: float) -> None:
        """The state after that many answers has been written down, with that many seconds for a restart."""
        self.known_seconds = restart_seconds
        if self.answers == answers:
            self.is_unrecorded = False

    def stretch(self) -> None:
        """Apply a delay that has grown since the last response, by a robots.txt that another host has served."""
        if not self.requests or self.usual_seconds <= self.delay_seconds:
            return
        if self.connections == 1:
            self.owe(self.allowed - self.delay_seconds)
        else:
            self.delay_seconds = self.usual_seconds
            self.is_unrecorded = self.delay_seconds > self.known_seconds
            self._allow()

    @property
    def rested(self) -> float:
        """The monotonic instant from which nothing is owed any more for what was answered."""
        if self.connections == 1:
            return self.allowed
        return max(self._hold, self._sent + self._spacing, *self._rests)

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
