"""Fingerprints of a text: exact digests and the SimHash.

The SimHash is the `simhash` package's, of word 2-shingles (one for each time that they occur) with xxh3_64 as its hash
function. Cutting the text into shingles and summing their bits are ours: all at once they cost a third, and a feature
of any weight counts right.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from simhash import Simhash
from xxhash import xxh3_64_digest

if TYPE_CHECKING:
    import numpy.typing as npt

SIMHASH_BITS = 64
MAX_TEXT_LENGTH = 1 << 20
"""Characters of a text that its SimHash is made of; what follows does not count."""

# Scripts that put no space between words: there each character is a word, so that a shingle is a pair of characters.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_SPACE, _NEWLINE = b" \n"
_ASCII_WORDS = bytes(
    ord(chr(byte).lower()) if byte < 0x80 and (chr(byte).isalnum() or byte == 0x5F) else _SPACE for byte in range(256)
)
_ROWS = 255  # a column of so many bits sums up within a byte


def text_digest(text: str) -> bytes:
    """The SHA-256 of a normalised text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def copy_digest(digest: bytes, urls: Iterable[str]) -> bytes:
    """The SHA-256 of a text's digest and the set of the page's outlinks: equal for copies of a whole page."""
    return hashlib.sha256(digest + "\n".join(sorted(set(urls))).encode()).digest()


def simhash(text: str) -> int | None:
    """The 64-bit SimHash of the word 2-shingles of `text`; None for a text without a word."""
    found = shingles(text)
    return ShingleSimhash(found, SIMHASH_BITS, hashfunc=xxh3_64_digest).value if found else None


class ShingleSimhash(Simhash):  # type: ignore[misc]  # the package has no types
    """The package's Simhash of shingles in UTF-8; `value` is what the package makes of the same texts."""

    def build_by_features(self, features: Sequence[bytes]) -> None:
        """Set `value` to the SimHash of the shingles, each of weight 1."""
        self.value = simhash_of_digests(b"".join(map(self.hashfunc, features)))


def shingles(text: str) -> list[bytes]:
    """Each pair of neighbouring words of `text` in UTF-8; the word itself where there is but one.

    First the pairs that begin with the first, third, fifth word, then the others: cutting a line of all words at every
    second space, once from its start and once from its second word, takes a third of the time of joining pairs.
    """
    line = _word_line(text[:MAX_TEXT_LENGTH])
    spaces = np.flatnonzero(line == _SPACE)
    if not len(spaces):
        return [line.tobytes()] if len(line) else []
    second = spaces[0] + 1
    found = _cut(line, spaces[1::2])
    if len(spaces) % 2 == 0:
        found.pop()  # the last word, alone
    found += _cut(line[second:], spaces[2::2] - second)
    if len(spaces) % 2:
        found.pop()
    return found


def words(text: str) -> list[bytes]:
    """The words of `text` in lower case and UTF-8: runs of letters, digits and `_`."""
    return _word_line(text).tobytes().split()


def _word_line(text: str) -> "npt.NDArray[np.uint8]":
    """The bytes of all words, one space between two."""
    if text.isascii():
        # With a space in front and behind, each sees its neighbour; of a run the last is kept, and none at the ends.
        line = np.frombuffer(b" %b " % text.encode().translate(_ASCII_WORDS), dtype=np.uint8)
        spaces = line == _SPACE
        return np.compress(~(spaces[:-1] & spaces[1:]), line[:-1])[1:]
    return np.frombuffer(" ".join(_WORD.findall(text.lower())).encode("utf-8", "surrogatepass"), dtype=np.uint8)


def _cut(line: "npt.NDArray[np.uint8]", places: "npt.NDArray[np.intp]") -> list[bytes]:
    pieces = line.copy()
    pieces[places] = _NEWLINE
    return pieces.tobytes().split(b"\n")


def simhash_of_digests(digests: bytes, weights: Sequence[int] | None = None) -> int | None:
    """The SimHash of features, given by their 8-byte digests end to end; each weighs 1 unless `weights` says more.

    A bit is set where more than half of the weight has it set. None without features.
    """
    if not digests:
        return None
    bits = np.unpackbits(np.frombuffer(digests, dtype=np.uint8)).reshape(-1, SIMHASH_BITS)
    if weights is not None:
        sums = np.asarray(weights, dtype=np.int64) @ bits
        total = sum(weights)
    else:
        total = len(bits)
        whole = total - total % _ROWS
        sums = bits[whole:].sum(0, dtype=np.int64)
        sums += bits[:whole].reshape(-1, _ROWS, SIMHASH_BITS).sum(1, dtype=np.uint8).sum(0, dtype=np.int64)
    return int.from_bytes(np.packbits(2 * sums > total).tobytes(), "big")


def distance(a: int, b: int) -> int:
    """The Hamming distance of two SimHashes."""
    return (a ^ b).bit_count()
