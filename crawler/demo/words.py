"""Text of the demo web: titles, slugs and paragraphs from a small vocabulary.

Reads its vocabulary, `words.txt`, once; all else is a pure function of a key. Equal keys give equal text;
different ones share hardly a pair of words in a row.
"""

import hashlib
import struct
from pathlib import Path

_VOCABULARY = Path(__file__).with_name("words.txt").read_text(encoding="ascii").split()

_SHORTEST_PARAGRAPH, _LONGEST_PARAGRAPH = 50, 95


def paragraph(key: str) -> str:
    """50 to 95 words in sentences of 6 to 16."""
    length = _SHORTEST_PARAGRAPH + _numbers(f"length|{key}", 1)[0] % (_LONGEST_PARAGRAPH - _SHORTEST_PARAGRAPH + 1)
    numbers = _numbers(key, length)
    words = [_VOCABULARY[number % len(_VOCABULARY)] for number in numbers]
    sentences = []
    at = 0
    while at < length:
        end = at + 6 + numbers[at] // len(_VOCABULARY) % 11
        sentences.append(" ".join(words[at:end]).capitalize() + ".")
        at = end
    return " ".join(sentences)


def title(key: str) -> str:
    """3 to 5 words, the first with a capital."""
    numbers = _numbers(f"title|{key}", 6)
    count = 3 + numbers[5] % 3
    return " ".join(_VOCABULARY[number % len(_VOCABULARY)] for number in numbers[:count]).capitalize()


def slug(key: str) -> str:
    """The words of `title(key)` as part of a path."""
    return title(key).lower().replace(" ", "-")


def word(key: str) -> str:
    """One word."""
    return _VOCABULARY[_numbers(f"word|{key}", 1)[0] % len(_VOCABULARY)]


def _numbers(key: str, count: int) -> tuple[int, ...]:
    # One call gives a whole paragraph's numbers: many times faster than a draw for each word.
    return struct.unpack(f"<{count}I", hashlib.shake_128(key.encode()).digest(4 * count))
