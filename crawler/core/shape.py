"""What a URL's shape says: its path pattern, and the traps that its shape alone gives away.

Pure functions of a canonical URL. They know no setting but the limits that they are given, and no other URL.
"""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import Protocol

from xxhash import xxh3_64_intdigest

_FOLD_DIGITS = bytes(0x30 if 0x30 <= byte <= 0x39 else byte for byte in range(256))
# What no editor types: a UUID, or sixteen and more letters and digits in which digits begin at least twice.
_SHORTEST_TOKEN = 16
_TOKEN = re.compile(
    rf"""(?<![A-Za-z0-9])(?:
    [0-9A-Fa-f]{{8}}(?:-[0-9A-Fa-f]{{4}}){{3}}-[0-9A-Fa-f]{{12}}
    | (?=[A-Za-z]*[0-9]+[A-Za-z]+[0-9])[A-Za-z0-9]{{{_SHORTEST_TOKEN},}}
    )(?![A-Za-z0-9])""",
    re.VERBOSE,
)
_MIXED = re.compile(rb"0[A-Za-z]+0")  # of folded digits: every token has it, few other words do
# Nothing but a date: years of this and the next century, so that no archive is meant, as a whole segment or value.
_DATE = re.compile(r"(?<=[/=])(2[01][0-9]{2})-(0[1-9]|1[0-2])(?:-(?:0[1-9]|[12][0-9]|3[01]))?(?=[/?&]|$)")
_PLACE_BITS = 20
"""Lower bits of a pattern key, which belong to the query; the upper ones are the same for all queries of a path."""
_NAMES_BITS = 16
_MOST_COUNTED = (1 << (_PLACE_BITS - _NAMES_BITS)) - 1


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
    @property
    def max_years_ahead(self) -> int: ...


def pattern_key(url: str) -> int:
    """A key that URLs of a host share whose paths differ in digits and long tokens, and queries in values, only.

    Its upper 44 bits are of an xxh3_64 of host and path, with runs of digits folded to 0 and tokens to ~; then come
    four bits with the number of parameters that have a value (15: or more), and 16 of an xxh3_64 of their names.
    """
    address, _, query = url.partition("?")
    host, _, path = address.partition("://")[2].partition("/")
    pattern = _fold_digits(path)
    if len(path) >= _SHORTEST_TOKEN and _MIXED.search(pattern):
        pattern = _fold_digits(_TOKEN.sub("~", path))
    place = xxh3_64_intdigest(b"%b/%b" % (host.encode(), pattern)) >> _PLACE_BITS << _PLACE_BITS
    if not query:
        return place
    pieces = [piece.partition("=") for piece in query.split("&")]
    names = sorted({name for name, _, value in pieces if value})
    folded = xxh3_64_intdigest("&".join(names).encode()) & ((1 << _NAMES_BITS) - 1)
    return place | min(len(names), _MOST_COUNTED) << _NAMES_BITS | folded


def place_of(pattern: int) -> int:
    """What the limits on like URLs count together: a pattern, or a path with all its combinations of parameters.

    pattern: a pattern key.
    """
    has_several = pattern >> _NAMES_BITS & _MOST_COUNTED > 1
    return pattern | (1 << _PLACE_BITS) - 1 if has_several else pattern


def shape_trap(url: str, depth: int, traps: ShapeLimits, at: date | None = None) -> str | None:
    """The setting that the canonical URL's shape breaks, e.g. `traps.max_depth`; None if it breaks none.

    depth: links from a seed. at: when it was found; without it no date in the URL is too late.
    """
    if depth > traps.max_depth:
        return "traps.max_depth"
    if len(url) > traps.max_url_length:
        return "traps.max_url_length"
    if at is not None and traps.max_years_ahead and _is_far_ahead(url, at.year + traps.max_years_ahead, at.month):
        return "traps.max_years_ahead"
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
    if _repeats_a_sequence(segments, max(2, repeats)):
        return "traps.max_repeated_segments"
    return None


def _fold_digits(path: str) -> bytes:
    pattern = path.encode().translate(_FOLD_DIGITS)
    while b"00" in pattern:
        pattern = pattern.replace(b"00", b"0")
    return pattern


def _is_far_ahead(url: str, year: int, month: int) -> bool:
    """Whether the URL holds a date after the month."""
    return any((int(found[1]), int(found[2])) > (year, month) for found in _DATE.finditer(url))


def _repeats_a_sequence(segments: Sequence[str], times: int) -> bool:
    """Whether two or more segments come so many times in a row, as in /a/b/a/b/a/b."""
    if len(segments) < 2 * times or len(set(segments)) == len(segments):
        return False
    for length in range(2, len(segments) // times + 1):
        run = 0
        for one, other in zip(segments, segments[length:], strict=False):
            run = run + 1 if one == other else 0
            if run == length * (times - 1):
                return True
    return False
