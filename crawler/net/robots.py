"""robots.txt (RFC 9309): what it says to us, and what its absence means.

protego matches paths; this module reads the file for it, since it must agree with the RFC in which lines belong to
whom. Pure: no I/O.
"""

import math
import re
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit

from protego import Protego

from crawler.core.outcomes import Outcome
from crawler.net.reply import Reply

MAX_BYTES = 500 * 1024
MAX_HOPS = 5
RULES, ALLOW, DISALLOW, REDIRECT = "rules", "allow", "disallow", "redirect"

_LINE_END = re.compile(r"\r\n|\r|\n")
_LINE = re.compile(
    r"(?P<agent>user[- ]?agent)"
    r"|(?P<disallow>disallow|dissallow|dissalow|disalow|diasllow|disallaw|desallow)"
    r"|(?P<allow>allow)"
    r"|(?P<delay>crawl[- ]delay)"
    r"|(?P<rate>request[- ]rate)"
    r"|(?P<sitemap>site-?maps?)",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(r"\s*:\s*|\s+")
_TOKEN = re.compile(r"[A-Za-z_-]+")
_ANYBODY = "*"
_MARKUP = re.compile(r"\s*<(?:[!?a-z]|/)", re.IGNORECASE)
_MARKUP_TYPES = frozenset({"text/html", "application/xhtml+xml"})
# All of printable ASCII: only what would break a line or is no ASCII is encoded before protego reads it.
_KEPT = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ "


@dataclass(frozen=True, slots=True)
class Rules:
    """What one robots.txt says to one product token.

    crawl_delay: seconds. request_rate: requests and seconds. sitemaps: absolute http(s) URLs.
    """

    _matcher: Protego
    crawl_delay: float | None = None
    request_rate: tuple[int, int] | None = None
    sitemaps: tuple[str, ...] = ()

    def allowed(self, url: str) -> bool:
        """Whether `url`, of the origin that the file is for, may be fetched."""
        return self._matcher.can_fetch(url, _ANYBODY)

    @property
    def delay_seconds(self) -> float | None:
        """The pace that the file asks for: Crawl-delay or Request-rate, whichever is slower."""
        asked = [self.crawl_delay, self.request_rate and self.request_rate[1] / self.request_rate[0]]
        return max((delay for delay in asked if delay is not None), default=None)


def parse(body: bytes, product_token: str, *, robots_url: str = "") -> Rules:
    """The rules for `product_token` in a robots.txt. Never raises for what a site wrote.

    product_token: may be a whole user agent; its leading letters, `-` and `_` count. robots_url: for relative sitemaps.
    """
    ours, sitemaps = _read(body, product_token, robots_url)
    return Rules(Protego.parse(ours.text()), ours.delay, ours.rate(), sitemaps)


def deciding_line(body: bytes, product_token: str, url: str) -> str | None:
    """The line of a robots.txt that lets or keeps us from fetching `url`, e.g. `disallow: /x`; None if no line does."""
    group, _ = _read(body, product_token, "")
    field = "allow" if Protego.parse(group.text()).can_fetch(url, _ANYBODY) else "disallow"
    matching = [value for kind, value in group.rules if kind == field and _matches(value, url)]
    return f"{field}: {max(matching, key=len)}" if matching else None


def _matches(pattern: str, url: str) -> bool:
    alone = _Group()
    alone.rules["disallow", pattern] = None
    return not Protego.parse(alone.text()).can_fetch(url, _ANYBODY)


def _read(body: bytes, product_token: str, robots_url: str) -> tuple["_Group", tuple[str, ...]]:
    """The group of a product token, and the sitemaps."""
    groups = _Groups(product_token)
    sitemaps: dict[str, None] = {}
    for line in _LINE_END.split(_decode(body)):
        text = line.partition("#")[0].strip(" \t\x00\x0b\x0c")
        found = _LINE.match(text)
        separator = _SEPARATOR.match(text, found.end()) if found else None
        if not found or (not separator and found.end() < len(text)):
            continue  # an unknown line, which ends nothing (RFC 9309 2.2.4)
        value = text[separator.end() :].strip() if separator else ""
        if found.lastgroup == "sitemap":
            if url := _sitemap(value, robots_url):
                sitemaps[url] = None
        else:
            groups.add(found.lastgroup or "", value)
    return groups.ours, tuple(sitemaps)


def verdict(reply: Reply, hop: int) -> str:
    """What a reply to the request for a robots.txt means (RFC 9309 2.3.1): rules, allow, disallow or redirect.

    hop: redirects followed before this reply.
    """
    if reply.outcome is Outcome.OK:
        return RULES
    if reply.status in (204, 205):
        return ALLOW
    if reply.outcome is Outcome.REDIRECTED:
        return REDIRECT if hop < MAX_HOPS else ALLOW
    if reply.status is not None and 400 <= reply.status < 500 and reply.status != 429:
        return ALLOW
    return DISALLOW


def is_suspect(reply: Reply) -> bool:
    """Whether a 200 looks like a page rather than a robots.txt: by its media type, or because it opens with markup.

    It is read as rules all the same: RFC 9309 2.2 asks to use what can be parsed, whatever stands around it.
    """
    if reply.outcome is not Outcome.OK or reply.body is None:
        return False
    return reply.media_type in _MARKUP_TYPES or _MARKUP.match(_decode(reply.body[:1024])) is not None


class _Group:
    """The rules under one or more user-agent lines."""

    def __init__(self) -> None:
        self.rules: dict[tuple[str, str], None] = {}
        self.delay: float | None = None
        self.rates: dict[str, None] = {}

    def text(self) -> str:
        lines = [f"{field}: {quote(value, safe=_KEPT)}" for field, value in self.rules]
        return "\n".join(["user-agent: *", *lines])

    def rate(self) -> tuple[int, int] | None:
        rates = []
        for text in self.rates:
            found = Protego.parse(f"user-agent: *\nrequest-rate: {text}").request_rate(_ANYBODY)
            if found:
                rates.append((found.requests, found.seconds))
        return max(rates, key=lambda rate: rate[1] / rate[0], default=None)


class _Groups:
    """The group of one product token, and everybody's, which counts where the token has none.

    Other groups are only followed to see where ours begin and end, so a file cannot make its own size squared of them.
    """

    def __init__(self, product_token: str) -> None:
        found = _TOKEN.match(product_token)
        self._token = found.group().lower() if found else ""
        self._by_token: dict[str, _Group] = {}
        self._ruled: set[str] = set()  # which of the two the next allow or disallow is for
        self._paced: set[str] = set()  # which of them the next crawl-delay is for
        self._ruled_is_over = False
        self._paced_is_over = False

    @property
    def ours(self) -> _Group:
        return self._by_token.get(self._token) or self._by_token.get(_ANYBODY) or _Group()

    def add(self, field: str, value: str) -> None:
        match field:
            case "agent":
                self._start(value)
            case "allow" | "disallow":
                self._ruled_is_over = self._paced_is_over = True
                if value:
                    for token in self._ruled:
                        self._by_token[token].rules[field, value] = None
            case "delay":
                # Not of the RFC, so it does not end a run of user agents that share rules.
                self._paced_is_over = True
                seconds = _seconds(value)
                for token in self._paced:
                    group = self._by_token[token]
                    group.delay = max(filter(None, (group.delay, seconds)), default=seconds)
            case "rate":
                self._paced_is_over = True
                for token in self._paced:
                    self._by_token[token].rates[quote(value, safe=_KEPT)] = None

    def _start(self, value: str) -> None:
        if self._ruled_is_over:
            self._ruled, self._ruled_is_over = set(), False
        if self._paced_is_over:
            self._paced, self._paced_is_over = set(), False
        named = _TOKEN.match(value.replace(_ANYBODY, ""))
        token = _ANYBODY if value.split()[:1] == [_ANYBODY] else named.group().lower() if named else None
        if token is not None and token in (self._token, _ANYBODY):
            self._by_token.setdefault(token, _Group())
            self._ruled.add(token)
            self._paced.add(token)


def _decode(body: bytes) -> str:
    text = _decoded(body[:MAX_BYTES])
    if len(body) >= MAX_BYTES:
        # Half of a rule is another rule: `disallow: /private` cut short is `disallow: /`.
        text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1]
    return text


def _decoded(body: bytes) -> str:
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return body.decode("utf-16", "replace")
    # A broken byte order mark is one as well.
    for mark in (b"\xef\xbb\xbf", b"\xef\xbb", b"\xef"):
        if body.startswith(mark):
            body = body[len(mark) :]
            break
    return body.decode("utf-8", "replace")


def _seconds(value: str) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _sitemap(value: str, robots_url: str) -> str | None:
    if not value:
        return None
    try:
        url = urljoin(robots_url, value)
        return url if urlsplit(url).scheme in ("http", "https") and urlsplit(url).hostname else None
    except ValueError:
        return None
