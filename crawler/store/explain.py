"""Why a URL was or was not planned, what came of asking for it, and when it comes next.

Reads the log of its bucket, that of a running fetch included, its last plan, the scope, the holds, the purges, and all
links to it. Computes standing by the tables that `plan` chooses from. Writes nothing and takes no lease.
"""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import duckdb

from crawler.core.cycle import Cycle
from crawler.core.errors import BadQuery
from crawler.core.keys import bucket_of, host_key, url_key
from crawler.core.model import Row
from crawler.core.urls import CanonicalUrl, Reject, canonicalize
from crawler.core.userinfo import without_userinfo
from crawler.store import query
from crawler.store.admission import read_admission
from crawler.store.candidates import find_candidates, other_cap
from crawler.store.holds import held_hosts
from crawler.store.lake import Lake, partition_name
from crawler.store.lease import Settled
from crawler.store.outlook import Outlook, first_cycle, outlook
from crawler.store.planning import past
from crawler.store.plans import PlanFile, read_plan
from crawler.store.purges import purge_of
from crawler.store.renamed import old_name
from crawler.store.scoping import open_scope
from crawler.store.steering import open_share

TIMELINE = "N first, = as before, C changed, > redirected, - gone, r denied by robots.txt, x failed"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a plan made, or would make, of a URL: a code, and the reason as a sentence.

    Of a plan that was made: fetched, discovered, open, below_cutoff, later_known, settings_changed, no_plan. Of one to
    come: eligible. Of both: purged, trap, scope, held, resting, blackout, sitemap_cap, host_cap, new_share,
    bucket_budget; renamed, never_found, nofollow, not_kept of a URL that is not known, and trap of one that was not
    kept.
    """

    code: str
    reason: str
    cycle: str | None = None
    not_before: datetime | None = None
    priority: int | None = None
    host_rank: int | None = None
    host_cap: int | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """One URL's story. state: how it stands, None if it is not known. links: the pages that name it.

    robots_txt: what decided about it when it was last its turn, as bytes; None without a robots.txt. outlook: what is
    believed of it and when it comes next; None if it is not known.
    """

    url: str
    host: str
    bucket: int
    state: Row | None
    links: Row
    hold: Row | None
    history: list[Row]
    last_plan: Verdict
    next_plan: Verdict
    robots_txt: bytes | None = None
    outlook: Outlook | None = None

    @property
    def timeline(self) -> str:
        """What came of asking for it, oldest first, a character of TIMELINE each."""
        return "".join(map(_mark, self.history))

    def to_dict(self) -> dict[str, Any]:
        text = None if self.robots_txt is None else self.robots_txt.decode("utf-8", "replace")
        return asdict(self) | {"robots_txt": text, "timeline": self.timeline}


def explain(lake: Lake, text: str) -> Explanation:
    """The story of the URL that `text` spells. Raises BadQuery for what is no URL."""
    aim = canonicalize(text, None, lake.settings.url_rules)
    if isinstance(aim, Reject):
        found = without_userinfo(text)
        raise BadQuery(f"{found} is no URL to crawl ({aim.reason})", "Write an absolute http or https URL")
    return _Story(lake, aim).tell()


class _Story:
    def __init__(self, lake: Lake, aim: CanonicalUrl) -> None:
        self.lake = lake
        self.con: duckdb.DuckDBPyConnection = lake.connect()
        self.aim = aim
        self.key, self.host_key = url_key(aim.url), host_key(aim.host)
        self.bucket = bucket_of(self.host_key, lake.buckets)
        self.written = lake.written("bucket", self.bucket)
        self.hold = held_hosts(lake, self.bucket).get(aim.host)
        self.purge = purge_of(lake, aim.url, aim.host)

    def tell(self) -> Explanation:
        lake = self.lake
        history = self._history()
        links = self._links()
        now = self._standing(self.written, lake.clock.now(), first_cycle(lake, self._newest_plan()))
        next_plan = self._judge(now, links, lake.clock.now())
        seen = None if now is None else self._outlook(next_plan)
        last_plan = self._last_plan(history, links, is_known=now is not None)
        keys = (
            "rests_until",
            "is_candidate",
            "is_reopened",
            "rejected_by",
            "priority",
            "reason",
            "host_rank",
            "cap",
            "bucket_rank",
        )
        state = {name: value for name, value in now.items() if name not in keys} if now else None
        hold = self.hold.to_dict() if self.hold else None
        robots_txt = self._robots_txt(history)
        return Explanation(
            self.aim.url,
            self.aim.host,
            self.bucket,
            state,
            links,
            hold,
            history,
            last_plan,
            next_plan,
            robots_txt,
            seen,
        )

    def _outlook(self, next_plan: Verdict) -> Outlook:
        obstacle = next_plan.reason if next_plan.code in ("purged", "scope", "trap", "held") else None
        if next_plan.host_cap == 0 and next_plan.code != "blackout":
            obstacle = "no cycle plans any URL of its host"
        return outlook(self.lake, self.con, self.key, self._newest_plan(), obstacle)

    def _newest_plan(self) -> Cycle | None:
        """The cycle that the bucket was planned for last."""
        folder = f"{self.lake.layout}/plan/{partition_name('bucket', self.bucket)}"
        days = [name.removeprefix("cycle=") for name in self.lake.files.folders(folder)]
        return Cycle.parse(days[-1]) if days else None

    def _history(self) -> list[Row]:
        for table in ("observation", "robots"):
            files = self.lake.current(table, "bucket", self.bucket, self.written)
            query.view_files(self.con, f"{table}_files", table, self.lake.paths(files))
        return query.rows(query.run(self.con, "explain/history", {"url_key": self.key}))

    def _robots_txt(self, history: list[Row]) -> bytes | None:
        version = history[-1]["robots_version"] if history else None
        if version is None:
            return None
        origin = "/".join(self.aim.url.split("/", 3)[:3])
        found = query.run(self.con, "explain/robots", {"origin": origin, "version": version}).fetchone()
        return found[0] if found else None

    def _links(self) -> Row:
        lake = self.lake
        paths = [
            lake.path(file)
            for bucket in range(lake.buckets)
            for file in lake.current("link", "bucket", bucket, lake.written("bucket", bucket))
        ]
        query.view_files(self.con, "link_files", "link", paths)
        parameters = {"target_host_key": self.host_key, "target_url_key": self.key}
        return query.rows(query.run(self.con, "explain/found", parameters))[0]

    def _standing(self, settled: Settled, now: datetime, cycle: Cycle, plan: PlanFile | None = None) -> Row | None:
        find_candidates(self.lake, self.con, self.bucket, settled, now, cycle=cycle, whole=True, again=plan)
        parameters = {"url_key": self.key, "other_cap": other_cap(self.lake)}
        return next(iter(query.rows(query.run(self.con, "explain/standing", parameters))), None)

    def _last_plan(self, history: list[Row], links: Row, *, is_known: bool) -> Verdict:
        """What the newest plan of the bucket made of the URL."""
        cycle = self._newest_plan()
        plan = None if cycle is None else read_plan(self.lake, cycle, self.bucket)
        if cycle is None or plan is None:
            return Verdict("no_plan", "its bucket was never planned; `recrawl run` plans one")
        query.view_files(self.con, "plan_files", "plan", plan.paths)
        rows = query.rows(query.run(self.con, "explain/planned", {"url_key": self.key}))
        if rows:
            return self._in_plan(str(cycle), plan, rows[0], history)
        then = self._standing(past(self.written, plan.epoch), plan.planned_at, cycle, plan)
        if any(seen["is_discovered"] and seen["cycle"] == str(cycle) for seen in history):
            return Verdict("discovered", "it was found and fetched in that very cycle, out of budget left", str(cycle))
        if then is None and is_known:
            return Verdict(
                "later_known", f"it was not known when the plan was made, {_at(plan.planned_at)}", str(cycle)
            )
        verdict = self._judge(then, links, plan.planned_at)
        if verdict.code == "eligible" and verdict.priority is not None and verdict.priority < plan.floor:
            reason = f"due, but worth less than what its bucket was planned down to, priority {plan.floor}"
            return Verdict(**{**asdict(verdict), "code": "below_cutoff", "reason": reason, "cycle": str(cycle)})
        if verdict.code == "eligible":
            reason = "settings or holds have changed since: by today's it would have been chosen"
            return Verdict("settings_changed", reason, str(cycle))
        return Verdict(**{**asdict(verdict), "cycle": str(cycle)})

    def _in_plan(self, day: str, plan: PlanFile, row: Row, history: list[Row]) -> Verdict:
        place = {"cycle": day, "priority": row["priority"], "host_rank": row["host_rank"]}
        admission = read_admission(self.lake, Cycle.parse(day))
        if admission is None:
            return Verdict("open", "planned; the cycle is not admitted yet", **place)
        cutoff = (admission.cutoff_priority, -admission.cutoff_url_key)
        if self.purge is not None:
            return Verdict("purged", f"planned; {self._purged()}", **place)
        new_cutoff = (admission.new_cutoff_priority, -admission.new_cutoff_url_key)
        if row["reason"] == "new" and (row["priority"], -self.key) < new_cutoff:
            share = self.lake.settings.plan.new_share
            reason = f"planned, but the share of new URLs was used up (plan.new_share is now {share:g})"
            return Verdict("new_share", reason, **place)
        if (row["priority"], -self.key) < cutoff:
            budget = self.lake.settings.plan.budget_urls
            reason = f"planned, but the budget ended at priority {cutoff[0]} (plan.budget_urls is now {budget})"
            return Verdict("below_cutoff", reason, **place)
        asked = [seen for seen in history if seen["epoch"] > plan.epoch]
        if asked:
            late = ", late" if asked[0]["late"] else ""
            other = "" if asked[0]["cycle"] == day else f", by cycle {asked[0]['cycle']}"
            return Verdict("fetched", f"admitted and asked for: {asked[0]['outcome']}{late}{other}", **place)
        return Verdict("open", "admitted and not asked for yet" + (": its host is held" if self.hold else ""), **place)

    def _judge(self, standing: Row | None, links: Row, now: datetime) -> Verdict:
        """What a plan that is made at `now` makes of the standing that it finds."""
        settings = self.lake.settings.plan
        if self.purge is not None:
            return Verdict("purged", self._purged())
        if standing is None:
            return self._never_known(links)
        hops = standing["hops"]
        scope = open_scope(self.lake, self.con)
        allowed, rule = scope.decide(self.aim.url, any_host=1 <= hops <= self.lake.settings.scope.max_hops)
        rejected_by = standing["rejected_by"] or ""
        if rejected_by.startswith("traps."):
            return Verdict("trap", f"{rejected_by} keeps it out of plans; `recrawl sql traps` shows where")
        if not allowed or rejected_by:
            return Verdict("scope", f"out of scope by {rejected_by or rule}")
        if self.hold:
            why = f": {self.hold.reason}" if self.hold.reason else ""
            return Verdict("held", f"its host is held since {self.hold.at}{why}; `recrawl release {self.aim.host}`")
        if not standing["is_candidate"]:
            until = standing["rests_until"]
            return Verdict("resting", f"it rests until {_at(until)} after {standing['outcome']}", not_before=until)
        place = {name: standing[name] for name in ("priority", "host_rank")} | {"host_cap": standing["cap"]}
        if not open_share(self.lake.settings, self.aim.host, now):
            hours = ", ".join(self.lake.settings.host[self.aim.host].blackout)
            return Verdict("blackout", f"its host is not asked {hours} UTC, which is all of the window", **place)
        if standing["host_rank"] is None:
            most = self.lake.settings.sitemaps.max_per_host
            return Verdict("sitemap_cap", f"{most} other sitemaps of its host have rested longer", **place)
        if standing["host_rank"] > standing["cap"]:
            reason = f"rank {standing['host_rank']} in its host, which a cycle plans {standing['cap']} URLs of"
            return Verdict("host_cap", reason, **place)
        if standing["bucket_rank"] is None:
            share = settings.new_share
            return Verdict("new_share", f"better new URLs use up their share (plan.new_share is {share:g})", **place)
        if standing["bucket_rank"] > settings.budget_urls:
            reason = f"rank {standing['bucket_rank']} in its bucket; the budget is {settings.budget_urls}"
            return Verdict("bucket_budget", reason, **place)
        reason = f"due: rank {standing['host_rank']} in its host, priority {standing['priority']}"
        if standing["is_reopened"]:
            reason = f"{reason}; robots.txt is another than the one that kept it out"
        return Verdict("eligible", f"{reason}; admitted if the budget of all buckets reaches it", **place)

    def _purged(self) -> str:
        if self.purge is None:
            raise ValueError(f"{self.aim.url} is not purged")
        why = f": {self.purge.reason}" if self.purge.reason else ""
        return f"{self.purge.name} is purged since {self.purge.at}{why}; `recrawl purge --lift {self.purge.name}`"

    def _never_known(self, links: Row) -> Verdict:
        old = old_name(self.lake, self.con, self.key)
        if old is not None:
            return Verdict(
                "renamed", f"the URL rules of today name {old} so, which stands for it until a link does too"
            )
        allowed, rule = open_scope(self.lake, self.con).decide(self.aim.url)
        if not links["pages"]:
            tail = "" if allowed else f"; it is out of scope by {rule} besides"
            return Verdict("never_found", f"it is no seed, and no page that was fetched names it{tail}")
        if links["is_nofollow"]:
            return Verdict("nofollow", "every link to it is nofollow")
        if links["trap"]:
            return Verdict("trap", f"{links['trap']} stops it")
        if not allowed:
            return Verdict("scope", f"out of scope by {rule}")
        why = "found, but not merged yet, in copies of other pages only, or stopped by a limit of [traps] on its host"
        return Verdict("not_kept", why)


def _mark(seen: Row) -> str:
    """The character of TIMELINE for an observation."""
    outcome = seen["outcome"]
    if outcome in ("ok", "not_modified"):
        return "C" if seen["content_changed"] else "N" if outcome == "ok" and seen["content_changed"] is None else "="
    return {"redirected": ">", "gone": "-", "denied_by_robots": "r"}.get(outcome, "x")


def _at(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M} UTC"
