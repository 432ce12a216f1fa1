"""Holds: hosts that an operator has stopped for a while, as data in the lake.

A hold or a release is one small file, `hold/bucket=BBBB/NNNNNNNN.json`, created if absent and never changed; of a
host the newest decides. They need no lease, so that they work while a fetch owns the bucket: it looks for itself.
"""

from dataclasses import asdict, dataclass
from typing import Any

from crawler.core.errors import BadHost, NotHeld
from crawler.core.keys import bucket_of, host_key
from crawler.core.urls import CanonicalUrl, canonicalize
from crawler.core.userinfo import without_userinfo
from crawler.store.decisions import add_decision, read_decisions
from crawler.store.lake import Lake, partition_name

HOLDS = "hold"


@dataclass(frozen=True, slots=True)
class Hold:
    """One decision about a host: held or released since `at`, an ISO instant, and why."""

    host: str
    bucket: int
    held: bool
    at: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def hold(lake: Lake, host: str, reason: str = "") -> Hold:
    """Stop asking `host` until it is released; a running fetch obeys soon, later ones at once. Raises BadHost."""
    return _decide(lake, host_name(host), reason, held=True)


def release(lake: Lake, host: str, reason: str = "") -> Hold:
    """Let `host` be asked again. Raises BadHost, NotHeld."""
    name = host_name(host)
    if name not in held_hosts(lake, bucket_of(host_key(name), lake.buckets)):
        raise NotHeld(name, ", ".join(each.host for each in all_held(lake)) or "none")
    return _decide(lake, name, reason, held=False)


def held_hosts(lake: Lake, bucket: int) -> dict[str, Hold]:
    """The hosts of `bucket` that are held now, with the decision that holds. Raises CorruptLake."""
    decisions = read_decisions(lake, _folder(lake, bucket), "hold", lambda _, fields: Hold(**fields))
    newest = {decision.host: decision for decision in decisions}
    return {host: decision for host, decision in sorted(newest.items()) if decision.held}


def all_held(lake: Lake) -> list[Hold]:
    """The hosts that are held now, by name."""
    found = [each for bucket in range(lake.buckets) for each in held_hosts(lake, bucket).values()]
    return sorted(found, key=lambda each: each.host)


def host_name(text: str) -> str:
    """The canonical name of the host that `text` names, be it a host or a URL. Raises BadHost."""
    is_url = "://" in text
    found = canonicalize(text if is_url else f"http://{text}/")
    if not isinstance(found, CanonicalUrl):
        raise BadHost(without_userinfo(text))
    if not is_url and ("@" in text or found.url != f"http://{found.host}/"):
        raise BadHost(without_userinfo(text))
    return found.host


def _decide(lake: Lake, host: str, reason: str, *, held: bool) -> Hold:
    bucket = bucket_of(host_key(host), lake.buckets)
    decision = Hold(host, bucket, held, lake.clock.now().isoformat(timespec="seconds"), reason)
    add_decision(lake, _folder(lake, bucket), decision.to_dict())
    return decision


def _folder(lake: Lake, bucket: int) -> str:
    return f"{lake.layout}/{HOLDS}/{partition_name('bucket', bucket)}"
