"""Which features of a text, and how many bits, tell a page that was edited from another page of the same template?

Pairs of real pages: the same page in two adjacent releases where its text differs (edited), two pages of one release
(other). Since releases edit few pages, each page with one sentence exchanged is a third kind. Prints the tables of
docs/near-duplicates.md; with `--record` writes them there, and the plot.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from xxhash import xxh3_64_digest

from bench.page.releases import Documents, all_documents
from crawler.page.fingerprint import distance, simhash_of_digests, words

_DOCS = Path(__file__).parents[2] / "docs"
_REPORT, _PLOT = _DOCS / "near-duplicates.md", _DOCS / "images" / "near-duplicates.png"
_TABLES = re.compile(r"(?<=<!-- tables -->\n).*(?=\n<!-- end of tables -->)", re.DOTALL)
_MOST_BITS = 8
_KINDS = (  # of the plot, with their colours
    ("sentence", "one sentence exchanged", "#1f77b4"),
    ("small", "small edits of a release", "#2ca02c"),
    ("other", "other pages", "#d62728"),
)
_SENTENCE_WORDS = 12
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of texts by kind. small: edits that leave nine of ten word pairs as they were."""

    small: list[Pair]
    large: list[Pair]
    sentence: list[Pair]
    other: list[Pair]


def _shingles(size: int) -> Callable[[str], Iterator[bytes]]:
    def features(text: str) -> Iterator[bytes]:
        found = words(text)
        return (b" ".join(found[at : at + size]) for at in range(max(len(found) - size + 1, 1)))

    return features


def _grams(text: str) -> Iterator[bytes]:
    """The package's own default: four characters of the words run together."""
    joined = b"".join(words(text)).decode()
    return (joined[at : at + 4].encode() for at in range(max(len(joined) - 3, 1)))


FEATURES: dict[str, Callable[[str], Iterator[bytes]]] = {
    "single words": _shingles(1),
    "word 2-shingles": _shingles(2),
    "word 3-shingles": _shingles(3),
    "4-grams": _grams,
}


def main(*, record: bool) -> None:
    """Compare, print, and with `record` write the report's tables and its plot."""
    documents = all_documents()
    pairs = find_pairs(documents)
    found = {name: _distances(pairs, features) for name, features in FEATURES.items()}
    report = "\n\n".join([_sources(documents), _medians(found), *(_table(name, each) for name, each in found.items())])
    print(report)
    if record:
        _REPORT.write_text(
            _TABLES.sub(lambda _: f"\n{report}\n", _REPORT.read_text(encoding="utf-8")), encoding="utf-8"
        )
        _plot(found)


def find_pairs(documents: Sequence[Documents]) -> Pairs:
    """All pairs of edited pages, of all pages of one release, and of pages with one sentence exchanged."""
    pairs = Pairs([], [], [], [])
    chance = random.Random("sentences")
    for each in documents:
        for old, new in each.edited():
            (pairs.small if _kept(old, new) >= 0.9 else pairs.large).append((old, new))
        texts = sorted(set(each.after.values()))
        pairs.other.extend(combinations(texts, 2))
        for text in texts:
            pairs.sentence.append((text, _with_sentence_of(text, chance.choice(texts), chance)))
    return pairs


def _kept(old: str, new: str) -> float:
    """The share of word pairs that two texts have in common (Jaccard, with repetition)."""
    one, other = Counter(_shingles(2)(old)), Counter(_shingles(2)(new))
    return (one & other).total() / max((one | other).total(), 1)


def _with_sentence_of(text: str, other: str, chance: random.Random) -> str:
    mine, theirs = text.split(), other.split()
    at, there = (chance.randrange(max(len(each) - _SENTENCE_WORDS, 1)) for each in (mine, theirs))
    return " ".join([*mine[:at], *theirs[there : there + _SENTENCE_WORDS], *mine[at + _SENTENCE_WORDS :]])


def _distances(pairs: Pairs, features: Callable[[str], Iterator[bytes]]) -> dict[str, list[int]]:
    memory: dict[str, int] = {}

    def simhash(text: str) -> int:
        if text not in memory:
            memory[text] = simhash_of_digests(b"".join(map(xxh3_64_digest, features(text)))) or 0
        return memory[text]

    kinds = {"small": pairs.small, "large": pairs.large, "sentence": pairs.sentence, "other": pairs.other}
    return {kind: [distance(simhash(a), simhash(b)) for a, b in found] for kind, found in kinds.items()}


def _sources(documents: Sequence[Documents]) -> str:
    lines = ["| documentation | pages | edited |", "| --- | --- | --- |"]
    lines.extend(f"| {each.name} | {len(each.after)} | {len(list(each.edited()))} |" for each in documents)
    return "\n".join(lines)


def _medians(found: dict[str, dict[str, list[int]]]) -> str:
    lines = [
        "| bits apart | small edits: median, most | one sentence: median, most | other pages: least, 1 %, median |"
    ]
    lines.append("| --- | --- | --- | --- |")
    for name, each in found.items():
        small, sentence, other = (sorted(each[kind]) for kind in ("small", "sentence", "other"))
        lines.append(
            f"| {name} | {small[len(small) // 2]}, {small[-1]} | {sentence[len(sentence) // 2]}, {sentence[-1]} "
            f"| {other[0]}, {other[len(other) // 100]}, {other[len(other) // 2]} |"
        )
    return "\n".join(lines)


def _table(name: str, found: dict[str, list[int]]) -> str:
    counts = {kind: len(values) for kind, values in found.items()}
    head = (
        f"| k | small edits found, of {counts['small']} | large edits, of {counts['large']} "
        f"| one sentence, of {counts['sentence']} | other pages called near, of {counts['other']} | precision |"
    )
    lines = [f"**{name}**", "", head, "| --- | --- | --- | --- | --- | --- |"]
    for bits in range(1, _MOST_BITS + 1):
        near = {kind: sum(each <= bits for each in values) for kind, values in found.items()}
        edited = near["small"] + near["large"] + near["sentence"]
        shares = [f"{near[kind] / max(counts[kind], 1):.0%}" for kind in ("small", "large", "sentence")]
        precision = edited / max(edited + near["other"], 1)
        lines.append(f"| {bits} | {' | '.join(shares)} | {near['other']} | {precision:.1%} |")
    return "\n".join(lines)


def _plot(found: dict[str, dict[str, list[int]]]) -> None:
    import matplotlib.pyplot as plt  # only who draws needs it

    figure, axes = plt.subplots(len(found), 1, figsize=(7, 8), sharex=True, layout="constrained")
    for axis, (name, each) in zip(axes, found.items(), strict=True):
        for kind, label, color in _KINDS:
            axis.hist(each[kind], bins=range(66), density=True, alpha=0.6, color=color, label=label)
        axis.axvline(3.5, color="black", linewidth=0.8, linestyle=":", label="k = 3")
        axis.set_title(name, fontsize=9)
        axis.set_yticks([])
    axes[0].legend(fontsize=8)
    axes[-1].set_xlabel("bits apart")
    _PLOT.parent.mkdir(exist_ok=True)
    figure.savefig(_PLOT, dpi=90)
