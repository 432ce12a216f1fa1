"""Content codings (RFC 9110 8.4), undone piece by piece so that a bomb never unfolds in memory.

Every stage is a generator that pulls the stage before it and yields at most one piece at a time; who stops pulling
stops all of them. Pure: no I/O of its own.
"""

import sys
import zlib
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any

import brotli  # type: ignore[import-untyped]

zstd: Any = None
with suppress(ImportError):  # without it zstd is neither offered nor understood
    zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")

_PIECE = 1 << 16
_LONGEST_CHAIN = 5
# What servers write although the body is not encoded.
_NO_CODING = frozenset({"", "identity", "none", "utf-8", "utf8", "binary", "8bit", "7bit", "chunked"})

OFFERED = "gzip, deflate, br, zstd" if zstd else "gzip, deflate, br"


class Undecodable(Exception):
    """The body is not what its Content-Encoding says."""


def decoded(pieces: Iterator[bytes], codings: str) -> Iterator[bytes]:
    """The body in `pieces` without the `codings` of its Content-Encoding header.

    Raises Undecodable while it is read, also when the encoded body ends too early. What follows the end of an encoded
    body is read and dropped.
    """
    names = [name.strip().lower() for name in codings.split(",")]
    names = [name for name in names if name not in _NO_CODING]
    if len(names) > _LONGEST_CHAIN:
        raise Undecodable(f"{len(names)} content codings in a row")
    for name in reversed(names):
        match name:
            case "gzip" | "x-gzip":
                pieces = _gzip(pieces)
            case "deflate":
                pieces = _deflate(pieces)
            case "br":
                pieces = _brotli(pieces)
            case "zstd" if zstd:
                pieces = _zstd(pieces)
            case _:
                raise Undecodable(f"content coding {name[:40]!r} was not offered")
    return pieces


def _inflate(pieces: Iterator[bytes], stream: Any) -> Iterator[bytes]:
    """Run one zlib stream; returns what follows its end."""
    for piece in pieces:
        while piece and not stream.eof:
            try:
                plain = stream.decompress(piece, _PIECE)
            except zlib.error as error:
                raise Undecodable(str(error)) from error
            piece = stream.unconsumed_tail
            if plain:
                yield plain
        if stream.eof:
            return


def _gzip(pieces: Iterator[bytes]) -> Iterator[bytes]:
    source = _Pushback(pieces)
    first = True
    while (head := source.peek(2)) and (first or head == b"\x1f\x8b"):  # members may follow each other
        stream = zlib.decompressobj(16 + zlib.MAX_WBITS)
        try:
            yield from _inflate(source, stream)
        except Undecodable:
            if first:
                raise
            break
        if not stream.eof:
            raise Undecodable("gzip data ends too early")
        source.push(stream.unused_data)
        first = False
    _drain(source)


def _deflate(pieces: Iterator[bytes]) -> Iterator[bytes]:
    source = _Pushback(pieces)
    head = source.peek(2)
    if not head:
        return
    # The name means zlib data (RFC 1950); many send the bare stream (RFC 1951).
    is_zlib = len(head) == 2 and head[0] & 15 == 8 and int.from_bytes(head, "big") % 31 == 0
    stream = zlib.decompressobj(zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS)
    yield from _inflate(source, stream)
    if not stream.eof:
        raise Undecodable("deflate data ends too early")
    _drain(source)


def _brotli(pieces: Iterator[bytes]) -> Iterator[bytes]:
    stream = brotli.Decompressor()
    is_empty = True
    for piece in pieces:
        is_empty = False
        try:
            plain = stream.process(piece, output_buffer_limit=_PIECE)
            while plain:
                yield plain
                plain = b"" if stream.can_accept_more_data() else stream.process(b"", output_buffer_limit=_PIECE)
        except brotli.error as error:
            raise Undecodable("brotli data is broken") from error
        if stream.is_finished():
            _drain(pieces)
            return
    if not is_empty:
        raise Undecodable("brotli data ends too early")


def _zstd(pieces: Iterator[bytes]) -> Iterator[bytes]:
    source = _Pushback(pieces)
    first = True
    while (head := source.peek(4)) and (first or head == b"\x28\xb5\x2f\xfd"):  # frames may follow each other
        stream = zstd.ZstdDecompressor()
        for piece in source:
            try:
                plain = stream.decompress(piece, _PIECE)
                while plain or not (stream.needs_input or stream.eof):
                    yield plain
                    plain = b"" if stream.eof or stream.needs_input else stream.decompress(b"", _PIECE)
            except zstd.ZstdError as error:
                raise Undecodable(str(error)) from error
            if stream.eof:
                source.push(stream.unused_data)
                break
        if not stream.eof:
            raise Undecodable("zstd data ends too early")
        first = False
    _drain(source)


def _drain(pieces: Iterator[bytes]) -> None:
    for _ in pieces:
        pass


class _Pushback(Iterator[bytes]):
    """An iterator of pieces that can be looked into and put back."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._held = b""

    def __next__(self) -> bytes:
        if self._held:
            held, self._held = self._held, b""
            return held
        return next(self._pieces)

    def push(self, piece: bytes) -> None:
        self._held = piece + self._held

    def peek(self, count: int) -> bytes:
        """The next `count` bytes, or fewer at the end."""
        while len(self._held) < count:
            piece = next(self._pieces, b"")
            if not piece:
                break
            self._held += piece
        return self._held[:count]
