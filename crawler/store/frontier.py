"""What a fetch must know to fetch a URL in the very cycle in which it finds it: is it new, may it be?

Reads the checkpoint and the log of the bucket, the scope and the purges, once, when the fetch begins; writes nothing
but the seen filter's file. What cannot be known at that moment (copies elsewhere, the texts of a pattern) is left to
merge and plan, which judge again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import duckdb

from crawler.core.patterns import is_host_of
from crawler.core.scope import Scope
from crawler.core.shape import place_of
from crawler.store import query
from crawler.store.lake import Lake
from crawler.store.purges import keep_purged
from crawler.store.scoping import open_scope
from crawler.store.seen import Seen, open_seen


@dataclass(slots=True)
class Frontier:
    """Where the known URLs of a bucket end. One thread at a time.

    room: URLs that the fetch may still take in. seen: the filter of what is known. full_hosts: keys of hosts with all
    the URLs that they may have. exempt: hosts whose places are not counted. crowded: by place (`place_of`) with more
    than half of most_alike URLs how many it has.
    """

    room: int
    seen: Seen
    scope: Scope
    max_hops: int = 0
    purged: frozenset[int] = frozenset()
    full_hosts: frozenset[int] = frozenset()
    exempt: tuple[str, ...] = ()
    most_alike: int = 500
    crowded: dict[int, int] = field(default_factory=dict)
    con: duckdb.DuckDBPyConnection | None = field(default=None, repr=False)
    _found: dict[int, int] = field(default_factory=dict)  # by place

    def accepts(self, url_key: int, host_key: int, host: str, url: str, pattern_key: int, hops: int) -> bool:
        """Whether the rules that a plan keeps let a new URL be fetched. hops: its own, by the link that names it."""
        if url_key in self.purged or host_key in self.full_hosts:
            return False
        if not self.scope.covers(host) and not 1 <= hops <= self.max_hops:
            return False
        if not self.scope.decide(url, any_host=True)[0]:
            return False
        place = place_of(pattern_key)
        room = self.most_alike - self.crowded[place] if place in self.crowded else (self.most_alike + 1) // 2
        return self._found.get(place, 0) < room or any(is_host_of(pattern, host) for pattern in self.exempt)

    def take(self, url_key: int, pattern_key: int) -> None:
        """Let a URL that `accepts` accepted be one of those known."""
        place = place_of(pattern_key)
        self._found[place] = self._found.get(place, 0) + 1
        self.room -= 1
        self.seen.add([url_key])

    def hops_of(self, host: str, hops: int) -> int:
        """The hops of a URL as a page has them: none in scope."""
        return 0 if self.scope.covers(host) else hops

    def count_wrongly_seen(self, maybe_seen: Sequence[int]) -> tuple[int, int]:
        """How many distinct URL keys the filter took for known, and how many of them were not when it was opened."""
        if self.con is None:
            return 0, 0
        query.keep_rows(self.con, "maybe_seen", "url_key UBIGINT", [(key,) for key in maybe_seen])
        ((asked, wrong),) = query.run(self.con, "fetch/wrongly_seen").fetchall()
        return int(asked), int(wrong)


def open_frontier(lake: Lake, con: duckdb.DuckDBPyConnection, bucket: int, epoch: int, room: int) -> Frontier:
    """The frontier of a bucket whose checkpoint is that of `epoch`, 0 for none.

    Reads the views base_page, tail_url and tail_observation of `con`, which belongs to it from now on. The caller owns
    the bucket.
    """
    traps = lake.settings.traps
    query.view_query(con, "known", "fetch/known")
    keep_purged(lake, con)
    most = {"most": traps.max_urls_per_host - room}
    return Frontier(
        room,
        open_seen(lake, con, bucket, epoch),
        open_scope(lake, con),
        lake.settings.scope.max_hops,
        frozenset(key for key, _ in con.table("purged_url").fetchall()),
        frozenset(key for (key,) in query.run(con, "fetch/full_hosts", most).fetchall()),
        traps.exempt_hosts,
        traps.max_urls_per_pattern,
        dict(query.run(con, "fetch/crowded_places", {"most": traps.max_urls_per_pattern}).fetchall()),
        con,
    )
