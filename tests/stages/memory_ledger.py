"""A ledger of a fetch task that keeps its rows in memory, and the plan of the next cycle from them."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

from crawler.core.columns import KINDS, FoundLinks
from crawler.core.config import Settings, parse_settings
from crawler.core.keys import host_key, url_key
from crawler.core.model import HostState, RobotsAnswer, RobotsCopy, Row, Target, Want
from crawler.core.urls import CanonicalUrl, canonicalize
from crawler.store.frontier import Frontier

USER_AGENT = "testbot/1.0 (+http://contact.test/)"


class MemoryLedger:
    """Holds what one bucket's fetches write, over several of them."""

    def __init__(self, urls: Sequence[str] = (), *, window_seconds: float = 30.0) -> None:
        self.rows: dict[str, list[Row]] = defaultdict(list)
        self.segments = 0
        self.complete: bool | None = None
        self.taken_over = False
        self.shared_addresses: dict[str, int] = {}
        self.deadline = datetime.now(UTC) + timedelta(seconds=window_seconds)
        self.copies: dict[str, RobotsCopy] = {}
        self.new: Frontier | None = None
        self.holds: frozenset[str] = frozenset()
        self.wanted: list[Want] = []
        self.answers: dict[str, list[RobotsAnswer | None]] = {}
        self.wants_of_others: list[Want] = []
        self.targets = [target(url, priority=-number) for number, url in enumerate(urls)]

    def todo(self) -> list[Target]:
        observed = {row["url"] for row in self.rows["observation"]}
        return [planned for planned in self.targets if planned.url not in observed]

    def frontier(self) -> Frontier | None:
        return self.new

    def hosts(self) -> dict[str, HostState]:
        sent = [row["host"] for table in ("observation", "robots") for row in self.rows[table] if row["sent"]]
        newest = {row["host"]: row for row in self.rows["host_state"]}
        names = [field.name for field in fields(HostState) if field.name != "requests_last_day"]
        return {
            host: HostState(**{name: row[name] for name in names}, requests_last_day=sent.count(host))
            for host, row in newest.items()
        }

    def hosts_of(self, hosts: Collection[str]) -> dict[str, HostState]:
        return {name: state for name, state in self.hosts().items() if name in hosts}

    def robots(self) -> dict[str, RobotsCopy]:
        copies = dict(self.copies)
        for row in self.rows["robots"]:
            if row["final"]:
                old = copies.get(row["origin"])
                is_good = row["verdict"] == "allow" or row["body"] is not None
                copies[row["origin"]] = RobotsCopy(
                    row["origin"],
                    row["verdict"],
                    row["fetched_at"],
                    row["valid_until"],
                    row["body"] if is_good else old and old.body,
                    row["body_digest"] if is_good else old and old.body_digest,
                    row["read_at"] if is_good else old and old.body_fetched_at,
                    row["unreachable_since"],
                )
        return copies

    def robots_of(self, hosts: Collection[str]) -> dict[str, RobotsCopy]:
        return {url: copy for url, copy in self.robots().items() if urlsplit(url).hostname in hosts}

    def want(self, want: Want) -> RobotsAnswer | None:
        """The next of `answers`; the last remains. Notes the want."""
        self.wanted.append(want)
        answers = self.answers.get(want.url, [None])
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def wants(self) -> list[Want]:
        return self.wants_of_others

    def held(self) -> frozenset[str]:
        return self.holds

    def append(self, rows: Mapping[str, Sequence[Row]], links: Sequence[FoundLinks] = ()) -> None:
        self.segments += 1
        self._keep(rows, links)

    def finish(self, rows: Mapping[str, Sequence[Row]], links: Sequence[FoundLinks] = (), *, complete: bool) -> None:
        self.complete = complete
        self._keep(rows, links)

    def _keep(self, rows: Mapping[str, Sequence[Row]], links: Sequence[FoundLinks]) -> None:
        for table, found in rows.items():
            self.rows[table].extend(found)
        for each in links:
            self.rows["link"].extend(link_rows(each))

    # What a test asks

    def outcome(self, url: str) -> str | None:
        """The outcome of the only observation of a canonical URL; None if it is open."""
        found = [row["outcome"] for row in self.rows["observation"] if row["url"] == url]
        assert len(found) <= 1, f"{url} was observed {len(found)} times"
        return found[0] if found else None

    def outcomes(self) -> dict[str, str]:
        return {row["url"]: row["outcome"] for row in self.rows["observation"]}

    def early(self) -> list[tuple[str, float]]:
        """Hosts that were asked before their delay had passed, with the seconds, by the log alone."""
        sent = [row for table in ("observation", "robots") for row in self.rows[table] if row["sent"]]
        sent.sort(key=lambda row: (row["host"], row["fetched_at"]))
        found = []
        for one, two in pairwise(sent):
            owed = one["ended_at"] + timedelta(seconds=one["delay_seconds"]) - two["fetched_at"]
            if one["host"] == two["host"] and owed > timedelta(milliseconds=1):
                found.append((two["url"], owed.total_seconds()))
        return found


def link_rows(found: FoundLinks) -> Iterator[Row]:
    """Links that arrive as columns, one by one."""
    links, place = found.links, 0
    urls, fetch_urls = list(links.urls), list(links.fetch_urls)
    for source, count in zip(found.sources, links.counts, strict=True):
        for at in range(place, place + count):
            host = links.host_names[links.hosts[at]]
            yield {
                "source_url_key": source.url_key,
                "source_url": source.url,
                "source_depth": source.depth,
                "source_hops": source.hops,
                "kind": KINDS[links.kinds[at]],
                "nofollow": bool(links.nofollow[at]),
                "target_url_key": links.url_keys[at],
                "target_host_key": host_key(host),
                "target_url": urls[at],
                "target_fetch_url": fetch_urls[at],
                "target_host": host,
                "target_pattern_key": links.pattern_keys[at],
                "trap": links.trap_names[links.traps[at]] or None,
                "found_at": source.found_at,
            }
        place += count


def target(url: str, *, priority: int = 0, **stored: Any) -> Target:
    """A planned URL. stored: columns of the version that is known."""
    found = canonicalize(url)
    assert isinstance(found, CanonicalUrl), url
    key, host = url_key(found.url), host_key(found.host)
    return Target(key, host, found.url, found.fetch_url, found.host, priority, 0, 0, **stored)


def make_settings(
    *, fetch: Mapping[str, Any] | None = None, crawl: Mapping[str, Any] | None = None, **politeness: Any
) -> Settings:
    """Settings for loopback without any delay but those given, and without audits, which chance would place."""
    tables = {
        "crawl": {"user_agent": USER_AGENT} | dict(crawl or {}),
        "fetch": {"allow_private": ["127.0.0.0/8", "::1/128"], "threads": 8, "parse_workers": 0, "audit_share": 0.0}
        | dict(fetch or {}),
        "politeness": {"delay_seconds": 0.0, "delay_factor": 0.0, "address_delay_seconds": 0.0} | politeness,
    }
    return parse_settings(tables)
