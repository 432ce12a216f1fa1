"""What a thread does with the host that it holds: at most one request, robots.txt before any page.

Reads the web through the client; hands rows to the engine. Decides nothing about when.
"""

from collections.abc import Sequence
from contextlib import nullcontext

from crawler.core.columns import FoundLinks, LinkColumns
from crawler.core.errors import ProxyFailed
from crawler.core.model import Target
from crawler.core.outcomes import Outcome
from crawler.net import robots
from crawler.net.resolver import BlockedAddress, DnsFailed
from crawler.page.reading import Reading
from crawler.stages.fetch import rows
from crawler.stages.fetch.engine import Engine
from crawler.stages.fetch.errands import Errands
from crawler.stages.fetch.hosts import Errand, Host, Origin
from crawler.stages.fetch.parsing import open_parser
from crawler.stages.fetch.schedule import Postponed
from crawler.stages.fetch.task import Task
from crawler.stages.fetch.trust import is_audit, is_lie


class Turns:
    """The turns of one fetch task. parser: reads what they bring; its owner closes it."""

    def __init__(self, task: Task, engine: Engine, errands: Errands, *, needs_address: bool) -> None:
        self._task = task
        self._engine = engine
        self._errands = errands
        self._needs_address = needs_address
        self._url_rules = task.settings.url_rules
        self.parser = open_parser(task.settings, self._record, engine.fail)

    def take(self, host: Host) -> None:
        """Ask `host` for the next thing that it has to do."""
        if host.is_held:
            return
        if self._needs_address and host.address is None and self._find_address(host):
            return  # its turn comes again, at its address's gate
        if host.is_spent:
            return
        with self._engine.lock:
            errand = host.errands.popleft() if host.errands else None
        may_ask = errand is None
        if errand is not None:
            self._errands.run(host, errand)
        chosen = self._choose(host, may_ask=may_ask)
        if chosen is None:
            return
        origin, target = chosen
        if target is not None:
            self._fetch(host, origin, target)
        elif origin.elsewhere is not None:
            self._errands.look(host, origin)
        else:
            self._errands.run(host, Errand(origin, host, f"{origin.url}/robots.txt"))
        self._choose(host, may_ask=False)

    def _choose(self, host: Host, *, may_ask: bool) -> tuple[Origin, Target | None] | None:
        """Write down what needs no request; the origin and target to ask for next, no target for its robots.txt."""
        clock = self._task.clock
        with self._engine.lock if host.pace.connections > 1 else nullcontext():  # others may note replies meanwhile
            while (origin := host.next_origin(clock.monotonic())) is not None:
                now = clock.now()
                is_known = origin.is_known(now)
                denial = _denial(origin, origin.targets[0]) if is_known else None
                if denial is not None:  # costs no request
                    row = rows.unasked(origin.targets.popleft(), denial, now, self._task.cycle, origin)
                    with self._engine.lock:
                        self._engine.commit({"observation": [row]})
                    continue
                if not may_ask:
                    return None
                if is_known:
                    return origin, origin.targets.popleft()
                origin.is_sought = True
                return origin, None
        return None

    def _find_address(self, host: Host) -> bool:
        if self._task.client.proxy_of(host.name):
            return False  # the proxy looks it up
        settings = self._task.settings.fetch
        try:
            host.address = self._task.resolver.resolve(host.name, 80, settings.total_seconds)[0]
        except (DnsFailed, BlockedAddress):
            return False  # the request will say so
        return True

    def _fetch(self, host: Host, origin: Origin, target: Target) -> None:
        headers = rows.validators(target)
        is_audited = bool(headers) and self._is_audited(host, target)
        if is_audited:
            headers = {}
        before_send = self._engine.begin(host, share=True)
        try:
            reply = self._task.client.get(
                target.fetch_url,
                headers,
                any_type=target.is_sitemap,
                max_body_bytes=self._task.settings.sitemaps.max_body_bytes if target.is_sitemap else None,
                before_send=before_send,
            )
        except (Postponed, ProxyFailed) as reason:
            with self._engine.lock:
                self._engine.cancel(host, reason)
                origin.targets.appendleft(target)
            return
        found = rows.visit(
            target,
            reply,
            self._task.cycle,
            self._task.settings,
            url_rules=self._url_rules,
            conditional=bool(headers),
            robots_digest=origin.digest,
        )
        found.observation["audit"] = is_audited
        discovery = self._engine.discovery
        aims = discovery.follow_redirect(found, self._engine.room_of) if discovery and found.links else []
        known = self._engine.roster.know(aims)
        with self._engine.lock:
            host.pages += 1
            found.observation |= self._engine.answered(host, reply)
            rows_now = {} if found.job else {"observation": [found.observation], "link": found.links}
            self._engine.commit(rows_now, host)  # the host's pace is written down without waiting for the parser
            self._engine.discover(aims, known)
            self._engine.await_links(1 if found.job else 0)
        if found.job:
            self.parser.submit(found, found.job)

    def _record(self, readings: Sequence[tuple[rows.Visit, Reading]], links: LinkColumns) -> None:
        """Write down pages that have been read, with their links, in one piece."""
        for found, reading in readings:
            rows.complete(found, reading, self._task.settings)
        discovery = self._engine.discovery
        aims = discovery.follow(readings, links, self._engine.room_of) if discovery else []
        known = self._engine.roster.know(aims)
        with self._engine.lock:
            for found, _ in readings:
                captures = [found.capture] if found.capture else []
                self._engine.commit({"observation": [found.observation], "capture": captures}, self._audited(found))
            self._engine.commit_links(FoundLinks([rows.link_source(found) for found, _ in readings], links))
            self._engine.discover(aims, known)
            self._engine.await_links(-len(readings))

    def _is_audited(self, host: Host, target: Target) -> bool:
        share = self._task.settings.fetch.audit_share
        return share > 0 and (not host.trust.is_trusted or is_audit(target, self._task.cycle, share))

    def _audited(self, found: rows.Visit) -> Host | None:
        """Note what an audit has shown; the host if it is trusted more or less now. Call with the lock held."""
        verdict = is_lie(found.target, found.observation) if found.observation["audit"] else None
        if verdict is None:
            return None
        host = self._engine.host(found.target.host)
        host.trust.note(is_lie=verdict)
        return host


def _denial(origin: Origin, target: Target) -> Outcome | None:
    if origin.verdict == robots.DISALLOW:
        return origin.denial
    if origin.rules is not None and not origin.rules.allowed(target.fetch_url):
        return Outcome.DENIED_BY_ROBOTS
    return None
