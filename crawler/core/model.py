"""The values that pass between the lake and the fetch: plain, frozen, without behaviour.

Rows of tables are dicts keyed by the columns of `sql/schema/<table>.sql`; only what fetch needs in its inner loop
has a class here.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Target:
    """A URL to ask for, with what is stored of it: an admitted row of the plan, or one that was found on the way.

    discovered: what the link said by which it was found; see sql/schema/observation.sql.
    """

    url_key: int
    host_key: int
    url: str
    fetch_url: str
    host: str
    priority: int
    depth: int
    hops: int
    etag: str | None = None
    last_modified: str | None = None
    body_digest: bytes | None = None
    text_digest: bytes | None = None
    copy_digest: bytes | None = None
    simhash: int | None = None
    text_bytes: int | None = None
    body_bytes: int | None = None
    is_sitemap: bool = False
    announced_by: list[str] | None = None
    signalled: bool = False
    modified_trusted: bool = False
    noisy: bool = False
    discovered: Row | None = None


@dataclass(frozen=True, slots=True)
class HostState:
    """What politeness knew of a host after its last recorded segment; see sql/schema/host_state.sql."""

    host: str
    address: str | None
    delay_seconds: float
    allowed_at: datetime
    response_seconds: float
    crawl_delay_seconds: float | None
    penalty: float
    error_streak: int
    requests_last_day: int
    busy_at: datetime | None = None
    slow: bool = False
    validator_audits: int = 0
    validator_lies: int = 0


@dataclass(frozen=True, slots=True)
class RobotsCopy:
    """The newest decision about an origin's robots.txt, with the last good body if there is one.

    body_fetched_at: when a server gave that body. unreachable_since: since when robots.txt could not be read, if so.
    """

    origin: str
    verdict: str
    fetched_at: datetime
    valid_until: datetime
    body: bytes | None
    body_digest: bytes | None
    body_fetched_at: datetime | None
    unreachable_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Want:
    """A robots.txt at `url`, on `host`, of another bucket, that the one of `origin` redirects to after `hop` hops."""

    url: str
    host: str
    origin: str
    hop: int


@dataclass(frozen=True, slots=True)
class RobotsAnswer:
    """What another bucket's owner learnt at a URL that was wanted; columns of sql/schema/robots.sql."""

    verdict: str
    outcome: str
    status: int | None
    read_at: datetime
    valid_until: datetime
    body: bytes | None
    body_digest: bytes | None
    suspect: bool
