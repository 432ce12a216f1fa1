"""The closed list of what an observation can be, with what follows from each.

One table: the sentence shown to people, whether the server answered, and how long the URL then rests.
"""

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """What came of asking for a URL."""

    OK = "ok"
    NOT_MODIFIED = "not_modified"
    REDIRECTED = "redirected"
    GONE = "gone"
    DENIED_BY_ROBOTS = "denied_by_robots"
    ROBOTS_UNREACHABLE = "robots_unreachable"
    REFUSED = "refused"
    RATE_LIMITED = "rate_limited"
    CLIENT_ERROR = "client_error"
    SERVER_ERROR = "server_error"
    TIMED_OUT = "timed_out"
    DNS_FAILED = "dns_failed"
    CONNECT_FAILED = "connect_failed"
    TLS_FAILED = "tls_failed"
    PROTOCOL_ERROR = "protocol_error"
    UNWANTED_TYPE = "unwanted_type"
    BAD_CONTENT = "bad_content"
    BLOCKED_ADDRESS = "blocked_address"
    PARSER_FAILED = "parser_failed"
    TRAP = "trap"


class Kind(StrEnum):
    """How an outcome counts when a page's history is folded."""

    SUCCESS = "success"  # we know the page's content at that instant
    ABSENT = "absent"  # the site says there is no such page, or not for us
    ERROR = "error"  # neither: try again later, with back-off
    DENIED = "denied"  # we did not ask


@dataclass(frozen=True, slots=True)
class Consequence:
    """What follows from an outcome.

    rest_days: days until the URL may be planned again, by how many times in a row its kind was met; the last
    value repeats. Empty: no longer than after any fetch. A seed never rests longer than a year.
    """

    sentence: str
    kind: Kind
    rest_days: tuple[int, ...] = ()


RETIRED_DAYS = 36_500
"""The rest of a URL that was gone for years: a tombstone, unless it is a seed or somebody forces it."""

# A 404 may be a mistake of a day, so it is looked at again in the next cycle; what is still gone, ever more rarely.
_GONE = (1, 7, 30, 90, 365, RETIRED_DAYS)
_REFUSED = (1, 7, 30, 90)
# Ten failures in a row are no failure of the day: as if it were gone.
_BACK_OFF = (1, 2, 4, 8, 16, 30, 30, 30, 30, 90, 365, RETIRED_DAYS)
# Another robots.txt of the origin ends these rests. Where nothing else of the origin is asked for none is read, so
# places in the plan are spent on finding out: they would go to pages, so they must be few.
_DENIED = (7, 30, 90)
_UNREACHABLE = (1, 1, 2, 4, 8, 16, 30)

CONSEQUENCES: dict[Outcome, Consequence] = {
    Outcome.OK: Consequence("The page was fetched.", Kind.SUCCESS),
    Outcome.NOT_MODIFIED: Consequence("The server says that our copy is current (304).", Kind.SUCCESS),
    Outcome.REDIRECTED: Consequence("The server points elsewhere (3xx); the target is a link.", Kind.SUCCESS),
    Outcome.GONE: Consequence("The page is gone (404, 410).", Kind.ABSENT, _GONE),
    Outcome.DENIED_BY_ROBOTS: Consequence("robots.txt disallows the URL; it was not requested.", Kind.DENIED, _DENIED),
    Outcome.ROBOTS_UNREACHABLE: Consequence(
        "robots.txt could not be read, so nothing of its origin was requested (RFC 9309 2.3.1.4).",
        Kind.DENIED,
        _UNREACHABLE,
    ),
    Outcome.REFUSED: Consequence("The server refuses us (401, 403, 451).", Kind.ABSENT, _REFUSED),
    Outcome.RATE_LIMITED: Consequence("The server asks for fewer requests (429, 503 with Retry-After).", Kind.ERROR),
    Outcome.CLIENT_ERROR: Consequence("The server rejects the request (other 4xx).", Kind.ABSENT, _REFUSED),
    Outcome.SERVER_ERROR: Consequence("The server failed (5xx).", Kind.ERROR, _BACK_OFF),
    Outcome.TIMED_OUT: Consequence("The answer did not end in time.", Kind.ERROR, _BACK_OFF),
    Outcome.DNS_FAILED: Consequence("The host has no address.", Kind.ERROR, _BACK_OFF),
    Outcome.CONNECT_FAILED: Consequence("No connection to the host.", Kind.ERROR, _BACK_OFF),
    Outcome.TLS_FAILED: Consequence("The TLS handshake or the certificate failed.", Kind.ERROR, _BACK_OFF),
    Outcome.PROTOCOL_ERROR: Consequence("The answer breaks HTTP, or ends too early.", Kind.ERROR, _BACK_OFF),
    Outcome.UNWANTED_TYPE: Consequence("The content type is not one that is kept.", Kind.ABSENT, (90,)),
    Outcome.BAD_CONTENT: Consequence("The body cannot be decoded.", Kind.ERROR, _BACK_OFF),
    Outcome.BLOCKED_ADDRESS: Consequence("The host's address is private or otherwise refused.", Kind.DENIED, (30,)),
    Outcome.PARSER_FAILED: Consequence("The page could not be parsed within its limits.", Kind.ERROR, _BACK_OFF),
    Outcome.TRAP: Consequence("A trap rule stops the URL.", Kind.DENIED, (90,)),
}


def of_status(status: int, *, retry_after: bool = False) -> Outcome:
    """The outcome of a final HTTP status (RFC 9110). `retry_after`: the response carries that header."""
    if status == 304:
        return Outcome.NOT_MODIFIED
    if status in (301, 302, 303, 307, 308):
        return Outcome.REDIRECTED
    if 200 <= status < 300:
        return Outcome.OK
    if status in (404, 410):
        return Outcome.GONE
    if status in (401, 403, 451):
        return Outcome.REFUSED
    if status == 429 or (status == 503 and retry_after):
        return Outcome.RATE_LIMITED
    if 400 <= status < 500:
        return Outcome.CLIENT_ERROR
    if 500 <= status < 600:
        return Outcome.SERVER_ERROR
    return Outcome.PROTOCOL_ERROR
