"""How a text becomes a canonical URL, step by step, for people to read.

Takes the steps of `crawler.core.urls` and looks at what each has made: there is no second way to an identity. What it
shows never holds a name or password of the URL.
"""

import re
from dataclasses import asdict, dataclass
from typing import Any

from ada_url import URL

from crawler.core.url_rules import NO_RULES, UrlRules
from crawler.core.urls import (
    DEFAULT_PORTS,
    MAX_TEXT_LENGTH,
    Dropped,
    Note,
    Origin,
    Reject,
    identify,
    locate,
    without_surrogates,
)
from crawler.core.userinfo import HIDDEN, authority, without_userinfo

_PORT = re.compile(r"(.*[^\[:]|.*\]):([0-9]*)", re.DOTALL)
_WHY = {
    "escapes": "what needs none is decoded, hex digits are upper case (RFC 3986 6.2.2)",
    "dot segments": "a session hid them",
    "path case": "this host's settings ignore case",
    "trailing slash": "this host's settings want it so",
    "parameters": "empty ones say nothing",
    "sort": "by name; values of one name keep their order",
}


@dataclass(frozen=True, slots=True)
class Step:
    """What one step made of the URL. name: e.g. `port`; url: after it; why: what it did, in words."""

    name: str
    url: str
    why: str


@dataclass(frozen=True, slots=True)
class Trace:
    """The way of one text. given: it, without name and password. steps: those that changed something, in order.

    url: the canonical form, None for a reject. reject: its reason. fetch_url: what would be requested.
    """

    given: str
    steps: tuple[Step, ...]
    url: str | None
    fetch_url: str | None
    reject: str | None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def trace(text: str, base: str | None = None, rules: UrlRules = NO_RULES) -> Trace:
    """What each step of `canonicalize` makes of `text`; the last URL is what `canonicalize` says."""
    given = without_userinfo(text)
    way = _Way(given)
    located = locate(text, base) if len(text) <= MAX_TEXT_LENGTH else Reject("too_long")
    if isinstance(located, Reject):
        return Trace(given, (), None, None, located.reason)
    origin, rest = located
    parsed_base = None if base is None else URL(without_surrogates(base))
    parsed = URL(without_surrogates(text), None if parsed_base is None else parsed_base.href)
    way.parsed(parsed, parsed_base, origin)
    found = identify(origin, rest, rules, way.identified(origin))
    if isinstance(found, Reject):
        return Trace(given, tuple(way.steps), None, None, found.reason)
    return Trace(given, tuple(way.steps), found.url, found.fetch_url, None)


class _Way:
    """Collects steps; one that changed nothing leaves none."""

    def __init__(self, given: str) -> None:
        self.steps: list[Step] = []
        self._url = given
        self._dropped = 0

    def parsed(self, url: URL, base: URL | None, origin: Origin) -> None:
        """The steps that the WHATWG parse takes at once, one after another."""
        hidden = f"{HIDDEN}@" if url.username or url.password else ""
        host, port = _raw_host(self._url, base) or (url.hostname, url.port and f":{url.port}")
        scheme, tail = url.protocol, url.pathname + url.search + url.hash
        self._step("parse", f"{scheme}//{hidden}{host}{port}{tail}", "resolved and read as a browser does")
        self._step("host", f"{scheme}//{hidden}{origin.host}{port}{tail}", f"{host} is {origin.host}")
        is_default = origin.port == DEFAULT_PORTS[origin.scheme]
        why = f"{origin.port} is the default of {origin.scheme}" if is_default else f"it is {origin.port}"
        self._step("port", f"{scheme}//{hidden}{origin.text.partition('//')[2]}{tail}", why)
        self._step("userinfo", f"{origin.text}{tail}", "name and password are neither kept nor sent")
        self._step("fragment", f"{origin.text}{url.pathname}{url.search}", "it is not sent to the server")

    def identified(self, origin: Origin) -> Note:
        """What `identify` tells of its steps."""

        def note(name: str, path: str, query: str, dropped: list[Dropped]) -> None:
            fresh, self._dropped = dropped[self._dropped :], len(dropped)
            why = "; ".join(f"{each.name} by {each.rule}" for each in fresh) or _WHY.get(name, "")
            self._step(name, f"{origin.text}{path}?{query}" if query else origin.text + path, why)

        return note

    def _step(self, name: str, url: str, why: str) -> None:
        if url != self._url:
            self.steps.append(Step(name, url, why))
            self._url = url


def _raw_host(text: str, base: URL | None) -> tuple[str, str] | None:
    """Host and port with its colon as `text` spells them; None if it has none and takes those of `base`."""
    found = authority(text)
    if found is None:
        return None
    scheme, colon, slashes = found[1].rpartition(":")
    if base is not None and colon and f"{scheme.lower()}:" == base.protocol and len(slashes) < len("//"):
        return None  # `https:x` is relative to a base of https
    spelled = found[2].rpartition("@")[2]
    if not spelled:
        return None  # more slashes than two stand before it
    ported = _PORT.fullmatch(spelled)
    return (ported[1], f":{ported[2]}") if ported else (spelled, "")
