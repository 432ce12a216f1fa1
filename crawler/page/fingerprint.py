"""Fingerprints of a text: exact digests and the SimHash.

The SimHash equals what the `simhash` package gives for the same features (word 2-shingles, weighted by count) with
xxh3_64 as its hash function, but survives a feature that repeats more than 255 times and costs a third.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise

import numpy as np
from xxhash import xxh3_64_digest

SIMHASH_BITS = 64
MAX_TEXT_LENGTH = 1 << 20
"""Characters of a text that its SimHash is made of; what follows does not count."""

_WORD = re.compile(r"\w+")


def text_digest(text: str) -> bytes:
    """The SHA-256 of a normalised text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def copy_digest(digest: bytes, urls: Iterable[str]) -> bytes:
    """The SHA-256 of a text's digest and the set of the page's outlinks: equal for copies of a whole page."""
    return hashlib.sha256(digest + "\n".join(sorted(set(urls))).encode()).digest()


def simhash(text: str) -> int | None:
    """The 64-bit SimHash of the word 2-shingles of `text`; None for a text without a word."""
    features = shingles(text)
    return simhash_of_features(features) if features else None


def shingles(text: str) -> Counter[str]:
    """How often each pair of neighbouring words stands in `text`."""
    words = _WORD.findall(text[:MAX_TEXT_LENGTH].lower())
    if len(words) == 1:
        return Counter(words)
    return Counter(map(" ".join, pairwise(words)))


def simhash_of_features(weights: Mapping[str, int]) -> int:
    """The SimHash of weighted features: a bit is set where more than half of the weight has it set."""
    digests = b"".join([xxh3_64_digest(feature.encode("utf-8", "surrogatepass")) for feature in weights])
    bits = np.unpackbits(np.frombuffer(digests, dtype=np.uint8).reshape(len(weights), SIMHASH_BITS // 8), axis=1)
    counts = np.fromiter(weights.values(), dtype=np.int64, count=len(weights))
    sums = counts @ bits
    return int.from_bytes(np.packbits(2 * sums > counts.sum()).tobytes(), "big")


def distance(a: int, b: int) -> int:
    """The Hamming distance of two SimHashes."""
    return (a ^ b).bit_count()
