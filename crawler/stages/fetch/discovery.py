"""Links that are followed in the very cycle in which they are found.

Owns what the links of pages that were just read come to: which of them lead to URLs of this bucket that are certainly
new, may be fetched by the rules that a plan keeps, and fit into the budget that the plans left. Those become targets of
the running fetch, behind all that is planned. All others are left to merge, as every link is written down anyway: to
follow one here costs no more than a request, not to follow it no more than a day. See docs/decisions/0023.
"""

import threading
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from crawler.core.columns import KINDS, LinkColumns, LinkSource
from crawler.core.keys import bucket_of, host_key
from crawler.core.model import Row, Target
from crawler.page.reading import Reading
from crawler.stages.fetch.rows import Visit, link_source
from crawler.stages.fetch.task import Task
from crawler.store.frontier import Frontier

_PRIORITY = -(2**31) - 1  # below every row of a plan
_SITEMAPS = frozenset({"index", "feed"})  # these have a schedule of their own
_IS_FOLLOWED = bytes(kind not in _SITEMAPS for kind in KINDS)
_MOST_ANSWERS = 1 << 17  # that are remembered, since links repeat on a site
_MOST_COUNTED = 1 << 20  # URLs that were maybe seen, of which is counted how many were

RoomOf: TypeAlias = Callable[[str], float]
"""How many more pages than those that it has to do a host may be asked for, by its name."""


