"""What one fetch task knows of a host: its origins, their robots.txt, and what is still to be asked for there.

Owns the choice of what a host is asked next. Holds state, does no I/O; one thread at a time chooses for a host, and
`state`, `errands`, `arrivals` and what the answers of several connections change is guarded by the engine's lock.
"""

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum

from crawler.core.blackout import Blackout
from crawler.core.keys import host_key
from crawler.core.model import RobotsCopy, Target, Want
from crawler.core.outcomes import Outcome
from crawler.net import robots
from crawler.net.politeness import HostPace
from crawler.net.robots import Rules
from crawler.stages.fetch.queue import TargetQueue
from crawler.stages.fetch.sections import Sections
from crawler.stages.fetch.trust import Trust

COPY_SECONDS = 86_400.0  # how long the last good robots.txt serves while its origin cannot be read (RFC 9309 2.4)


class State(Enum):
    """Where a host is. All but `IDLE` mean that it has something to do."""

    IDLE = "nothing to do, or nothing more that may be done"
    QUEUED = "at the gates"
    HELD = "in the hands of a thread"
    ASKED = "nothing more can be sent before requests that are under way have ended"
    PARKED = "until its delay has been written down"
    WAITING = "for a robots.txt that another host is being asked for"


@dataclass(slots=True)
class Origin:
    """A scheme, host and port: what one robots.txt is for.

    verdict: rules, allow or disallow; None while it is not known. denial: the outcome that disallow means;
    reason: the words for it. copy: the newest decision of earlier, with the last good body. asked_at: when it was last
    asked for; unreachable_since: since when without an answer. not_before: monotonic instant before which robots.txt is
    not asked for again. is_sought: a request for it is under way. elsewhere: the answer of another bucket's owner that
    it waits for, looked for `looks` times.
    """

    url: str
    verdict: str | None = None
    valid_until: datetime | None = None
    denial: Outcome = Outcome.ROBOTS_UNREACHABLE
    reason: str | None = None
    rules: Rules | None = None
    digest: bytes | None = None
    copy: RobotsCopy | None = None
    asked_at: datetime | None = None
    unreachable_since: datetime | None = None
    tries: int = 0
    not_before: float = -math.inf
    is_sought: bool = False
    elsewhere: Want | None = None
    looks: int = 0
    targets: deque[Target] | Sections | TargetQueue = field(default_factory=deque)

    def is_known(self, now: datetime) -> bool:
        """Whether the verdict may be used at `now`."""
        return self.verdict is not None and self.valid_until is not None and now < self.valid_until

    def load(self, copy: RobotsCopy, product_token: str, now: datetime) -> None:
        """Take over what an earlier task decided."""
        self.copy, self.asked_at, self.unreachable_since = copy, copy.fetched_at, copy.unreachable_since
        if now >= copy.valid_until:
            return
        if copy.verdict == robots.RULES and copy.body is not None:
            self.use_copy(product_token, copy.valid_until)
        elif copy.verdict in (robots.ALLOW, robots.DISALLOW):
            self.decide(copy.verdict, copy.valid_until)
            if copy.verdict == robots.DISALLOW:
                self.reason = f"robots.txt could not be read at {copy.fetched_at:%Y-%m-%d %H:%M} UTC"

    def take_over(self, answer: RobotsCopy, product_token: str) -> None:
        """Decide by an answer that a server has given."""
        self.copy, self.asked_at, self.unreachable_since = answer, answer.fetched_at, None
        self.is_sought, self.elsewhere = False, None
        if answer.body is not None:
            self.use_copy(product_token, answer.valid_until)
        else:
            self.decide(answer.verdict, answer.valid_until)

    def decide(
        self, verdict: str, valid_until: datetime, *, rules: Rules | None = None, digest: bytes | None = None
    ) -> None:
        """Set the verdict; the next failure of robots.txt is a first one again."""
        self.verdict, self.valid_until, self.rules, self.digest = verdict, valid_until, rules, digest
        self.denial, self.reason = Outcome.ROBOTS_UNREACHABLE, None
        self.tries = 0

    def copy_serves_until(self, stretch_days: float = 0) -> datetime | None:
        """Until when the last good body may be used although robots.txt cannot be read; None without a body."""
        if self.copy is None or self.copy.body is None or self.copy.body_fetched_at is None:
            return None
        return self.copy.body_fetched_at + timedelta(days=stretch_days, seconds=COPY_SECONDS)

    def use_copy(self, product_token: str, until: datetime) -> None:
        """Decide by the last good body."""
        if self.copy is None or self.copy.body is None:
            raise ValueError(f"{self.url} has no robots.txt to use")
        rules = robots.parse(self.copy.body, product_token, robots_url=f"{self.url}/robots.txt")
        self.decide(robots.RULES, until, rules=rules, digest=self.copy.body_digest)

    @property
    def delay_seconds(self) -> float | None:
        return self.rules.delay_seconds if self.rules else None


@dataclass(eq=False, slots=True)
class Errand:
    """A request for the robots.txt of `origin`, a server of `home`, at `url` after `hop` redirects.

    is_for_others: the origin is of another bucket, and nothing here depends on it.
    """

    origin: Origin
    home: "Host"
    url: str
    hop: int = 0
    is_for_others: bool = False


