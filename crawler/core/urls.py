"""The identity of a URL: its canonical form, its path pattern, and the traps that its shape gives away.

Canonical = WHATWG parse (ada-url), then steps of RFC 3986 6.2.2 that WHATWG leaves out, then what names a visit
instead of a page dropped: fragment, credentials, tracking and session parameters (`dropped_parameters.txt`).
Trailing slash and letter case of the path are kept. Canonicalising twice changes nothing, and no text makes it raise.
It knows no scope and no setting but the trap limits that it is given.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Protocol

from ada_url import URL
from xxhash import xxh3_64_intdigest

MAX_URL_LENGTH = 2048
"""Characters of a canonical URL; longer ones are rejected."""

_MAX_FETCH_LENGTH = 8000  # RFC 9110 4.1: what a server should at least understand
_MAX_TEXT_LENGTH = 1 << 16  # of the text before cleaning, so that a megabyte of href costs nothing
_MAX_HOST_LENGTH = 253  # RFC 1035 2.3.4, without the root dot
_MAX_LABEL_LENGTH = 63
_DEFAULT_PORTS = {"http": 80, "https": 443}
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})?")
_SURROGATE = re.compile("[\ud800-\udfff]")
_FOLD_DIGITS = bytes(0x30 if 0x30 <= byte <= 0x39 else byte for byte in range(256))
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,}")
_PATH_CHARACTER = r"[A-Za-z0-9_~!$&'*+,=@-]"  # without what needs a look: dots, escapes, sessions, colons
# A URL whose path WHATWG takes as it stands: but for leading `../`, no dot segment, escape or odd character is in it.
_PLAIN = re.compile(
    rf"""(?:(https?://[A-Za-z0-9.-]{{1,253}}(?::[0-9]{{1,5}})?)(?![^/?#])|(?=/(?!/))|((?:[.][.]/)*+)(?={_PATH_CHARACTER}))
    ((?:{_PATH_CHARACTER}[.]?+)*+(?:/(?:(?:{_PATH_CHARACTER}|:)++[.]?+)*+)*+)
    (?:[?]([A-Za-z0-9_~!$&()*+,./:;=?@%-]*+))?+
    (?:[#].*+)?+""",
    re.DOTALL | re.VERBOSE,
)
# ASP.NET keeps a cookieless session in a segment of its own: /(S(lit3py55t21z5v55vlm25s55))/page.aspx
_ASP_SESSION = re.compile(r"/\((?:[AFSX]\([^()/]+\))+\)(?=/)")


@dataclass(frozen=True, slots=True)
class CanonicalUrl:
    """An http or https URL.

    url: the canonical form, the identity. fetch_url: what to request, as it was found but without fragment and
    credentials. host: as in `url`, without port, IPv6 in brackets. dropped: names of the parameters left out.
    """

    url: str
    fetch_url: str
    host: str
    scheme: str
    port: int
    dropped: tuple[str, ...] = field(default=(), compare=False)


class ShapeLimits(Protocol):
    """What a URL's shape may be, see the settings `traps`."""

    @property
    def max_depth(self) -> int: ...
    @property
    def max_url_length(self) -> int: ...
    @property
    def max_path_segments(self) -> int: ...
    @property
    def max_repeated_segments(self) -> int: ...
    @property
    def max_query_parameters(self) -> int: ...


@dataclass(frozen=True, slots=True)
class _Origin:
    text: str
    scheme: str
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Reject:
    """Why a text is no URL to crawl: bad_url, bad_scheme, bad_host, bad_port or too_long."""

    reason: str


def canonicalize(text: str, base: str | None = None) -> CanonicalUrl | Reject:
    """The canonical form of `text`, resolved against `base` (an absolute URL) where it is relative."""
    if len(text) > _MAX_TEXT_LENGTH:
        return Reject("too_long")
    plain = _PLAIN.fullmatch(text)
    located = _locate_plain(plain, base) if plain else _locate(text, base)
    if isinstance(located, Reject):
        return located
    origin, rest = located

    path, _, query = rest.partition("?")
    dropped: list[str] = []
    clean = path
    if "%" in path or "[" in path or "]" in path:
        clean = _normalise_escapes(clean)
    if ";" in path or "(" in path:
        clean = _without_sessions(clean, dropped)
    if dropped and "/." in clean:
        clean = _without_dot_segments(clean)
    url = origin.text + clean
    if query and (query := _clean_query(query, dropped)):
        url = f"{url}?{query}"
    fetch_url = origin.text + rest
    if len(url) > MAX_URL_LENGTH or len(fetch_url) > _MAX_FETCH_LENGTH:
        return Reject("too_long")
    return CanonicalUrl(url, fetch_url, origin.host, origin.scheme, origin.port, tuple(dropped))


def pattern_key(url: str) -> int:
    """The xxh3_64 of the canonical URL's host and path with runs of digits folded to 0, and its parameters' names."""
    address, _, query = url.partition("?")
    host, _, path = address.partition("://")[2].partition("/")
    pattern = path.encode().translate(_FOLD_DIGITS)
    while b"00" in pattern:
        pattern = pattern.replace(b"00", b"0")
    names = "&".join(sorted({piece.partition("=")[0] for piece in query.split("&")})) if query else ""
    return xxh3_64_intdigest(b"%b/%b?%b" % (host.encode(), pattern, names.encode()))


def shape_trap(url: str, depth: int, traps: ShapeLimits) -> str | None:
    """The setting that the canonical URL's shape breaks, e.g. `traps.max_depth`; None if it breaks none.

    depth: links from a seed.
    """
    if depth > traps.max_depth:
        return "traps.max_depth"
    if len(url) > traps.max_url_length:
        return "traps.max_url_length"
    address, _, query = url.partition("?")
    repeats = traps.max_repeated_segments
    if address.count("/") - 2 <= min(repeats, traps.max_path_segments) and not query:
        return None  # too short to break anything, as most are
    segments = [segment for segment in address.split("/")[3:] if segment]
    if len(segments) > traps.max_path_segments:
        return "traps.max_path_segments"
    names = [piece.partition("=")[0] for piece in query.split("&")] if query else []
    if len(names) > traps.max_query_parameters:
        return "traps.max_query_parameters"
    for words in (segments, names):
        if len(words) > repeats and max(Counter(words).values()) > repeats:
            return "traps.max_repeated_segments"
    return None


def normalise_path(text: str) -> str:
    """`text`, a path or a pattern of paths, with its escapes written as canonical URLs write them."""
    encoded = "".join(c if " " < c <= "~" else "".join(f"%{byte:02X}" for byte in _utf8(c)) for c in text)
    return _normalise_escapes(encoded)


def _locate(text: str, base: str | None) -> tuple[_Origin, str] | Reject:
    """Origin, and path with query, of any text: the WHATWG parse."""
    try:
        href = URL(text, base).href
    except UnicodeEncodeError:
        return _locate(_SURROGATE.sub("\ufffd", text), base and _SURROGATE.sub("\ufffd", base))
    except ValueError:
        return Reject("bad_url")
    # ada has serialised the URL, so the first of each delimiter is the one that counts.
    scheme, _, rest = href.partition("#")[0].partition("://")
    if scheme not in _DEFAULT_PORTS:
        return Reject("bad_scheme")
    authority, _, path_and_query = rest.partition("/")
    host, port = _split_port(authority.rpartition("@")[2])
    host = host.removesuffix(".")
    if not _is_host(host):
        return Reject("bad_host")
    if port == "0":
        return Reject("bad_port")
    if port:
        return _Origin(f"{scheme}://{host}:{port}", scheme, host, int(port)), "/" + path_and_query
    return _Origin(f"{scheme}://{host}", scheme, host, _DEFAULT_PORTS[scheme]), "/" + path_and_query


def _locate_plain(plain: re.Match[str], base: str | None) -> tuple[_Origin, str] | Reject:
    """The same as `_locate` for a match of `_PLAIN`, whose path needs no WHATWG parse: a fifth of the time."""
    origin_text, up, path, query = plain.groups()
    if origin_text:
        located = _locate_base(origin_text)
    elif base is None:
        return Reject("bad_url")
    else:
        located = _locate_base(base)
    if isinstance(located, Reject):
        return located
    origin, directory = located
    if up is not None:
        for _ in range(len(up) // 3):
            directory = directory[:-1].rpartition("/")[0] + "/"
        path = directory + path
    path = path or "/"
    return origin, path if query is None else f"{path}?{query}"


@lru_cache(maxsize=1024)
def _locate_base(base: str) -> tuple[_Origin, str] | Reject:
    """The origin of a base URL, and its path up to the last slash."""
    located = _locate(base, None)
    if isinstance(located, Reject):
        return located
    origin, rest = located
    return origin, rest.partition("?")[0].rpartition("/")[0] + "/"


def _without_dot_segments(path: str) -> str:
    return URL("http://host" + path).pathname


def _utf8(character: str) -> bytes:
    return character.encode("utf-8", "replace")


def _split_port(authority: str) -> tuple[str, str]:
    if authority.endswith("]"):
        return authority, ""
    host, colon, port = authority.rpartition(":")
    return (host, port) if colon else (authority, "")


def _is_host(host: str) -> bool:
    if host.startswith("["):
        return True
    return 0 < len(host) <= _MAX_HOST_LENGTH and all(0 < len(label) <= _MAX_LABEL_LENGTH for label in host.split("."))


def _normalise_escapes(text: str) -> str:
    return _ESCAPE.sub(_normalise_escape, text).replace("[", "%5B").replace("]", "%5D")


def _normalise_escape(escape: re.Match[str]) -> str:
    digits = escape[1]
    if digits is None:
        return "%25"
    character = chr(int(digits, 16))
    return character if character in _UNRESERVED else f"%{digits.upper()}"


def _clean_query(query: str, dropped: list[str]) -> str:
    if "%" in query or "[" in query or "]" in query:
        query = _normalise_escapes(query)
    kept: list[tuple[str, str]] = []
    for piece in query.split("&"):
        if not piece:
            continue
        name, _, value = piece.partition("=")
        if _names_a_visit(name.lower(), value):
            dropped.append(name)
        else:
            kept.append((name, piece))
    if len(kept) > 1:
        kept.sort(key=_name)  # stable: values of one name keep their order
    return "&".join([piece for _, piece in kept])


def _name(parameter: tuple[str, str]) -> str:
    return parameter[0]


def _names_a_visit(name: str, value: str) -> bool:
    if name in _DROPPED["query"] or name.startswith(_DROPPED_PREFIXES):
        return True
    return name in _DROPPED["token"] and _TOKEN.fullmatch(value) is not None


def _without_sessions(path: str, dropped: list[str]) -> str:
    while True:
        shorter = _ASP_SESSION.sub("", _PATH_SESSION.sub("", path))
        if shorter == path:
            return path
        dropped.append("path_session")
        path = shorter


def _read_dropped() -> tuple[dict[str, frozenset[str]], tuple[str, ...]]:
    names: dict[str, set[str]] = {"query": set(), "token": set(), "path": set()}
    prefixes = []
    for line in files("crawler.core").joinpath("dropped_parameters.txt").read_text("utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        kind, name = line.split()
        if name.endswith("*"):
            prefixes.append(name.removesuffix("*"))
        else:
            names[kind].add(name)
    return {kind: frozenset(members) for kind, members in names.items()}, tuple(prefixes)


_DROPPED, _DROPPED_PREFIXES = _read_dropped()
_PATH_SESSION = re.compile(rf";(?:{'|'.join(sorted(map(re.escape, _DROPPED['path'])))})=[^;/]*", re.IGNORECASE)