class Discovery:
    """The frontier of one fetch task. Any thread may call it; it asks no host and needs no lock of the engine."""

    def __init__(self, task: Task, frontier: Frontier) -> None:
        self._counts: Counter[str] = Counter(room=frontier.room)
        self._task = task
        self._frontier = frontier
        self._lock = threading.Lock()
        self._keys_of_hosts: dict[str, int | None] = {}  # None for a host of another bucket
        self._answered: set[int] = set()  # URL keys
        self._taken: set[int] = set()
        self._maybe_seen = array("Q")
        self._contents: set[bytes] = set()  # digests of what pages brought

    def follow(self, readings: Sequence[tuple[Visit, Reading]], links: LinkColumns, room_of: RoomOf) -> list[Target]:
        """The targets that the links of pages just read give."""
        found: list[Target] = []
        start = 0
        with self._lock:
            host_keys = [self._host_key(name) for name in links.host_names]
            for (visit, reading), count in zip(readings, links.counts, strict=True):
                is_first = self._is_first(visit.target.host, reading)
                if self._frontier.room > 0 and (new := self._new(links, range(start, start + count), host_keys)):
                    aims = _aims(links, new, host_keys)
                    found += self._take(link_source(visit), aims, room_of, is_first=is_first)
                start += count
        return found

    def follow_redirect(self, visit: Visit, room_of: RoomOf) -> list[Target]:
        """The target that a redirect gives, if it gives one."""
        found: list[Target] = []
        with self._lock:
            for link in visit.links:
                key, host = link["target_url_key"], link["target_host"]
                host_key = self._host_key(host)
                is_page = link["kind"] == "redirect" and link["trap"] is None
                if is_page and host_key is not None and self._frontier.room > 0 and self._is_unanswered(key):
                    aim = _Aim(
                        key, host_key, host, link["target_url"], link["target_fetch_url"], link["target_pattern_key"]
                    )
                    found += self._take(link_source(visit), [aim], room_of, is_first=True)
        return found

    def row(self) -> Row:
        """The row of table discovery."""
        with self._lock:
            maybe_seen, wrongly_seen = self._frontier.count_wrongly_seen(self._maybe_seen)
            return {
                **{name: self._counts[name] for name in ("room", "links", "unseen", "rejected", "left_over", "taken")},
                "maybe_seen": maybe_seen,
                "wrongly_seen": wrongly_seen,
                "filter_keys": self._frontier.seen.keys,
                "filter_bytes": self._frontier.seen.size_bytes,
            }

    def _new(self, links: LinkColumns, places: Iterable[int], host_keys: Sequence[int | None]) -> list[int]:
        """Which of a page's links lead to URLs of this bucket that are certainly new and were not looked at before."""
        found = []
        here: set[int] = set()
        for place in places:
            if links.nofollow[place] or links.traps[place] or not _IS_FOLLOWED[links.kinds[place]]:
                continue
            key = links.url_keys[place]
            if host_keys[links.hosts[place]] is None or key in here:
                continue
            here.add(key)
            if self._is_unanswered(key):
                found.append(place)
        self._counts["links"] += len(here)
        return found

    def _is_unanswered(self, key: int) -> bool:
        """Whether a URL is certainly new, and this was not asked before."""
        if key in self._answered or key in self._taken:
            return False
        if len(self._answered) >= _MOST_ANSWERS:
            self._answered.clear()
        self._answered.add(key)
        if self._frontier.seen.is_new(key):
            self._counts["unseen"] += 1
            return True
        if len(self._maybe_seen) < _MOST_COUNTED:
            self._maybe_seen.append(key)
        return False

    def _take(self, source: LinkSource, aims: Iterable["_Aim"], room_of: RoomOf, *, is_first: bool) -> list[Target]:
        """The targets that new URLs give. is_first: whether the page is the first with its content."""
        found: list[Target] = []
        taken: Counter[str] = Counter()
        for aim in aims:
            hops = self._frontier.hops_of(aim.host, source.hops + 1)
            if not is_first or self._frontier.room <= 0 or room_of(aim.host) <= taken[aim.host]:
                self._counts["left_over"] += 1
            elif not self._frontier.accepts(aim.url_key, aim.host_key, aim.host, aim.url, aim.pattern_key, hops):
                self._counts["rejected"] += 1
            else:
                self._frontier.take(aim.url_key, aim.pattern_key)
                self._taken.add(aim.url_key)
                self._counts["taken"] += 1
                taken[aim.host] += 1
                found.append(_target(source, aim, hops))
        return found

    def _is_first(self, host: str, reading: Reading) -> bool:
        """Whether no page before brought the same bytes, the same text and links, or on its host the same text.

        Links of copies count for nobody, and a text that comes again and again is a trap's.
        """
        if reading.sitemap is not None or reading.error is not None:
            return True
        found = {reading.body_digest, host.encode() + reading.text_digest}
        found |= {reading.copy_digest} if reading.copy_digest is not None else set()
        is_first = self._contents.isdisjoint(found)
        self._contents |= found
        return is_first

    def _host_key(self, name: str) -> int | None:
        """The key of a host of this bucket; None for any other."""
        if name not in self._keys_of_hosts:
            if len(self._keys_of_hosts) >= _MOST_ANSWERS:
                self._keys_of_hosts.clear()
            key = host_key(name)
            is_here = bucket_of(key, self._task.buckets) == self._task.bucket
            self._keys_of_hosts[name] = key if is_here else None
        return self._keys_of_hosts[name]


@dataclass(frozen=True, slots=True)
class _Aim:
    """What a link leads to."""

    url_key: int
    host_key: int
    host: str
    url: str
    fetch_url: str
    pattern_key: int


def _aims(links: LinkColumns, places: Sequence[int], host_keys: Sequence[int | None]) -> Iterator[_Aim]:
    urls, fetch_urls = links.urls.at(places), links.fetch_urls.at(places)
    for place, url, fetch_url in zip(places, urls, fetch_urls, strict=True):
        host = links.hosts[place]
        key = host_keys[host]
        if key is not None:
            name = links.host_names[host]
            yield _Aim(links.url_keys[place], key, name, url, fetch_url, links.pattern_keys[place])


def _target(source: LinkSource, aim: _Aim, hops: int) -> Target:
    depth = source.depth + 1
    discovered = {
        "pattern_key": aim.pattern_key,
        "depth": depth,
        "hops": hops,
        "discovered_at": source.found_at,
    }
    return Target(
        aim.url_key, aim.host_key, aim.url, aim.fetch_url, aim.host, _PRIORITY, depth, hops, discovered=discovered
    )
