"""Odd but legal spellings of a URL, which the product must take for the same URL.

Written from RFC 3986 and the WHATWG URL standard; knows nothing of the product's canonicaliser. `resolve_target` is
the way back on the server's side: which page does a request target mean.
"""

import random
import re
from dataclasses import dataclass

TRACKING = ("utm_source", "utm_medium", "fbclid", "gclid", "msclkid")
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")


@dataclass(frozen=True, slots=True)
class Address:
    """A canonical http URL in parts: `path` is escaped and begins with a slash, `query` has no question mark."""

    host: str
    path: str
    query: str = ""

    @property
    def target(self) -> str:
        return f"{self.path}?{self.query}" if self.query else self.path


def spell(
    rng: random.Random, target: Address, source: Address | None, port: int, *, ascii_only: bool
) -> tuple[str, bool]:
    """A reference to `target` as it may stand in a page at `source`, and whether it needs the page's own host.

    source: None forbids relative forms.
    """
    fragment = rng.choice(("", "", "", "#", "#part", "#a/../b?c"))
    query = _odd_query(rng, target.query)
    near = source is not None and source.host == target.host and rng.random() < 0.6
    if not near:
        return _authority(rng, target.host, port, ascii_only) + _odd_path(
            rng, target.path, ascii_only
        ) + query + fragment, False
    assert source is not None
    if source.path == target.path:
        if target.query and rng.random() < 0.5:
            return query + fragment, True
        if source == target and fragment:
            return fragment, True
    if rng.random() < 0.4:
        return _odd_path(rng, target.path, ascii_only) + query + fragment, True
    return _relative_path(rng, target.path, source.path, ascii_only) + query + fragment, True


def in_html(rng: random.Random, text: str) -> str:
    """`text` as the value of a double-quoted attribute: entities, blanks around, line breaks inside, backslashes."""
    spelled: list[str] = []
    name_after_ampersand = False  # `&copy=2` is no entity because of its equals sign: leave both alone
    for character in text:
        draw = rng.random()
        if character == "&":
            spelled.append(rng.choice(("&amp;", "&#38;", "&#x26;", "&")))
            name_after_ampersand = spelled[-1] == "&"
        elif name_after_ampersand:
            spelled.append(character)
            name_after_ampersand = character != "="
        elif draw < 0.02:
            spelled.append(rng.choice((f"&#{ord(character)};", f"&#x{ord(character):x};")))
        elif character == "/" and draw < 0.04 and "//" not in text and "?" not in text and "#" not in text:
            spelled.append(rng.choice(("&sol;", "\\")))
        elif draw > 0.995:
            spelled.append(f"{character}{rng.choice(chr(9) + chr(10))}")
        else:
            spelled.append(character)
    blank = rng.choice(("", "", "", " ", "\n", "\t "))
    return f"{blank}{''.join(spelled)}{blank}"


def resolve_target(host: str, target: str) -> Address:
    """The address that a request for `target` at `host` means."""
    path, _, query = target.partition("?")
    kept = [piece for piece in query.split("&") if piece and piece.partition("=")[0] not in TRACKING]
    return Address(host, _plain(path), "&".join(sorted(map(_plain, kept))))


def _plain(text: str) -> str:
    escaped = "".join(c if " " < c < "\x7f" else f"%{ord(c):02X}" for c in text)
    return _ESCAPE.sub(lambda found: _decoded(found[0]), escaped)


def _decoded(escape: str) -> str:
    character = chr(int(escape[1:], 16))
    return character if _UNRESERVED.fullmatch(character) else escape.upper()


def _authority(rng: random.Random, host: str, port: int, ascii_only: bool) -> str:
    if not ascii_only and "xn--" in host and rng.random() < 0.5:
        host = host.encode("ascii").decode("idna")
    elif rng.random() < 0.2:
        host = host.upper()
    elif rng.random() < 0.1:
        host = host.replace("w", "%77", 1)
    if rng.random() < 0.1:
        host += "."
    ends = ("", "", ":80", ":") if port == 80 else (f":{port}", f":{port}", f":0{port}")
    return rng.choice(("http://", "http://", "http://", "HTTP://", "//")) + host + rng.choice(ends)


def _odd_path(rng: random.Random, path: str, ascii_only: bool) -> str:
    segments = [_odd_segment(rng, segment, ascii_only) for segment in path[1:].split("/")]
    if rng.random() < 0.15:
        segments.insert(rng.randrange(len(segments)), rng.choice((".", "%2e")))
    if rng.random() < 0.15:
        at = rng.randrange(len(segments))
        segments[at:at] = ["gone", rng.choice(("..", "%2E.", ".%2e"))]
    if rng.random() < 0.05:
        segments.insert(0, "..")
    return "/" + "/".join(segments)


def _odd_segment(rng: random.Random, segment: str, ascii_only: bool) -> str:
    if not ascii_only and "%C3%A9" in segment and rng.random() < 0.4:
        segment = segment.replace("%C3%A9", "\u00e9")
    if rng.random() < 0.3:
        segment = _ESCAPE.sub(lambda found: found[0].lower(), segment)
    if segment and "%" not in segment and rng.random() < 0.2:
        at = rng.randrange(len(segment))
        if _UNRESERVED.fullmatch(segment[at]):
            escape = f"%{ord(segment[at]):02x}" if rng.random() < 0.5 else f"%{ord(segment[at]):02X}"
            segment = segment[:at] + escape + segment[at + 1 :]
    return segment


def _odd_query(rng: random.Random, query: str) -> str:
    pieces = query.split("&") if query else []
    rng.shuffle(pieces)
    if rng.random() < 0.2:
        pieces.insert(rng.randint(0, len(pieces)), f"{rng.choice(TRACKING)}=x{rng.randint(1, 9)}")
    if pieces:
        return "?" + "&".join(pieces)
    return rng.choice(("", "", "", "", "?"))


def _relative_path(rng: random.Random, target: str, source: str, ascii_only: bool) -> str:
    """`target` as seen from the folder of `source`; both are paths of one host."""
    here = source.split("/")[1:-1]
    there = target.split("/")[1:]
    shared = 0
    while shared < min(len(here), len(there) - 1) and here[shared] == there[shared]:
        shared += 1
    steps = [".."] * (len(here) - shared) + [_odd_segment(rng, part, ascii_only) for part in there[shared:]]
    if steps == [""]:
        return rng.choice((".", "./"))
    if steps[0] == "" or rng.random() < 0.2:
        steps.insert(0, ".")
    return "/".join(steps)
