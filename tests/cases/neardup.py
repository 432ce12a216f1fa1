"""Rows of neardup.jsonl: SimHash vectors, distances, which pages and URLs are the same, who stands for a group."""

import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, permutations
from pathlib import Path
from typing import Any

from crawler.core.urls import CanonicalUrl, canonicalize
from crawler.page.fingerprint import distance, simhash, simhash_of_digests
from crawler.page.page import Page, read_page
from crawler.stages import fingerprint, merge
from crawler.store import query
from crawler.store.near import find_pairs
from crawler.store.state import open_state
from tests.cases.facts import Row
from tests.store.small_lake import DAY, bucket_of_url, canonical, known, lake_at, observed, write
from tests.web.recipes import make

NEAR = 3  # bits by which near copies differ at most
ROOT = Path(__file__).parents[2]
ORDERS = 24  # of which all must give one answer, where all are meant


def differences(row: Row) -> list[str]:
    found, expected = _facts(row), row["expected"]
    problems = []
    for key, wanted in expected.items():
        if key == "groups":
            problems += [each for name, limits in wanted.items() for each in _apart(found["groups"][name], limits)]
        elif key == "max_s":
            if found[key] > wanted:
                problems.append(f"took {found[key]:.2f} s, at most {wanted}")
        elif key == "one_of":
            problems += [f"{url} stands for the pages, expected {wanted}" for url in found[key] if url not in wanted]
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
        case "index":
            return _index(given, row.get("folder", Path(__file__).parent))
        case "representative":
            orders = islice(permutations(given["pages"]), ORDERS)
            stand = {url for order in orders for url in _representatives(order)}
            return {"stable": len(stand) == 1, "one_of": sorted(stand)}
    raise ValueError(f"a kind that this runner does not know: {row['kind']!r}")


# What is near among many


def _index(given: dict[str, Any], folder: Path) -> dict[str, Any]:
    started = time.process_time()
    found = [_answers(ops, given["k"], folder) for ops in _orders(given)]
    spent = (time.process_time() - started) / len(found)
    first = found[0]
    return {"answers": first if found.count(first) == len(found) else "differ with the order", "max_s": spent}


def _orders(given: dict[str, Any]) -> Iterable[list[Any]]:
    if given.get("orders") != "all":
        return [given["ops"]]
    inserts = [op for op in given["ops"] if op[0] == "insert"]
    rest = [op for op in given["ops"] if op[0] != "insert"]
    return [[*order, *rest] for order in islice(permutations(inserts), ORDERS)]


def _answers(ops: list[Any], k: int, folder: Path) -> list[Any]:
    pages: dict[str, int] = {}  # what the state of the lake is for the product: of each page its newest SimHash
    answers: list[Any] = []
    for op, *rest in ops:
        match op:
            case "insert":
                pages[rest[0]] = int(rest[1], 16)
            case "delete":
                del pages[rest[0]]
            case "insert_file":
                pages |= {f"c{place}": value for place, value in enumerate(_values(folder, *rest))}
            case "query":
                answers += _near(pages, [int(rest[0], 16)], k)
            case "query_file":
                answers.append(list(_near(pages, _values(folder, *rest), k)))
            case "pairs":
                near = zip(pages, _near(pages, list(pages.values()), k), strict=True)
                found = {tuple(sorted((page, other))) for page, others in near for other in others if other != page}
                answers.append(sorted(map(list, found)))
            case _:
                raise ValueError(f"an operation that this runner does not know: {op!r}")
    return answers


def _values(folder: Path, file: str, key: str) -> list[int]:
    return [int(value, 16) for value in json.loads((folder / file).read_bytes())[key]]


def _near(pages: dict[str, int], values: Sequence[int], k: int) -> Iterator[list[str]]:
    """For each of `values` the pages near it, found by the product's search."""
    con = query.catalogue()
    query.keep_rows(con, "arrived", "simhash UBIGINT", [(value,) for value in values])
    query.keep_rows(con, "comparable", "simhash UBIGINT", [(value,) for value in pages.values()])
    find_pairs(con, k)
    near: dict[int, set[int]] = {}
    for value, other in con.sql("SELECT simhash, near_simhash FROM pair").fetchall():
        near.setdefault(value, set()).add(other)
    for value in values:
        yield sorted(page for page, other in pages.items() if other in near.get(value, ()))


# Who stands for a group


def _representatives(pages: Sequence[dict[str, Any]]) -> set[str]:
    """The pages that stand for `pages` after a cycle that fetched them in that order, each by an owner of its own."""
    with tempfile.TemporaryDirectory() as root:
        lake = lake_at(root, buckets=2)
        for given in pages:
            url = canonical(given["url"]).url
            link = given.get("canonical")
            page = _page(
                given, url, [("Link", link if link.startswith("<") else f'<{link}>; rel="canonical"')] if link else []
            )
            row = observed(
                url,
                body_digest=hashlib.sha256(make(given["body"])).digest(),
                text_digest=page.text_digest,
                copy_digest=page.copy_digest,
                simhash=page.simhash,
                canonical_url=page.canonical.url if page.canonical else None,
            )
            write(lake, bucket_of_url(lake, url), {"url": [known(url)], "observation": [row]})
        for stage in (fingerprint, merge):
            for number in range(lake.buckets):
                stage.run(lake, DAY, number)
        found = set()
        for bucket in range(lake.buckets):
            con = lake.connect()
            open_state(lake, con, bucket, lake.settled("bucket", bucket))
            found |= set(con.sql("SELECT coalesce(near_of, duplicate_of, url) FROM state_page").fetchall())
        return {url for (url,) in found}


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


def _page(given: dict[str, Any], url: str = "https://example.com/", headers: Sequence[tuple[str, str]] = ()) -> Page:
    content_type = given.get("content_type", "text/html; charset=utf-8")
    return read_page(
        make(given["body"]), url=url, content_type=content_type, headers=headers,
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
