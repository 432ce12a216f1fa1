"""Requests for robots.txt: one before any page of an origin, redirects followed from host to host.

Owns what an answer, or none, means for the origin, and what passes between the owners of buckets: a redirect to a host
of another bucket is answered by what that host's owner knows, and what they want to know of our hosts is asked for
here. Reads the web through the client, the lake through the ledger; hands rows to the engine.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

from crawler.core.errors import ProxyFailed
from crawler.core.keys import bucket_of, host_key
from crawler.core.model import RobotsAnswer, RobotsCopy, Row, Want
from crawler.core.outcomes import Outcome
from crawler.core.urls import CanonicalUrl, canonicalize
from crawler.net import robots
from crawler.net.reply import Reply, printable
from crawler.stages.fetch import rows
from crawler.stages.fetch.announced import sitemap_links
from crawler.stages.fetch.engine import Engine
from crawler.stages.fetch.hosts import Errand, Host, Origin, origin_of
from crawler.stages.fetch.schedule import Postponed
from crawler.stages.fetch.task import Ledger, Task

_RETRIES = 2  # of a robots.txt whose host does not answer
_STATUS_RETRIES = 4  # of one whose host answers, but not with it
_UNREACHABLE_SECONDS = 3600.0  # how long a robots.txt that could not be read is not asked for again
_HOPELESS = frozenset({Outcome.DNS_FAILED, Outcome.BLOCKED_ADDRESS})
_LOOKS = 7  # for another owner's answer, each after twice the wait: two minutes, in which it sees the want and writes
_FIRST_LOOK_SECONDS = 1.0
_REFRESH_SECONDS = 3600.0  # age of an answer of ours that others want to know, from which on it is asked for again


class Errands:
    """The robots.txt requests of one fetch task."""

    def __init__(self, task: Task, engine: Engine, ledger: Ledger) -> None:
        self._task = task
        self._engine = engine
        self._ledger = ledger
        self._url_rules = task.settings.url_rules
        self._seen: set[str] = set()  # wants

    def run(self, host: Host, errand: Errand) -> None:
        """Ask `host`, which the caller holds, for a robots.txt."""
        before_send = self._engine.begin(host)
        try:
            reply = self._task.client.get(
                errand.url, any_type=True, max_body_bytes=robots.MAX_BYTES, before_send=before_send
            )
        except (Postponed, ProxyFailed) as reason:
            with self._engine.lock:
                self._engine.cancel(host, reason)
                host.errands.appendleft(errand)
            return
        origin, home = errand.origin, errand.home
        verdict = robots.verdict(reply, errand.hop)
        row = rows.robots_row(origin.url, host.name, errand.url, errand.hop, reply, verdict, reply.ended_at)
        row["suspect"] = robots.is_suspect(reply)
        links: list[Row] = []
        with self._engine.lock:
            if verdict in (robots.RULES, robots.ALLOW):
                links = self._decide(errand, reply, row)
                row |= self._engine.answered(host, reply)
            else:
                row |= self._engine.answered(host, reply)
                if verdict == robots.REDIRECT:
                    self._forward(errand, reply, row)
                else:
                    self._unreachable(errand, reply, row)
            self._engine.commit({"robots": [row], "link": links}, host)
        if origin.elsewhere is not None:
            self.look(home, origin)
        with self._engine.lock:
            if home is not host and not origin.is_sought:
                home.pace.stretch()
                self._engine.commit({}, home)
                self._engine.wake(home)

    def look(self, home: Host, origin: Origin) -> None:
        """Look for the answer of another bucket's owner that `origin`, of `home`, waits for. Asks no host."""
        want = origin.elsewhere
        if want is None:
            raise ValueError(f"{origin.url} waits for nobody")
        answer = self._ledger.want(want)
        with self._engine.lock:
            errand, now = Errand(origin, home, want.url, want.hop), self._task.clock.now()
            if answer is not None and now < answer.valid_until:
                self._adopt(errand, answer, now)
                return
            origin.looks += 1
            clock = self._task.clock
            origin.not_before = clock.monotonic() + _FIRST_LOOK_SECONDS * 2 ** (origin.looks - 1)
            origin.is_sought = False
            if origin.looks > _LOOKS or origin.not_before >= self._task.deadline:
                reply = self._no_reply(Outcome.ROBOTS_UNREACHABLE, now)
                error = f"it redirects to {want.host}, a host of another bucket, whose owner has not read it"
                row = rows.robots_row(origin.url, home.name, want.url, want.hop, reply, robots.DISALLOW, now)
                row["error"] = printable(error)
                self._unreachable(errand, reply, row, is_final=True)
                self._engine.commit({"robots": [row]}, home)

    def serve(self) -> None:
        """Take on what the owners of other buckets want to know of hosts of this one. Raises CorruptLake."""
        wants = [want for want in self._ledger.wants() if want.url not in self._seen]
        if wants:
            self._seen.update(want.url for want in wants)
            names = {want.host for want in wants}
            states, copies = self._ledger.hosts_of(names), self._ledger.robots_of(names)
            with self._engine.lock:
                for want in wants:
                    if self._engine.accepts_errands:
                        self._take_on(want, self._engine.host(want.host, states), copies)

    def _take_on(self, want: Want, host: Host, copies: Mapping[str, RobotsCopy]) -> None:
        url = origin_of(want.url)
        if want.url != f"{url}/robots.txt":
            self._engine.assign(host, Errand(Origin(want.origin), host, want.url, want.hop, is_for_others=True))
            return
        now = self._task.clock.now()
        origin = host.origins.get(url)
        if origin is None:
            origin = host.origins[url] = Origin(url)
            if url in copies:
                origin.load(copies[url], self._task.settings.crawl.product_token, now)
        is_fresh = origin.asked_at is not None and now < origin.asked_at + timedelta(seconds=_REFRESH_SECONDS)
        if not origin.is_sought and origin.elsewhere is None and not (is_fresh and origin.is_known(now)):
            origin.is_sought = True
            self._engine.assign(host, Errand(origin, host, want.url))

    def _forward(self, errand: Errand, reply: Reply, row: Row) -> None:
        aim = canonicalize(rows.location(reply), errand.url)
        hop = errand.hop + 1
        if not isinstance(aim, CanonicalUrl):
            row |= {"verdict": robots.DISALLOW, "error": printable(f"redirect to no URL: {aim.reason}")}
            self._unreachable(errand, reply, row, is_final=True)
        elif bucket_of(host_key(aim.host), self._task.buckets) == self._task.bucket:
            onward = Errand(errand.origin, errand.home, aim.fetch_url, hop, errand.is_for_others)
            self._engine.assign(self._engine.host(aim.host), onward)
        elif not errand.is_for_others:
            # Only the owner of its bucket may ask that host.
            errand.origin.elsewhere, errand.origin.looks = Want(aim.url, aim.host, errand.origin.url, hop), 0
        else:
            error = f"redirect to {aim.host}, a host of a third bucket"
            row |= {"verdict": robots.DISALLOW, "error": printable(error)}

    def _decide(self, errand: Errand, reply: Reply, row: Row) -> list[Row]:
        """Take over what a server has said; the links to the sitemaps that it names."""
        settings, origin = self._task.settings, errand.origin
        until = reply.fetched_at + timedelta(seconds=settings.politeness.robots_max_age_seconds)
        row |= {"read_at": reply.fetched_at, "valid_until": until}
        if errand.is_for_others:
            return []
        origin.take_over(
            RobotsCopy(
                origin.url, row["verdict"], reply.fetched_at, until, row["body"], row["body_digest"], row["read_at"]
            ),
            settings.crawl.product_token,
        )
        errand.home.obey_robots()
        row |= {"final": True, "crawl_delay_seconds": origin.delay_seconds}
        return sitemap_links(origin, errand.home.name, reply.fetched_at, settings, self._url_rules)

    def _adopt(self, errand: Errand, answer: RobotsAnswer, now: datetime) -> None:
        """Take over what another bucket's owner has read."""
        origin, home = errand.origin, errand.home
        copy = RobotsCopy(
            origin.url, answer.verdict, now, answer.valid_until, answer.body, answer.body_digest, answer.read_at
        )
        origin.take_over(copy, self._task.settings.crawl.product_token)
        home.obey_robots()
        home.pace.stretch()
        reply = self._no_reply(Outcome(answer.outcome), now)
        row = rows.robots_row(origin.url, home.name, errand.url, errand.hop, reply, answer.verdict, answer.valid_until)
        row |= {
            "final": True,
            "status": answer.status,
            "read_at": answer.read_at,
            "crawl_delay_seconds": origin.delay_seconds,
            "body_digest": answer.body_digest,
            "body": answer.body,
            "suspect": answer.suspect,
        }
        links = sitemap_links(origin, home.name, now, self._task.settings, self._url_rules)
        self._engine.commit({"robots": [row], "link": links}, home)

    def _unreachable(self, errand: Errand, reply: Reply, row: Row, *, is_final: bool = False) -> None:
        """Go on without an answer: by the last good copy, by asking again, or by leaving the origin alone."""
        if errand.is_for_others:
            return
        origin, home, politeness = errand.origin, errand.home, self._task.settings.politeness
        origin.is_sought = False
        origin.asked_at = reply.fetched_at
        origin.unreachable_since = origin.unreachable_since or reply.fetched_at
        row["unreachable_since"] = origin.unreachable_since
        until = min(politeness.robots_max_age_seconds, _UNREACHABLE_SECONDS)
        again = reply.ended_at + timedelta(seconds=until)
        served = origin.copy_serves_until(politeness.robots_stretch_days)
        if origin.copy is not None and served is not None and served > reply.ended_at:
            origin.elsewhere = None
            origin.use_copy(self._task.settings.crawl.product_token, min(served, again))
            home.obey_robots()
            row |= {
                "final": True,
                "verdict": robots.RULES,
                "read_at": origin.copy.body_fetched_at,
                "valid_until": origin.valid_until,
                "crawl_delay_seconds": origin.delay_seconds,
                "body_digest": origin.digest,
            }
            return
        if _is_absent(origin, reply.ended_at, politeness.robots_absent_days):
            origin.elsewhere = None
            origin.decide(robots.ALLOW, again)
            row |= {"final": True, "verdict": robots.ALLOW, "valid_until": again}
            return
        origin.tries += 1
        origin.not_before = reply.ended + home.pace.usual_seconds * 2**origin.tries
        is_late = max(origin.not_before, home.pace.rested) + reply.elapsed >= self._task.deadline
        most = _RETRIES if reply.status is None else _STATUS_RETRIES
        if is_final or is_late or origin.tries > most or reply.outcome in _HOPELESS:
            origin.elsewhere = None
            origin.decide(robots.DISALLOW, again)
            why = row["error"] or f"status {reply.status}"
            origin.reason = printable(f"robots.txt: {row['outcome']}: {why}")
            if reply.outcome in _HOPELESS and errand.hop == 0:
                origin.denial = reply.outcome  # what a page's own request would meet
            origin.not_before = reply.ended
            row |= {"final": True, "valid_until": again}

    def _no_reply(self, outcome: Outcome, now: datetime) -> Reply:
        """What stands for a reply where no host was asked."""
        monotonic = self._task.clock.monotonic()
        return Reply(outcome, None, [], None, 0, False, None, False, None, now, now, monotonic, 0.0)


def _is_absent(origin: Origin, now: datetime, days: float) -> bool:
    """Whether robots.txt has been unreadable for so long that it counts as not there (RFC 9309 2.3.1.4)."""
    since = origin.unreachable_since
    return days > 0 and since is not None and now - since >= timedelta(days=days)
