"""Forces: URLs that an operator wants fetched in the next cycle, as data in the lake.

A force or its lifting is one small file, `force/bucket=BBBB/NNNNNNNN.json`, created if absent and never changed; of a
URL the newest decides. It needs no lease. Nothing lifts a force that has been served: it counts only until its URL is
asked for after it.
"""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import duckdb

from crawler.core.errors import BadForce
from crawler.core.keys import bucket_of, host_key, url_key
from crawler.core.urls import CanonicalUrl, canonicalize
from crawler.core.userinfo import without_userinfo
from crawler.store import query
from crawler.store.decisions import add_decision, read_decisions
from crawler.store.lake import Lake, partition_name
from crawler.store.state import open_state

FORCES = "force"


@dataclass(frozen=True, slots=True)
class Force:
    """One decision: the canonical `url` is forced, or no longer, since `at`, an ISO instant, and why."""

    url: str
    bucket: int
    forced: bool
    at: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def force(lake: Lake, text: str, reason: str) -> Force:
    """Have the URL in `text` fetched by the next cycle that is planned, before all others of its host.

    Raises BadForce for what is no URL or not known, and without a reason.
    """
    if not reason.strip():
        raise BadForce(text, "is forced for no reason", 'Say why: --reason "..."')
    url, bucket = _target(lake, text)
    if not _known(lake, bucket, [url]):
        cure = f"`recrawl explain {url}` says why, `recrawl seed {url}` makes it known"
        raise BadForce(url, "is not known, so that no plan can choose it", cure)
    return _decide(lake, url, bucket, reason, forced=True)


def lift_force(lake: Lake, text: str, reason: str = "") -> Force:
    """Let the URL in `text` rank as any other again. Raises BadForce if it is not forced."""
    url, bucket = _target(lake, text)
    waiting = all_forces(lake)
    if url not in {each.url for each in waiting}:
        raise BadForce(url, "is not forced", f"Forced: {', '.join(each.url for each in waiting) or 'none'}")
    return _decide(lake, url, bucket, reason, forced=False)


def forces(lake: Lake, bucket: int) -> list[Force]:
    """The forces of `bucket` that no lifting has undone, served or not, by URL. Raises CorruptLake."""
    decisions = read_decisions(lake, _folder(lake, bucket), "force", lambda _, fields: Force(**fields))
    newest = {decision.url: decision for decision in decisions}
    return sorted((each for each in newest.values() if each.forced), key=lambda each: each.url)


def all_forces(lake: Lake) -> list[Force]:
    """The forces whose URLs were not asked for since, by URL."""
    found = []
    for bucket in range(lake.buckets):
        if made := forces(lake, bucket):
            asked_at = _known(lake, bucket, [each.url for each in made])
            found += [each for each in made if _is_waiting(each, asked_at)]
    return sorted(found, key=lambda each: each.url)


def keep_forces(lake: Lake, con: duckdb.DuckDBPyConnection, bucket: int) -> None:
    """Make the temporary table force_order (url_key, forced_at, reason) of `con`."""
    rows = [(url_key(each.url), datetime.fromisoformat(each.at), each.reason) for each in forces(lake, bucket)]
    query.keep_rows(con, "force_order", "url_key UBIGINT, forced_at TIMESTAMPTZ, reason VARCHAR", rows)


def _is_waiting(made: Force, asked_at: dict[str, datetime | None]) -> bool:
    if made.url not in asked_at:
        return False  # purged since
    last = asked_at[made.url]
    return last is None or last < datetime.fromisoformat(made.at)


def _known(lake: Lake, bucket: int, urls: list[str]) -> dict[str, datetime | None]:
    """When those of `urls` that are known were last asked for."""
    con = lake.connect()
    open_state(lake, con, bucket, lake.written("bucket", bucket))
    query.keep_rows(con, "wanted", "url_key UBIGINT", [(url_key(url),) for url in urls])
    return dict(query.run(con, "steering/asked").fetchall())


def _target(lake: Lake, text: str) -> tuple[str, int]:
    """The canonical URL that `text` spells, and its bucket."""
    found = canonicalize(text, None, lake.settings.url_rules)
    if not isinstance(found, CanonicalUrl):
        cure = "Write an absolute http or https URL"
        raise BadForce(without_userinfo(text), f"is no URL to crawl ({found.reason})", cure)
    return found.url, bucket_of(host_key(found.host), lake.buckets)


def _decide(lake: Lake, url: str, bucket: int, reason: str, *, forced: bool) -> Force:
    decision = Force(url, bucket, forced, lake.clock.now().isoformat(timespec="microseconds"), reason)
    add_decision(lake, _folder(lake, bucket), decision.to_dict())
    return decision


def _folder(lake: Lake, bucket: int) -> str:
    return f"{lake.layout}/{FORCES}/{partition_name('bucket', bucket)}"
