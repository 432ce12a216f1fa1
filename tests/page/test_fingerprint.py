"""Fingerprints: the rows of neardup.jsonl that are about texts and pages, and the package that SimHash must equal."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simhash import Simhash
from xxhash import xxh3_64_digest

from crawler.page.fingerprint import MAX_TEXT_LENGTH, shingles, simhash, simhash_of_digests, words
from tests.cases.facts import Row
from tests.cases.required import each_row, require
from tests.web import recipes


@each_row("neardup.jsonl")
def test_a_neardup_row_is_met(row: Row) -> None:
    require("neardup.jsonl", row)


def of_the_package(features: list[str]) -> int:
    return int(Simhash(features, hashfunc=xxh3_64_digest).value)


@given(st.text(alphabet="ab cde.é漢字ก\n", min_size=1, max_size=200))
@settings(deadline=None)
def test_the_simhash_is_the_packages_for_the_same_features(text: str) -> None:
    features = [shingle.decode() for shingle in shingles(text)]
    if features:
        assert simhash(text) == of_the_package(features)
    else:
        assert simhash(text) is None


@pytest.mark.parametrize("count", [2, 255, 256, 257, 511, 5000])
def test_it_is_the_packages_for_long_texts(count: int) -> None:
    text = recipes.words(count, 7)
    assert simhash(text) == of_the_package([f"{a} {b}" for a, b in pairwise(text.split())])


def test_weights_count_like_repetition() -> None:
    counted = Counter(shingles(recipes.words(300, 3) + " a" * 400))
    digests = b"".join(map(xxh3_64_digest, counted))
    repeated = b"".join(xxh3_64_digest(feature) * weight for feature, weight in counted.items())
    assert simhash_of_digests(digests, list(counted.values())) == simhash_of_digests(repeated)


@given(st.text(max_size=60))
def test_the_short_way_for_ascii_finds_the_same_words(text: str) -> None:
    assert words(text + " é")[:-1] == words(text)


def test_scripts_without_spaces_give_pairs_of_characters() -> None:
    assert {shingle.decode() for shingle in shingles("漢字かな Word")} == {"漢 字", "字 か", "か な", "な word"}


@given(st.text(alphabet="ab .é漢\n\x1e", max_size=60))
def test_shingles_are_the_pairs_of_neighbouring_words(text: str) -> None:
    found = words(text)
    pairs = [b" ".join(pair) for pair in pairwise(found)] if len(found) > 1 else found
    assert sorted(shingles(text)) == sorted(pairs)


def test_what_follows_the_text_limit_does_not_count() -> None:
    text = "word " * (MAX_TEXT_LENGTH // 5 + 1)
    assert simhash(text) == simhash(text + "other words at the end")
