"""Bodies by recipe (see README.md): short descriptions that make the same bytes everywhere, endless ones included."""

import base64
import gzip
import hashlib
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

Recipe = Any  # str | dict | None, as it stands in a script

# What tells a recipe from an exchange.
RECIPES = frozenset({"text", "html", "words", "random", "b64", "bomb", "repeat", "concat", "endless"})
_PIECE = 65_536
_BLOCK = 131_072  # zstd's longest block


def make(recipe: Recipe) -> bytes:
    """All bytes of a finite recipe."""
    if recipe is None:
        return b""
    if isinstance(recipe, str):
        return recipe.encode()
    (kind,) = RECIPES & recipe.keys()
    match kind:
        case "text":
            return recipe["text"].encode(recipe.get("charset", "utf-8"))
        case "html":
            return _html(recipe["html"])
        case "words":
            return words(*recipe["words"], recipe.get("change")).encode()
        case "random":
            return noise(*recipe["random"])
        case "b64":
            return base64.b64decode(recipe["b64"])
        case "bomb":
            return _bomb(*recipe["bomb"])
    return b"".join(pieces(recipe))


def pieces(recipe: Recipe) -> Iterator[bytes]:
    """The bytes of a recipe in pieces."""
    if isinstance(recipe, dict) and "concat" in recipe:
        for part in recipe["concat"]:
            yield from pieces(part)
    elif isinstance(recipe, dict) and "repeat" in recipe:
        yield from _repeat(make(recipe["repeat"][0]), recipe["repeat"][1])
    elif isinstance(recipe, dict) and "endless" in recipe:
        yield from _repeat(make(recipe["endless"]), None)
    else:
        yield make(recipe)


def size_of(recipe: Recipe) -> int | None:
    """Length of a recipe in bytes, None if endless."""
    if isinstance(recipe, dict) and "repeat" in recipe:
        return len(make(recipe["repeat"][0])) * int(recipe["repeat"][1])
    if isinstance(recipe, dict) and "concat" in recipe:
        parts = [size_of(part) for part in recipe["concat"]]
        return None if None in parts else sum(part or 0 for part in parts)
    if isinstance(recipe, dict) and "endless" in recipe:
        return None
    return len(make(recipe))


def words(count: int, seed: int, change: Mapping[str, str] | None = None) -> str:
    state, found = seed, []
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2147483648
        found.append(f"w{(state >> 8) % 5000}")
    for index, word in (change or {}).items():
        found[int(index)] = word
    return " ".join(found)


def noise(count: int, seed: int) -> bytes:
    """Bytes that no coding shortens."""
    blocks = (hashlib.sha256(b"%d:%d" % (seed, number)).digest() for number in range(count // 32 + 1))
    return b"".join(blocks)[:count]


def encoded(octets: bytes, steps: Sequence[str]) -> bytes:
    """`octets` after the steps of an exchange's `encoding`."""
    for step in steps:
        name, _, argument = step.partition(":")
        match name:
            case "gzip" | "x-gzip":
                octets = gzip.compress(octets, mtime=0)
            case "deflate-zlib":
                octets = zlib.compress(octets)
            case "deflate-raw":
                stream = zlib.compressobj(9, zlib.DEFLATED, -15)
                octets = stream.compress(octets) + stream.flush()
            case "br":
                octets = _brotli(octets)
            case "zstd":
                octets = _zstd(octets)
            case "cut":
                octets = octets[: len(octets) - int(argument)]
            case "garbage":
                octets += noise(int(argument), 1)
            case "corrupt":
                at = int(argument)
                octets = octets[:at] + bytes([octets[at] ^ 0xFF]) + octets[at + 1 :]
            case _:
                raise ValueError(f"encoding step {step}")
    return octets


def _repeat(one: bytes, times: int | None) -> Iterator[bytes]:
    at_once = max(1, _PIECE // max(1, len(one)))
    while times is None or times > 0:
        count = at_once if times is None else min(at_once, times)
        yield one * count
        times = None if times is None else times - count


def _html(page: Mapping[str, Any]) -> bytes:
    text = f"<p>{words(*page['words'])}</p>\n" if "words" in page else ""
    links = "".join(f'<a href="{url}">{url}</a>\n' for url in page.get("links", []))
    head = f'<meta charset="utf-8"><title>{page.get("title", "t")}</title>{page.get("head", "")}'
    body = f"{page.get('body', '')}\n{text}{links}"
    return f"<!DOCTYPE html>\n<html><head>{head}</head>\n<body>{body}</body></html>\n".encode()


@cache
def _bomb(coding: str, size: int) -> bytes:
    """Encoded bytes that decode to `size` zeros, a multiple of 1 MiB."""
    if coding != "gzip":  # zstd: run-length blocks, 4 bytes each
        blocks = [((_BLOCK << 3) | 2 | (n == size // _BLOCK - 1)).to_bytes(3, "little") for n in range(size // _BLOCK)]
        return b"\x28\xb5\x2f\xfd\x00\x58" + b"".join(block + b"\0" for block in blocks)
    zeros = bytes(1 << 20)
    stream = zlib.compressobj(9, zlib.DEFLATED, -15)
    first = stream.compress(zeros) + stream.flush(zlib.Z_FULL_FLUSH)
    stream = zlib.compressobj(9, zlib.DEFLATED, -15)
    checksum = 0
    for _ in range(size // len(zeros)):
        checksum = zlib.crc32(zeros, checksum)
    end = stream.flush() + struct.pack("<II", checksum, size & 0xFFFFFFFF)
    return b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + first * (size // len(zeros)) + end


def _brotli(octets: bytes) -> bytes:
    """Stored meta-blocks only."""
    out, bits = bytearray(), "0"  # a window of 16 bits; bits are kept in stream order
    for at in range(0, len(octets), _PIECE):
        part = octets[at : at + _PIECE]
        bits += "0" + "00" + format(len(part) - 1, "016b")[::-1] + "1"
        out += _packed(bits) + part
        bits = ""
    return bytes(out + _packed(bits + "11"))


def _packed(bits: str) -> bytes:
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[at : at + 8][::-1], 2) for at in range(0, len(bits), 8))


def _zstd(octets: bytes) -> bytes:
    """Raw blocks only."""
    blocks = [octets[at : at + _BLOCK] for at in range(0, len(octets), _BLOCK)] or [b""]
    out = bytearray(b"\x28\xb5\x2f\xfd\x00\x58")
    for number, block in enumerate(blocks):
        out += ((len(block) << 3) | (number == len(blocks) - 1)).to_bytes(3, "little") + block
    return bytes(out)
