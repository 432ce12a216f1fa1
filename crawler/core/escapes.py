"""Percent-escapes as canonical URLs write them (RFC 3986 6.2.2), whatever stood there before. Pure text to text."""

import re

_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ESCAPE = re.compile(r"%(?:[0-9A-Fa-f]{2})?")
_DIGITS = "0123456789ABCDEFabcdef"
# Every spelling of every escape; a `%` that begins none is one that was not escaped itself.
_NORMAL = {
    f"%{high}{low}": chr(octet) if (octet := int(high + low, 16)) in _UNRESERVED else f"%{octet:02X}"
    for high in _DIGITS
    for low in _DIGITS
} | {"%": "%25"}


def normalise_escapes(text: str) -> str:
    """`text` of a path or query with what is unreserved decoded, hex digits in upper case, `[`, `]`, stray `%` escaped.

    Doing it again changes nothing.
    """
    if "%" in text:
        text = _ESCAPE.sub(_normal, text)
    return text.replace("[", "%5B").replace("]", "%5D") if "[" in text or "]" in text else text


def encode(text: str) -> str:
    """`text` with all but printable ASCII as escapes of its UTF-8 octets; lone surrogates become `?`."""
    if text.isascii() and text.isprintable() and " " not in text:
        return text
    return "".join(c if " " < c <= "~" else "".join(f"%{octet:02X}" for octet in _utf8(c)) for c in text)


def _normal(escape: re.Match[str]) -> str:
    return _NORMAL[escape.group()]


def _utf8(character: str) -> bytes:
    return character.encode("utf-8", "replace")
