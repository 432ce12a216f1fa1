"""The identity of a URL: its canonical form.

Canonical = WHATWG parse (ada-url), then steps of RFC 3986 6.2.2 that WHATWG leaves out, then what names a visit
instead of a page dropped: fragment, credentials, and the parameters that `UrlRules` drops. Trailing slash and letter
case of the path are kept unless a host's rules say otherwise. Canonicalising twice changes nothing, and no text makes
it raise. It knows no scope; the settings reach it as `UrlRules`.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from ada_url import URL, idna_to_unicode

from crawler.core.escapes import encode, normalise_escapes
from crawler.core.url_rules import DATA_FILE, NO_RULES, HostRules, UrlRules

MAX_URL_LENGTH = 2048
"""Characters of a canonical URL; longer ones are rejected."""
MAX_TEXT_LENGTH = 1 << 16
"""Characters of the text before it is cleaned, so that a megabyte of href costs nothing."""

_MAX_FETCH_LENGTH = 8000  # RFC 9110 4.1: what a server should at least understand
_MAX_HOST_LENGTH = 253  # RFC 1035 2.3.4, without the root dot
_MAX_LABEL_LENGTH = 63
DEFAULT_PORTS = {"http": 80, "https": 443}
_MEMORY = 1 << 13  # of origins and of base URLs
_new = tuple.__new__  # of a NamedTuple, in half the time that its own takes
_SURROGATE = re.compile("[\ud800-\udfff]")
# A URL whose path WHATWG takes as it stands: but for leading `../`, no dot segment and no odd character is in it.
_PATH = r"A-Za-z0-9_~!$&'()*+,;=@-"
_ESCAPED = r"%(?!2[Ee])[0-9A-Fa-f]{2}"  # but no dot
_PLAIN = re.compile(
    rf"""(?:(https?://[A-Za-z0-9.-]{{1,253}}(?::[0-9]{{1,5}})?)(?![^/?#])|(?=/(?!/))|((?:[.][.]/)*+)(?=[%{_PATH}]))
    ((?:(?:[{_PATH}]++|{_ESCAPED})[.]?+)*+(?:/(?:(?:[:{_PATH}]++|{_ESCAPED})[.]?+)*+)*+)
    (?:[?]([A-Za-z0-9_~!$&()*+,./:;=?@%-]*+))?+
    (?:[#].*+)?+""",
    re.DOTALL | re.VERBOSE,
)
# A path without a query that no step changes: the steps look at escapes, brackets and what a session may begin with.
_USUAL = re.compile(r"[A-Za-z0-9_~!$&'*+,=@:/.|-]*+").fullmatch
# ASP.NET keeps a cookieless session in a segment of its own: /(S(lit3py55t21z5v55vlm25s55))/page.aspx
_ASP_SESSION = re.compile(r"/\((?:[AFSX]\([^()/]+\))+\)(?=/)")


class CanonicalUrl(NamedTuple):
    """An http or https URL.

    url: the canonical form, the identity. fetch_url: what to request, as it was found but without fragment and
    credentials. host: as in `url`, without port, IPv6 in brackets. dropped: names of the parameters left out.
    """

    url: str
    fetch_url: str
    host: str
    scheme: str
    port: int
    dropped: tuple[str, ...] = ()


class Reject(NamedTuple):
    """Why a text is no URL to crawl: bad_url, bad_scheme, bad_host, bad_port or too_long."""

    reason: str


class Origin(NamedTuple):
    """Scheme, host and port; text: as a canonical URL begins."""

    text: str
    scheme: str
    host: str
    port: int


class Dropped(NamedTuple):
    """A parameter that is no part of the identity, and the rule that says so."""

    name: str
    rule: str


_PATH_SESSION = Dropped("path_session", f"{DATA_FILE} path")

Note = Callable[[str, str, str, list[Dropped]], None]
"""Told what a step has made: its name, the path and the query after it, and all that was dropped so far."""


def canonicalize(text: str, base: str | None = None, rules: UrlRules = NO_RULES) -> CanonicalUrl | Reject:
    """The canonical form of `text`, resolved against `base` (an absolute URL) where it is relative."""
    if len(text) > MAX_TEXT_LENGTH:
        return Reject("too_long")
    plain = _PLAIN.fullmatch(text)
    located = _locate_plain(plain, base) if plain else locate(text, base)
    return located if isinstance(located, Reject) else identify(*located, rules)


def identify(origin: Origin, rest: str, rules: UrlRules, note: Note | None = None) -> CanonicalUrl | Reject:
    """The canonical form of a URL that is parsed: its origin, and its path with its query.

    note: told of each step, whether it changed something or not.
    """
    text, scheme, host, port = origin
    own = rules.of(host) if rules.hosts else rules.everywhere
    if _USUAL(rest) and not own.changes_paths and len(text) + len(rest) <= MAX_URL_LENGTH:
        url = text + rest  # no step would change it
        return _new(CanonicalUrl, (url, url, host, scheme, port, ()))
    path, _, query = rest.partition("?")
    dropped: list[Dropped] = []
    clean = path
    if "%" in rest or "[" in rest or "]" in rest:
        clean, query = normalise_escapes(path), normalise_escapes(query)
        if note:
            note("escapes", clean, query, dropped)
    if ";" in clean or "(" in clean or own.changes_paths:
        clean = _identify_path(clean, query, own, dropped, note)
    if query:
        query = _identify_query(clean, query, own, dropped, note)
    url = f"{text}{clean}?{query}" if query else text + clean
    fetch_url = text + rest
    if len(url) > MAX_URL_LENGTH or len(fetch_url) > _MAX_FETCH_LENGTH:
        return Reject("too_long")
    names = tuple([name for name, _ in dropped]) if dropped else ()
    return _new(CanonicalUrl, (url, fetch_url, host, scheme, port, names))


def locate(text: str, base: str | None) -> tuple[Origin, str] | Reject:
    """Origin, and path with query, of any text: the WHATWG parse."""
    try:
        href = URL(text, base).href
    except UnicodeEncodeError:
        return locate(without_surrogates(text), base and without_surrogates(base))
    except ValueError:
        return Reject("bad_url")
    # ada has serialised the URL, so the first of each delimiter is the one that counts.
    scheme, _, rest = href.partition("#")[0].partition("://")
    if scheme not in DEFAULT_PORTS:
        return Reject("bad_scheme")
    authority, _, path_and_query = rest.partition("/")
    host, port = _split_port(authority.rpartition("@")[2])
    host = host.removesuffix(".")
    if not _is_host(host):
        return Reject("bad_host")
    if port == "0":
        return Reject("bad_port")
    if port:
        return Origin(f"{scheme}://{host}:{port}", scheme, host, int(port)), "/" + path_and_query
    return Origin(f"{scheme}://{host}", scheme, host, DEFAULT_PORTS[scheme]), "/" + path_and_query


def normalise_path(text: str) -> str:
    """`text`, a path or a pattern of paths, with its escapes written as canonical URLs write them."""
    return normalise_escapes(encode(text))


def without_surrogates(text: str) -> str:
    """`text` with what UTF-8 cannot encode replaced."""
    return _SURROGATE.sub("\ufffd", text)


def _locate_plain(plain: re.Match[str], base: str | None) -> tuple[Origin, str] | Reject:
    """The same as `locate` for a match of `_PLAIN`, whose path needs no WHATWG parse: a fifth of the time."""
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


@lru_cache(_MEMORY)
def _locate_base(base: str) -> tuple[Origin, str] | Reject:
    """The origin of a base URL, and its path up to the last slash."""
    located = locate(base, None)
    if isinstance(located, Reject):
        return located
    origin, rest = located
    return origin, rest.partition("?")[0].rpartition("/")[0] + "/"


def _is_no_punycode(label: str) -> bool:
    return label.startswith("xn--") and idna_to_unicode(label.encode()) == label


def _split_port(authority: str) -> tuple[str, str]:
    if authority.endswith("]"):
        return authority, ""
    host, colon, port = authority.rpartition(":")
    return (host, port) if colon else (authority, "")


def _is_host(host: str) -> bool:
    if host.startswith("["):
        return True
    # ada takes labels that begin as punycode for what they are; UTS 46 fails where they are none.
    if "xn--" in host and any(map(_is_no_punycode, host.split("."))):
        return False
    return 0 < len(host) <= _MAX_HOST_LENGTH and all(0 < len(label) <= _MAX_LABEL_LENGTH for label in host.split("."))


def _identify_path(path: str, query: str, own: HostRules, dropped: list[Dropped], note: Note | None) -> str:
    """The path without sessions, as the host's rules write it."""
    while True:
        clean = _without_sessions(path, own, dropped)
        if note:
            note("path session", clean, query, dropped)
        if clean != path and "/." in clean:
            clean = URL("http://host" + clean).pathname  # a session may have hidden a dot segment
            if note:
                note("dot segments", clean, query, dropped)
        if own.changes_paths:
            clean = own.letters(clean)
            if note:
                note("path case", clean, query, dropped)
            clean = own.slash(clean)
            if note:
                note("trailing slash", clean, query, dropped)
        if clean == path:
            return clean
        path = clean  # what is gone or added may have made a session of what was none


def _without_sessions(path: str, own: HostRules, dropped: list[Dropped]) -> str:
    while True:
        shorter = _ASP_SESSION.sub("", own.path_sessions.sub("", path))
        if shorter == path:
            return path
        dropped.append(_PATH_SESSION)
        path = shorter


def _identify_query(path: str, query: str, own: HostRules, dropped: list[Dropped], note: Note | None) -> str:
    """What of the query is part of the identity, by name; values of one name keep their order."""
    kept: list[tuple[str, str]] = []
    for piece in query.split("&"):
        name, _, value = piece.partition("=")
        if not piece:
            continue
        rule = own.dropped_by(name.lower(), value)
        if rule is None:
            kept.append((name, piece))
        else:
            dropped.append(Dropped(name, rule))
    if note:
        note("parameters", path, "&".join([piece for _, piece in kept]), dropped)
    if len(kept) > 1:
        kept.sort(key=_first)
    query = "&".join([piece for _, piece in kept])
    if note:
        note("sort", path, query, dropped)
    return query


def _first(parameter: tuple[str, str]) -> str:
    return parameter[0]
