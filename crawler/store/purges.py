"""Purges: URLs and hosts that a takedown has removed, as data in the lake.

A purge or its lifting is one small file, `purge/NNNNNNNN.json`, created if absent and never changed; of a name the
newest decides. It works at once: what is purged is neither planned, nor asked for by a fetch that begins, nor made
known again by a link. `erase.py` then takes the content out of the lake and says so in `purge/NNNNNNNN-erased.json`.
"""

import json
from dataclasses import asdict, dataclass
from typing import Any

import duckdb

from crawler.core.errors import BadPurge
from crawler.core.keys import bucket_of, host_key, url_key
from crawler.core.url_rules import UrlRules
from crawler.core.urls import CanonicalUrl, canonicalize
from crawler.core.userinfo import without_userinfo
from crawler.store import query
from crawler.store.decisions import add_decision, read_decisions
from crawler.store.holds import host_name
from crawler.store.lake import Lake

PURGES = "purge"
RULE = "purge"
_NOT_WRITTEN = frozenset({"number", "is_erased", "identity"})


@dataclass(frozen=True, slots=True)
class Purge:
    """One decision: the URL or host `name` is purged, or its purge lifted, since `at`, an ISO instant, and why.

    kind: url or host. host: the one it is about. number: of its file. is_erased: whether the content is out of the
    lake. identity: the name under the URL rules of today, which may differ from those that it was given under.
    """

    number: int
    kind: str
    name: str
    host: str
    at: str
    reason: str
    lifted: bool = False
    is_erased: bool = False
    identity: str = ""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def covers(self, url: str, host: str) -> bool:
        """Whether the decision is about `url`, a canonical URL of `host`."""
        return (url if self.kind == "url" else host) in (self.name, self.identity)


def intended(lake: Lake, text: str, reason: str = "") -> Purge:
    """The purge in force of what `text` names, else the one to come. Writes nothing. Raises BadPurge, BadHost."""
    kind, name, host = _target(lake, text)
    return _in_force(lake).get(name) or Purge(0, kind, name, host, _now(lake), reason, identity=name)


def purge(lake: Lake, text: str, reason: str = "") -> Purge:
    """Decide that the URL or host in `text` is purged, unless it is already. Raises BadPurge, BadHost."""
    wanted = intended(lake, text, reason)
    return wanted if wanted.number else _decide(lake, wanted)


def lift(lake: Lake, text: str, reason: str = "") -> Purge:
    """Let what `text` names be found and fetched again. Raises BadPurge if it is not purged."""
    kind, name, host = _target(lake, text)
    purged = _in_force(lake)
    if name not in purged:
        raise BadPurge(name, f"is not purged (purged: {', '.join(sorted(purged)) or 'none'})")
    given = purged[name].name
    return _decide(lake, Purge(0, kind, given, host, _now(lake), reason, lifted=True, identity=name))


def all_purges(lake: Lake) -> list[Purge]:
    """The purges in force, oldest first. Raises CorruptLake."""
    return sorted(_in_force(lake).values(), key=lambda each: each.number)


def purge_of(lake: Lake, url: str, host: str) -> Purge | None:
    """The purge in force of `url`, a canonical URL of `host`; None if there is none."""
    return next((each for each in all_purges(lake) if each.covers(url, host)), None)


def purged_hosts(lake: Lake, bucket: int) -> frozenset[str]:
    """The hosts of `bucket` that are purged."""
    hosts = (each.host for each in all_purges(lake) if each.kind == "host")
    return frozenset(host for host in hosts if bucket_of(host_key(host), lake.buckets) == bucket)


def keep_purged(lake: Lake, con: duckdb.DuckDBPyConnection) -> None:
    """Make the temporary tables purged_url (url_key, host) and purged_host (host) of `con`."""
    found = all_purges(lake)
    urls = [(url_key(name), each.host) for each in found if each.kind == "url" for name in {each.name, each.identity}]
    query.keep_rows(con, "purged_url", "url_key UBIGINT, host VARCHAR", urls)
    query.keep_rows(con, "purged_host", "host VARCHAR", [(each.host,) for each in found if each.kind == "host"])


def keep_digests(lake: Lake, unfinished: Purge, digests: set[bytes]) -> set[bytes]:
    """Add `digests` to those that are to be erased until `mark_erased`, and return all of them.

    A run that is killed has cleaned the rows that the digests were found in; the next one still knows them.
    """
    name = _digests_name(unfinished.number)
    kept = digests | {
        bytes.fromhex(each) for each in json.loads(lake.files.read(name) if lake.files.exists(name) else b"[]")
    }
    lake.files.put_bytes(json.dumps(sorted(digest.hex() for digest in kept)).encode(), name)
    return kept


def mark_erased(lake: Lake, done: Purge, counts: dict[str, int]) -> None:
    """Write down that the content is out of the lake. Doing it again changes nothing."""
    content = json.dumps({"at": _now(lake), **counts}).encode()
    lake.files.create_bytes(content, _erased_name(done.number))
    lake.files.delete(_digests_name(done.number))


def _in_force(lake: Lake) -> dict[str, Purge]:
    """By identity, so that of two names that the rules made one the newest decision holds."""
    present, rules = set(lake.files.names(PURGES)), lake.settings.url_rules

    def made(number: int, fields: dict[str, Any]) -> Purge:
        is_erased = _erased_name(number).removeprefix(f"{PURGES}/") in present
        return Purge(number=number, is_erased=is_erased, identity=_identity(fields, rules), **fields)

    newest = {decision.identity: decision for decision in read_decisions(lake, PURGES, "purge", made)}
    return {name: decision for name, decision in newest.items() if not decision.lifted}


def _identity(fields: dict[str, Any], rules: UrlRules) -> str:
    name = str(fields["name"])
    found = canonicalize(name, None, rules) if fields["kind"] == "url" else None
    return found.url if isinstance(found, CanonicalUrl) else name


def _decide(lake: Lake, wanted: Purge) -> Purge:
    fields = {name: value for name, value in wanted.to_dict().items() if name not in _NOT_WRITTEN}
    return Purge(number=add_decision(lake, PURGES, fields), identity=wanted.identity, **fields)


def _target(lake: Lake, text: str) -> tuple[str, str, str]:
    """Kind, name and host of what `text` names: with `://` a URL, else a host."""
    if "://" not in text:
        host = host_name(text)
        return "host", host, host
    found = canonicalize(text, None, lake.settings.url_rules)
    if not isinstance(found, CanonicalUrl):
        raise BadPurge(without_userinfo(text), f"is no URL to crawl ({found.reason})")
    return "url", found.url, found.host


def _erased_name(number: int) -> str:
    return f"{PURGES}/{number:08d}-erased.json"


def _digests_name(number: int) -> str:
    return f"{PURGES}/{number:08d}-digests.json"


def _now(lake: Lake) -> str:
    return lake.clock.now().isoformat(timespec="seconds")
