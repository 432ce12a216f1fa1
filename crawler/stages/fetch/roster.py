"""The hosts of one fetch task: made of the plan and of what the lake knows of their pace, or met on the way.

Owns which of them an operator holds, and which stand behind a proxy that does not serve us. Reads the ledger; starts
nothing. Once the task runs, its caller holds the engine's lock.
"""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import TypeAlias

from crawler.core.errors import ProxyFailed
from crawler.core.model import HostState, RobotsCopy, Row, Target
from crawler.net.politeness import HostPace
from crawler.stages.fetch.hosts import Host, host_of, origin_of
from crawler.stages.fetch.task import Ledger, Task, closed_of, connections_of, floor_of, most_pages_of
from crawler.stages.fetch.trust import Trust

Known: TypeAlias = tuple[Mapping[str, HostState], Mapping[str, RobotsCopy]]
"""What the lake knows: by host its pace, by origin its robots.txt."""


class Roster:
    """All hosts that a task knows, by name. proxy_failure: the first of a proxy that does not serve us."""

    def __init__(self, ledger: Ledger, task: Task) -> None:
        self.proxy_failure: ProxyFailed | None = None
        self._ledger = ledger
        self._task = task
        self._hosts: dict[str, Host] = {}
        self._held: frozenset[str] = frozenset()
        self._barred: set[str] = set()  # proxies that do not serve us

    def __iter__(self) -> Iterator[Host]:
        return iter(self._hosts.values())

    def plan(self, targets: Sequence[Target]) -> None:
        """Take over what is planned, with what the lake knows of its hosts and their robots.txt."""
        states, copies = self._ledger.hosts(), self._ledger.robots()
        settings, now = self._task.settings, self._task.clock.now()
        by_host: dict[str, dict[str, array[int]]] = {}
        for place, target in enumerate(targets):
            by_host.setdefault(target.host, {}).setdefault(origin_of(target.url), array("I")).append(place)
        for name, places in by_host.items():
            state = states.get(name)
            host = self._add(name, state, is_last_unknown=self._ledger.taken_over)
            host.most_pages = most_pages_of(settings, name)
            host.plan(targets, places)
            for url in places.keys() & copies.keys():
                host.origins[url].load(copies[url], settings.crawl.product_token, now)
            if all(origin.is_known(now) for origin in host.origins.values()):
                host.obey_robots()  # else the recorded Crawl-delay holds until robots.txt has been read

    def host(self, name: str, known: Mapping[str, HostState] | None = None) -> Host:
        """The host of that name; of one without a plan, what the lake knows of its pace.

        known: what the lake knows, if the caller has asked for many hosts at once.
        """
        found = self._hosts.get(name)
        if found is None:
            state = (self._ledger.hosts_of([name]) if known is None else known).get(name)
            found = self._add(name, state, is_last_unknown=state is None or self._ledger.taken_over)
            found.is_held = name in self._held or self._is_barred(name)
        return found

    def room_of(self, name: str) -> float:
        """How many more pages than those that it has to do a host may be asked for."""
        found = self._hosts.get(name)
        if found is None:
            return 0 if name in self._held or self._is_barred(name) else most_pages_of(self._task.settings, name)
        return 0 if found.is_held else min(found.most_pages, most_pages_of(self._task.settings, name)) - found.claimed

    def know(self, targets: Iterable[Target]) -> Known:
        """What the lake knows of the hosts of `targets` that are met for the first time. Needs no lock."""
        names = {target.host for target in targets if target.host not in self._hosts}
        return (self._ledger.hosts_of(names), self._ledger.robots_of(names)) if names else ({}, {})

    def meet(self, target: Target, known: Known) -> Host:
        """The host of a target that was found on the way, which then has it to do. known: by `know`."""
        states, copies = known
        is_new = target.host not in self._hosts
        host = self.host(target.host, states)
        host.most_pages = most_pages_of(self._task.settings, host.name)
        if is_new:
            token, now = self._task.settings.crawl.product_token, self._task.clock.now()
            for url, copy in copies.items():
                if host_of(url) == host.name:
                    host.origin(url).load(copy, token, now)
            host.obey_robots()
        host.arrivals.append(target)
        return host

    def obey_holds(self, held: frozenset[str]) -> list[Host]:
        """Leave alone the hosts that are held now; returns those that no longer are."""
        self._held = held
        released = []
        for host in self:
            was_held, host.is_held = host.is_held, host.name in held or self._is_barred(host.name)
            if was_held and not host.is_held:
                released.append(host)
        return released

    def bar(self, failure: ProxyFailed) -> None:
        """Leave alone the hosts behind a proxy that does not serve us; once the others are done the task fails."""
        self.proxy_failure = self.proxy_failure or failure
        self._barred.add(str(failure.args[0]))
        for host in self:
            host.is_held |= self._is_barred(host.name)

    def state_row(self, host: Host) -> Row:
        """The row of table host_state that says how the host may be asked from now on."""
        clock, pace = self._task.clock, host.pace
        owed = timedelta(seconds=pace.rested - clock.monotonic())
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
            "busy_at": pace.busy_at,
            "slow": pace.slow,
            "validator_audits": host.trust.audits,
            "validator_lies": host.trust.lies,
        }

    def _add(self, name: str, state: HostState | None, *, is_last_unknown: bool) -> Host:
        settings, clock = self._task.settings, self._task.clock
        now, monotonic = clock.now(), clock.monotonic()
        pace = HostPace.resume(
            settings.politeness,
            floor_of(settings, name),
            state,
            now=now,
            monotonic=monotonic,
            is_last_unknown=is_last_unknown,
            connections=connections_of(settings, name),
        )
        host = self._hosts[name] = Host(
            name,
            pace,
            address=state.address if state and not self._task.client.proxy_of(name) else None,
            window_seconds=settings.fetch.window_hours * 3600,
            sections=settings.host[name].prefixes if name in settings.host else {},
            closed=closed_of(settings, name),
            calendar_ahead=now.timestamp() - monotonic,
            trust=Trust(state.validator_audits, state.validator_lies) if state else Trust(),
        )
        return host

    def _is_barred(self, name: str) -> bool:
        return bool(self._barred) and self._task.client.proxy_of(name) in self._barred
