"""Whether a host's validators tell the truth.

A 304 is believed without seeing the page, so a server that answers it to whatever has changed would hide every change
from us. A small share of the pages is therefore asked for without their validators: an audit. If the answer carries
the validators that we have, the server would have claimed that nothing has changed; if something has, that is a lie.
A host that lies is asked without validators, which makes each of its answers an audit, until it has told the truth
often enough. Pure: no I/O, no clock.
"""

from dataclasses import dataclass

from xxhash import xxh3_64_intdigest

from crawler.core.cycle import Cycle
from crawler.core.model import Row, Target
from crawler.core.outcomes import Outcome

_LEAST_LIES = 2  # one may be a page that changed between two servers of the site
_MOST_LIES = 0.1  # share of the audits
_MEMORY = 64  # audits after which both counts are halved: what a host did long ago fades


@dataclass(slots=True)
class Trust:
    """What the audits of a host came to. audits: those that proved something; lies: among them."""

    audits: int = 0
    lies: int = 0

    @property
    def is_trusted(self) -> bool:
        """Whether a 304 of the host is worth asking for."""
        return self.lies < _LEAST_LIES or self.lies <= _MOST_LIES * self.audits

    def note(self, *, is_lie: bool) -> None:
        """Count an audit."""
        self.audits += 1
        self.lies += is_lie
        if self.audits >= _MEMORY:
            self.audits //= 2
            self.lies //= 2


def is_audit(target: Target, cycle: Cycle, share: float) -> bool:
    """Whether a page is one of the `share` that are asked for without validators in `cycle`: the same by every task."""
    return xxh3_64_intdigest(f"{target.url_key:016x} {cycle}".encode()) < share * 2.0**64


def is_lie(target: Target, observation: Row) -> bool | None:
    """What an audit has shown: the observation of `target`, asked for without validators. None: nothing.

    Content counts, as readers see it and as links are found in it; bytes that differ beside it do not.
    """
    if observation["outcome"] != Outcome.OK or observation["truncated"] or not _claims_unchanged(target, observation):
        return None
    if observation["body_digest"] == target.body_digest:
        return False
    if observation["content_changed"] is None:
        return None
    known, found = target.copy_digest, observation["copy_digest"]
    has_other_links = known is not None and found is not None and known != found
    return bool(observation["content_changed"]) or has_other_links


def _claims_unchanged(target: Target, observation: Row) -> bool:
    """Whether the server would have answered 304 to our validators (RFC 9110 13.2.2: an ETag comes first)."""
    if target.etag and observation["etag"]:
        return _opaque(target.etag) == _opaque(str(observation["etag"]))
    return bool(target.last_modified) and target.last_modified == observation["last_modified"]


def _opaque(etag: str) -> str:
    return etag.strip().removeprefix("W/")  # RFC 9110 13.1.2: compared weakly
