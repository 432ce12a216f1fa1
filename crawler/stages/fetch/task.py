"""What one fetch task is given, and what it asks of the lake."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from crawler.core.blackout import Blackout
from crawler.core.clock import Clock
from crawler.core.columns import FoundLinks
from crawler.core.config import Settings
from crawler.core.cycle import Cycle
from crawler.core.model import HostState, RobotsAnswer, RobotsCopy, Row, Target, Want
from crawler.net.client import Client
from crawler.net.resolver import Resolver
from crawler.store.frontier import Frontier


class Ledger(Protocol):
    """What a fetch task needs of `store.ledger.FetchLedger`."""

    taken_over: bool
    shared_addresses: dict[str, int]

    @property
    def deadline(self) -> datetime: ...
    def todo(self) -> Sequence[Target]: ...
    def frontier(self) -> Frontier | None: ...
    def hosts(self) -> dict[str, HostState]: ...
    def hosts_of(self, hosts: Collection[str]) -> dict[str, HostState]: ...
    def robots(self) -> dict[str, RobotsCopy]: ...
    def robots_of(self, hosts: Collection[str]) -> dict[str, RobotsCopy]: ...
    def want(self, want: Want) -> RobotsAnswer | None: ...
    def wants(self) -> list[Want]: ...
    def held(self) -> frozenset[str]: ...
    def append(self, rows: Mapping[str, Sequence[Row]], links: Sequence[FoundLinks] = ()) -> None: ...
    def finish(
        self, rows: Mapping[str, Sequence[Row]], links: Sequence[FoundLinks] = (), *, complete: bool
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class Task:
    """What stays the same during one fetch task. deadline: monotonic instant after which nothing is sent."""

    settings: Settings
    clock: Clock
    cycle: Cycle
    buckets: int
    bucket: int
    client: Client
    resolver: Resolver
    deadline: float


def floor_of(settings: Settings, host: str) -> float:
    """The least delay of a host by the settings, in seconds."""
    own = settings.host.get(host)
    return settings.politeness.delay_seconds if own is None or own.delay_seconds is None else own.delay_seconds


def connections_of(settings: Settings, host: str) -> int:
    """How many requests may be under way at a host at once, by the settings."""
    own = settings.host.get(host)
    return 1 if own is None else own.connections


def closed_of(settings: Settings, host: str) -> Blackout:
    """The times at which a host is asked for nothing, by the settings."""
    own = settings.host.get(host)
    return Blackout() if own is None else own.closed


def most_pages_of(settings: Settings, host: str) -> int:
    """How many pages a host may be asked for in a day, by the settings."""
    own = settings.host.get(host)
    return settings.plan.max_urls_per_host if own is None or own.max_urls is None else own.max_urls
