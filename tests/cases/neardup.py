"""Rows of neardup.jsonl: SimHash vectors, distances, and which pages and URLs count as the same."""

import hashlib
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from crawler.core.urls import CanonicalUrl, canonicalize
from crawler.page.fingerprint import distance, simhash, simhash_of_digests
from crawler.page.page import Page, read_page
from tests.cases.facts import Row
from tests.web.recipes import make

NEAR = 3  # bits by which near copies differ at most
ROOT = Path(__file__).parents[2]


def differences(row: Row) -> list[str]:
    found, expected = _facts(row), row["expected"]
    problems = []
    for key, wanted in expected.items():
        if key == "groups":
            problems += [each for name, limits in wanted.items() for each in _apart(found["groups"][name], limits)]
        elif key == "max_s":
            if found[key] > wanted:
                problems.append(f"took {found[key]:.2f} s, at most {wanted}")
        elif key not in found:
            problems.append(f"nothing is known of {key!r}")
        elif found[key] not in [wanted, *row.get("accept", {}).get(key, [])]:
            problems.append(f"{key} is {found[key]!r}, expected {wanted!r}")
    return problems


def _facts(row: Row) -> dict[str, Any]:
    given = row["input"]
    match row["kind"]:
        case "simhash_vector":
            found = _of_features(given["features"])
            return {"simhash": None if found is None else str(found)}
        case "simhash_pair":
            a, b = _of_features(given["features_a"]), _of_features(given["features_b"])
            return {"distance": _distance(a, b), "simhash_a": None if a is None else str(a)}
        case "hamming":
            a, b = int(given["a"], 16), int(given["b"], 16)
            blocks = [(a >> shift & 0xFFFF) == (b >> shift & 0xFFFF) for shift in range(0, 64, 16)]
            return {"distance": distance(a, b), "near_k3": distance(a, b) <= NEAR, "equal_16bit_blocks": sum(blocks)}
        case "texts":
            texts = [make(each).decode() for each in given["texts"]]
            started = time.monotonic()
            present = [None if simhash(text) is None else "present" for text in texts]
            return {"fingerprints": present, "max_s": time.monotonic() - started}
        case "text_distances":
            return {"groups": {name: [_apart_by(a, b) for a, b in pairs] for name, pairs in given["groups"].items()}}
        case "page_pair":
            return _pages(given["a"], given["b"])
        case "url_pair":
            one, other = canonicalize(given["a"]), canonicalize(given["b"])
            return {"same_url": isinstance(one, CanonicalUrl) and one == other}
        case "processes":
            prints = [_in_process(make(given["text"]).decode(), env) for env in given["env"]]
            return {"distance": max(distance(prints[0], each) for each in prints)}
    raise ValueError(f"a kind that this runner does not know: {row['kind']!r}")


def _pages(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    a, b = _page(one), _page(other)
    same_text = a.text_bytes > 0 and a.text_digest == b.text_digest
    near = a.simhash is not None and b.simhash is not None and distance(a.simhash, b.simhash) <= NEAR
    return {
        "same_group": same_text or near,
        "same_bytes": make(one["body"]) == make(other["body"]),
        "same_text_digest": a.text_digest == b.text_digest,
        "both_kept": True,  # only equal bodies are kept once
    }


def _page(given: dict[str, Any]) -> Page:
    content_type = given.get("content_type", "text/html; charset=utf-8")
    return read_page(
        make(given["body"]), url="https://example.com/", content_type=content_type, headers=[],
        product_token="bot", min_text_bytes=0, max_parse_bytes=2 << 20,
    )  # fmt: skip


def _apart(distances: list[int], limits: dict[str, int]) -> list[str]:
    near = sum(each <= NEAR for each in distances)
    is_met = (
        min(distances) >= limits.get("min_distance", 0)
        and max(distances) <= limits.get("max_distance", 64)
        and near >= limits.get("near_at_least", 0)
    )
    return [] if is_met else [f"distances {sorted(distances)}, expected {limits}"]


def _apart_by(a: Any, b: Any) -> int:
    return _distance(simhash(make(a).decode()), simhash(make(b).decode()))


def _distance(a: int | None, b: int | None) -> int:
    if a is None or b is None:
        return 0 if a == b else 64
    return distance(a, b)


def _of_features(features: list[list[Any]]) -> int | None:
    digests = b"".join(hashlib.md5(name.encode(), usedforsecurity=False).digest()[-8:] for name, _ in features)
    return simhash_of_digests(digests, [weight for _, weight in features])


def _in_process(text: str, env: dict[str, str]) -> int:
    program = "import sys; from crawler.page.fingerprint import simhash; print(simhash(sys.stdin.read()))"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, input=text, text=True, check=True, env=env, cwd=ROOT, capture_output=True)
    return int(done.stdout)
