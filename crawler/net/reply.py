"""What came of one request: plain values, without the libraries that brought them."""

import re
from dataclasses import dataclass
from datetime import datetime

from crawler.core.outcomes import Outcome

_ERROR_LENGTH = 200
_MEDIA_TYPE = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+")


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of one request.

    body: decoded, only where the outcome is `ok`. wire_bytes: of the body as transferred. truncated: the body was cut
    at the limit. sent: whether a request went out. ended: monotonic; elapsed: seconds from sending to the end.
    """

    outcome: Outcome
    status: int | None
    headers: list[tuple[str, str]]
    body: bytes | None
    wire_bytes: int
    truncated: bool
    address: str | None
    sent: bool
    error: str | None
    fetched_at: datetime
    ended_at: datetime
    ended: float
    elapsed: float

    def header(self, name: str) -> str | None:
        """The first value of a header, as the server wrote it (Latin-1)."""
        return first_value(self.headers, name)

    @property
    def media_type(self) -> str | None:
        """The Content-Type in lower case without parameters; None if there is none that can be read."""
        return media_type(self.headers)


class Abandoned(Exception):
    """We ended the request ourselves, so nothing is known of its page. reply: what it was like until then."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply)
        self.reply = reply


def first_value(headers: list[tuple[str, str]], name: str) -> str | None:
    """The first value of a header, whatever the case of its name."""
    name, length = name.lower(), len(name)
    for key, value in headers:
        if len(key) == length and key.lower() == name:  # the length alone tells most of them apart
            return value
    return None


def media_type(headers: list[tuple[str, str]]) -> str | None:
    """The media type in the Content-Type header, in lower case; None if there is none that can be read."""
    found = _MEDIA_TYPE.match((first_value(headers, "content-type") or "").strip().lower())
    return found.group() if found else None


def printable(text: str) -> str:
    """At most 200 printable characters of `text`, for a row."""
    return "".join(char if char.isprintable() else " " for char in text)[:_ERROR_LENGTH]
