"""Fingerprints: the rows of neardup.jsonl that are about texts and pages, and the package that SimHash must equal."""

import base64
import hashlib
import json
import subprocess
import sys
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simhash import Simhash
from xxhash import xxh3_64_digest

from crawler.core.urls import CanonicalUrl, canonicalize
from crawler.page.fingerprint import MAX_TEXT_LENGTH, distance, shingles, simhash, simhash_of_digests, words
from crawler.page.page import Page, read_page

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "neardup.jsonl").read_bytes().split(b"\n")
    if line
]
NEAR = 3
ELSEWHERE = {
    "index": "pairs among many pages are found by the fingerprint stage; until it groups near copies",
    "representative": "who stands for a group is decided by the fingerprint stage; until it groups near copies",
}


def recipe(given_as: Any) -> str:
    if isinstance(given_as, str):
        return given_as
    if "text" in given_as:
        return str(given_as["text"])
    if "words" in given_as:
        return random_words(*given_as["words"], given_as.get("change", {}))
    if "repeat" in given_as:
        return recipe(given_as["repeat"][0]) * given_as["repeat"][1]
    if "concat" in given_as:
        return "".join(map(recipe, given_as["concat"]))
    parts = given_as["html"]
    text = f"<p>{random_words(*parts['words'], {})}</p>\n" if "words" in parts else ""
    links = "".join(f'<a href="{url}">{url}</a>\n' for url in parts.get("links", []))
    return (
        f'<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>{parts.get("title", "t")}</title>'
        f"{parts.get('head', '')}</head>\n<body>{parts.get('body', '')}\n{text}{links}</body></html>\n"
    )


def random_words(count: int, seed: int, change: dict[str, str]) -> str:
    found = []
    for _ in range(count):
        seed = (seed * 1103515245 + 12345) % 2**31
        found.append(f"w{(seed >> 8) % 5000}")
    for place, word in change.items():
        found[int(place)] = word
    return " ".join(found)


def bytes_of(given_as: Any) -> bytes:
    if isinstance(given_as, dict) and "b64" in given_as:
        return base64.b64decode(given_as["b64"])
    charset = given_as.get("charset", "utf-8") if isinstance(given_as, dict) else "utf-8"
    return recipe(given_as).encode(charset)


def page_of(given_as: dict[str, Any], url: str = "https://example.com/") -> Page:
    content_type = given_as.get("content_type", "text/html; charset=utf-8")
    return read_page(
        bytes_of(given_as["body"]), url=url, content_type=content_type, headers=[], product_token="bot",
        min_text_bytes=0, max_parse_bytes=2 << 20,
    )  # fmt: skip


def of_features(features: list[list[Any]]) -> int | None:
    digests = b"".join(hashlib.md5(name.encode()).digest()[-8:] for name, _ in features)
    return simhash_of_digests(digests, [weight for _, weight in features])


def facts(row: dict[str, Any]) -> dict[str, Any]:
    case = row["input"]
    match row["kind"]:
        case "simhash_vector":
            found = of_features(case["features"])
            return {"simhash": None if found is None else str(found)}
        case "simhash_pair":
            a, b = of_features(case["features_a"]), of_features(case["features_b"])
            assert a is not None
            assert b is not None
            return {"distance": distance(a, b), "simhash_a": str(a)}
        case "hamming":
            a, b = int(case["a"], 16), int(case["b"], 16)
            blocks = [(a >> shift & 0xFFFF) == (b >> shift & 0xFFFF) for shift in range(0, 64, 16)]
            return {
                "distance": distance(a, b),
                "near_k3": distance(a, b) <= NEAR,
                "equal_16bit_blocks": sum(blocks),
            }
        case "texts":
            texts = list(map(recipe, case["texts"]))
            started = time.monotonic()
            fingerprints = [None if simhash(text) is None else "present" for text in texts]
            allowed = row["expected"].get("max_s", 60)
            return {"fingerprints": fingerprints, "max_s": allowed if time.monotonic() - started < allowed else None}
        case "page_pair":
            a, b = page_of(case["a"]), page_of(case["b"])
            same_text = a.text_bytes > 0 and a.text_digest == b.text_digest
            near = a.simhash is not None and b.simhash is not None and distance(a.simhash, b.simhash) <= NEAR
            return {
                "same_group": same_text or near,
                "same_bytes": bytes_of(case["a"]["body"]) == bytes_of(case["b"]["body"]),
                "same_text_digest": a.text_digest == b.text_digest,
                "both_kept": True,
            }
        case "url_pair":
            one, other = canonicalize(case["a"]), canonicalize(case["b"])
            return {"same_url": isinstance(one, CanonicalUrl) and one == other}
        case "processes":
            return {"distance": distance(*[_in_process(recipe(case["text"]), env) for env in case["env"]])}
    raise AssertionError(f"unknown kind {row['kind']}")


def _in_process(text: str, env: dict[str, str]) -> int:
    program = "import sys; from crawler.page.fingerprint import simhash; print(simhash(sys.stdin.read()))"
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program], input=text, text=True, check=True, env=env, cwd=root, capture_output=True
    )
    return int(done.stdout)


@pytest.mark.parametrize("row", [r for r in ROWS if r["kind"] != "text_distances"], ids=lambda row: str(row["id"]))
def test_a_neardup_row_is_met(row: dict[str, Any]) -> None:
    if row["kind"] in ELSEWHERE:
        pytest.skip(ELSEWHERE[row["kind"]])
    found = facts(row)
    for key, wanted in row["expected"].items():
        assert found[key] in [wanted, *row.get("accept", {}).get(key, [])], (key, found, row["why"])


@pytest.mark.parametrize("row", [r for r in ROWS if r["kind"] == "text_distances"], ids=lambda row: str(row["id"]))
def test_texts_are_as_far_apart_as_a_row_says(row: dict[str, Any]) -> None:
    for name, wanted in row["expected"]["groups"].items():
        distances = [
            distance(simhash(recipe(a)) or 0, simhash(recipe(b)) or 0) for a, b in row["input"]["groups"][name]
        ]
        assert min(distances) >= wanted.get("min_distance", 0)
        assert max(distances) <= wanted.get("max_distance", 64)
        assert sum(d <= NEAR for d in distances) >= wanted.get("near_at_least", 0)


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
    text = random_words(count, 7, {})
    assert simhash(text) == of_the_package([f"{a} {b}" for a, b in pairwise(text.split())])


def test_weights_count_like_repetition() -> None:
    counted = Counter(shingles(random_words(300, 3, {}) + " a" * 400))
    digests = b"".join(map(xxh3_64_digest, counted))
    repeated = b"".join(xxh3_64_digest(feature) * weight for feature, weight in counted.items())
    assert simhash_of_digests(digests, list(counted.values())) == simhash_of_digests(repeated)


@given(st.text(max_size=60))
def test_the_short_way_for_ascii_finds_the_same_words(text: str) -> None:
    assert words(text + " é")[:-1] == words(text)


def test_scripts_without_spaces_give_pairs_of_characters() -> None:
    assert [shingle.decode() for shingle in shingles("漢字かな Word")] == ["漢 字", "字 か", "か な", "な word"]


def test_what_follows_the_text_limit_does_not_count() -> None:
    text = "word " * (MAX_TEXT_LENGTH // 5 + 1)
    assert simhash(text) == simhash(text + "other words at the end")