@dataclass(eq=False, slots=True)
class Host:
    """A host and all that is planned there.

    address: where it was last found. most_pages: that a day allows. window_seconds: the cycle's window. pages: those
    asked for in this task. sections: shares of its turns by path prefix. is_held: an operator wants it left alone, so
    what is planned there stays open. closed: times of the day at which it is not asked; calendar_ahead: seconds since
    1970 when the monotonic clock showed 0, which tells them. arrivals: targets found on the way, see `settle`.
    """

    name: str
    pace: HostPace
    address: str | None = None
    most_pages: float = math.inf
    window_seconds: float = math.inf
    pages: int = 0
    sections: Mapping[str, int] = field(default_factory=dict)
    is_held: bool = False
    closed: Blackout = field(default_factory=Blackout)
    calendar_ahead: float = 0.0
    trust: Trust = field(default_factory=Trust)
    key: int = field(init=False)
    origins: dict[str, Origin] = field(default_factory=dict)
    errands: deque[Errand] = field(default_factory=deque)
    arrivals: deque[Target] = field(default_factory=deque)
    state: State = State.IDLE

    def __post_init__(self) -> None:
        self.key = host_key(self.name)

    def plan(self, plan: Sequence[Target], places: Mapping[str, Sequence[int]]) -> None:
        """Take over the targets of this host. places: by origin, where they stand in `plan`, best first."""
        for url, those in places.items():
            origin = self.origins[url] = Origin(url, targets=TargetQueue(plan, those))
            if self.sections:
                origin.targets = Sections(self.sections)
                for place in those:
                    origin.targets.append(plan[place])

    def settle(self) -> None:
        """Take over the targets that have arrived. Not while a thread may choose for the host without the lock."""
        while self.arrivals:
            target = self.arrivals.popleft()
            self.origin(origin_of(target.url)).targets.append(target)

    def origin(self, url: str) -> Origin:
        """The origin of that URL, made if it is not there."""
        if url not in self.origins:
            self.origins[url] = Origin(url, targets=Sections(self.sections) if self.sections else deque())
        return self.origins[url]

    def next_origin(self, monotonic: float) -> Origin | None:
        """The origin with the best target among those that can be asked now."""
        ready = [
            origin
            for origin in self.origins.values()
            if origin.targets and not origin.is_sought and origin.not_before <= monotonic
        ]
        return max(ready, key=lambda origin: (origin.targets[0].priority, -origin.targets[0].url_key), default=None)

    def next_turn(self) -> float | None:
        """The monotonic instant of the next request, as far as this host decides it; None if it has none to send."""
        if self.errands:
            return self.open_from(self.pace.allowed)
        waits = [o.not_before for o in self.origins.values() if o.targets and not o.is_sought]
        return self.open_from(max(self.pace.allowed, min(waits))) if waits else None

    def open_from(self, monotonic: float) -> float:
        """The first instant from `monotonic` on at which an operator lets the host be asked."""
        if not self.closed or math.isinf(monotonic):
            return monotonic
        wait = self.closed.open_from(monotonic + self.calendar_ahead) - monotonic - self.calendar_ahead
        return monotonic + wait if wait > 0 else monotonic

    @property
    def left(self) -> int:
        """Requests that are still to be made here, as far as it is known."""
        return len(self.errands) + len(self.arrivals) + sum(len(origin.targets) for origin in self.origins.values())

    @property
    def claimed(self) -> int:
        """Pages of the last 24 hours and those still to be asked for."""
        return self.pages + self.pace.earlier_requests + self.pace.under_way + self.left

    @property
    def needs_seconds(self) -> float:
        """The time that these take at the host's own pace."""
        return self.left * (self.pace.usual_seconds + self.pace.response_seconds)

    @property
    def is_waiting(self) -> bool:
        """Whether targets wait for a robots.txt that is being asked for."""
        return any(origin.is_sought and origin.targets for origin in self.origins.values())

    @property
    def is_spent(self) -> bool:
        """Whether the host has had all that a day allows it: pages by the plan's cap, requests by its delay.

        Counts the last 24 hours, whatever cycle they were for, but one robots.txt of each origin is no page. A host
        that was too busy yesterday or today gets half.
        """
        share = 0.5 if self.pace.is_busy else 1.0
        delay = self.pace.usual_seconds
        most_requests = self.window_seconds // delay if delay > 0 else math.inf
        earlier = self.pace.earlier_requests + self.pace.under_way
        return self.pages + earlier >= self.most_pages * share or self.pace.requests + earlier >= most_requests * share

    def obey_robots(self) -> None:
        """Let the pace follow the slowest Crawl-delay of the host's origins."""
        asked = [origin.delay_seconds for origin in self.origins.values()]
        self.pace.obey(max((delay for delay in asked if delay is not None), default=None))


def origin_of(url: str) -> str:
    """`scheme://host[:port]` of a canonical URL."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0].partition('?')[0]}"


def host_of(origin: str) -> str:
    """The host of an origin."""
    host, colon, port = origin.partition("://")[2].rpartition(":")
    return host if colon and port.isdigit() else f"{host}{colon}{port}"
