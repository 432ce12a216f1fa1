"""Fingerprints of a text: exact digests and the SimHash.

The SimHash is the `simhash` package's, of word 2-shingles (one for each time that they occur) with xxh3_64 as its hash
function. Only the summing of bits is ours: all at once it costs a third, and a feature of any weight counts right.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from simhash import Simhash
from xxhash import xxh3_64_digest

SIMHASH_BITS = 64
MAX_TEXT_LENGTH = 1 << 20
"""Characters of a text that its SimHash is made of; what follows does not count."""

# Scripts that put no space between words: there each character is a word, so that a shingle is a pair of characters.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_ASCII_WORDS = bytes(byte if byte < 0x80 and (chr(byte).isalnum() or byte == 0x5F) else 0x20 for byte in range(256))
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
    """Each pair of neighbouring words of `text` in UTF-8, in order; the word itself where there is but one."""
    found = words(text[:MAX_TEXT_LENGTH])
    return list(map(b" ".join, pairwise(found))) if len(found) > 1 else found


def words(text: str) -> list[bytes]:
    """The words of `text` in lower case and UTF-8: runs of letters, digits and `_`."""
    text = text.lower()
    if text.isascii():
        return text.encode().translate(_ASCII_WORDS).split()
    return "\n".join(_WORD.findall(text)).encode("utf-8", "surrogatepass").split(b"\n") if _WORD.search(text) else []


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
