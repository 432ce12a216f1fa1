"""A sitemap's body as a stream: unpacked, cut at the limit, its bare ampersands mended. Memory follows a piece.

Reads bytes, gives bytes. Knows nothing of what they say.
"""

import io
import re
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

PIECE_BYTES = 1 << 16

_GZIP = b"\x1f\x8b"
_CDATA = b"<![CDATA["
_MOST_HELD = 1 << 20  # a longer CDATA section is no address
_LONGEST_REFERENCE = 40
_BEGUN = re.compile(rb"&[\w#.-]*\Z")
# An ampersand that begins no reference: the usual mistake in addresses. In CDATA it is none.
_BARE = re.compile(
    rb"<!\[CDATA\[.*?(?:\]\]>|\Z)|&(?!(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z_][\w.-]{0,30});)", re.DOTALL
)


class Document(io.RawIOBase):
    """The document in `body`, gzipped or not, as a stream of at most `most_bytes`.

    partial: whether it was longer, or the body is broken or cut; known once it has been read.
    """

    def __init__(self, body: bytes, most_bytes: int) -> None:
        self.partial = False
        self._pieces = _unpacked(body) if body.startswith(_GZIP) else _sliced(body)
        self._rest = b""
        self._room = most_bytes

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, into: Any, /) -> int:
        """Fill `into` as far as there is something."""
        try:
            while not self._rest:
                self._rest = next(self._pieces)
        except StopIteration:
            return 0
        except zlib.error:
            self.partial = True
            return 0
        count = min(len(into), len(self._rest), self._room)
        self.partial |= not self._room
        into[:count], self._rest = self._rest[:count], self._rest[count:]
        self._room -= count
        return count


def mended(document: BinaryIO) -> Iterator[bytes]:
    """The rest of an XML document piece by piece, with `&amp;` for each ampersand that begins no reference.

    Without it a parser loses the entry and all that follow. Changes nothing in UTF-16.
    """
    held = b""
    while piece := document.read(PIECE_BYTES):
        if b"\0" in piece[:4]:
            yield piece
            continue
        held += piece
        end = _end_of_whole(held)
        yield _BARE.sub(_mend, held[:end])
        held = held[end:]
    yield _BARE.sub(_mend, held)


def _mend(found: "re.Match[bytes]") -> bytes:
    return b"&amp;" if found[0] == b"&" else found[0]


def _end_of_whole(text: bytes) -> int:
    """Where a reference or CDATA section begins that may go on in the next piece; the end if none does."""
    end = len(text)
    if end > _MOST_HELD:
        return end
    section = text.rfind(_CDATA)
    if section >= 0 and text.find(b"]]>", section) < 0:
        return section
    if begun := _BEGUN.search(text, max(end - _LONGEST_REFERENCE, 0)):
        return begun.start()
    tag = text.rfind(b"<", max(end - len(_CDATA), 0))
    return tag if tag >= 0 and _CDATA.startswith(text[tag:]) else end


def _sliced(body: bytes) -> Iterator[bytes]:
    for at in range(0, len(body), PIECE_BYTES):
        yield body[at : at + PIECE_BYTES]


def _unpacked(body: bytes) -> Iterator[bytes]:
    """The content of a gzip file of one or several members, piece by piece. Raises zlib.error where it is broken."""
    at = 0
    while body.startswith(_GZIP, at):
        gunzip = zlib.decompressobj(zlib.MAX_WBITS | 16)
        while not gunzip.eof:
            packed = gunzip.unconsumed_tail
            if not packed:
                packed = body[at : at + PIECE_BYTES]
                at += len(packed)
            if not packed:
                yield gunzip.flush()
                raise zlib.error("the file is cut")
            yield gunzip.decompress(packed, PIECE_BYTES)
        at -= len(gunzip.unused_data)
