"""Real pages, broken at random, and bombs: whatever comes, each page has its one end and no other page is touched."""

import random
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crawler.core.columns import LinkColumns
from crawler.page.reading import Job, LinkWriter, Reading, read
from crawler.stages.fetch import parsing
from tests.cases.links import body_of_input
from tests.cases.rows import our_rows
from tests.stages.memory_ledger import make_settings

REAL = [path.read_bytes() for path in sorted((Path(__file__).parents[1] / "page" / "real").glob("*.html"))]
RULES = parsing.rules_of(make_settings())
FRAGMENTS = [b"<b><i><font>", b"<div>" * 50, b"</table>", b"<!--", b"-->", b"<script>", b"<svg><a>", b"<select>"]
FRAGMENTS += [b"<table><td>", b"<template>", b"<plaintext>", b"\0", b"\xff\xfe", b"&#x10ffff;", b'<a href="', b"'" * 9]
FRAGMENTS += [b"<p hidden>", b'<base href="//[">', b"<meta charset=utf-16>", b"<ul><li>" * 99, b"<a b c d " * 99]
EXPECTED = re.compile(r"ParserFailed: |MemoryError|the parser (took longer|died|ended)")
Mutation = Callable[[bytes, random.Random], bytes]


def cut(body: bytes, chance: random.Random) -> bytes:
    start, end = span(body, chance)
    return body[:start] + body[end:]


def repeat(body: bytes, chance: random.Random) -> bytes:
    start, end = span(body, chance)
    return body[:end] + body[start:end] * chance.randint(1, 40) + body[end:]


def insert(body: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(body) + 1)
    return body[:at] + chance.choice(FRAGMENTS) * chance.choice([1, 1, 2, 300]) + body[at:]


def flip(body: bytes, chance: random.Random) -> bytes:
    changed = bytearray(body)
    for _ in range(chance.randint(1, 200) if changed else 0):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def lose(body: bytes, chance: random.Random) -> bytes:
    lost = chance.choice([b'"', b">", b"</", b"=", b"\n", b"</li>", b"</a>", b"<"])
    return body.replace(lost, b"")


def end_early(body: bytes, chance: random.Random) -> bytes:
    return body[: chance.randrange(len(body) + 1)]


def span(body: bytes, chance: random.Random) -> tuple[int, int]:
    start = chance.randrange(len(body) + 1)
    return start, min(len(body), start + chance.choice([1, 8, 60, 400, 3000]))


MUTATIONS: list[Mutation] = [cut, repeat, insert, flip, lose, end_early]


def mutant(seed: int) -> bytes:
    chance = random.Random(seed)
    body = REAL[seed % len(REAL)]
    for mutate in chance.choices(MUTATIONS, k=chance.randint(1, 5)):
        body = mutate(body, chance)
    return body


def job(name: str, body: bytes) -> Job:
    url = f"http://a.test/{name}"
    return Job(url, url, 0, "text/html", "text/html", [], datetime(2026, 11, 30, tzinfo=UTC), None, body)


def read_here(body: bytes, name: str) -> tuple[Reading, list[str]]:
    links = LinkWriter(RULES.traps)
    reading = read(job(name, body), RULES, links)
    return reading, list(links.columns().urls)


def read_all(bodies: dict[str, bytes], seconds: float) -> dict[str, tuple[Reading, list[str]]]:
    """What the workers deliver for each page; that they deliver each once."""
    found: dict[str, tuple[Reading, list[str]]] = {}
    failures: list[BaseException] = []

    def deliver(readings: list[tuple[str, Reading]], links: LinkColumns) -> None:
        urls = iter(links.urls)
        for (name, reading), count in zip(readings, links.counts, strict=True):
            assert name not in found
            found[name] = reading, [next(urls) for _ in range(count)]

    parser: parsing.Workers[str] = parsing.Workers(RULES, deliver, failures.append, count=1, seconds=seconds)
    try:
        for name, body in bodies.items():
            parser.submit(name, job(name, body))
        parser.drain()
        assert (parser.pages, parser.weight) == (0, 0)
    finally:
        parser.close()
    assert failures == []
    assert found.keys() == bodies.keys()
    return found


def check(bodies: dict[str, bytes], seconds: float) -> dict[str, str]:
    """The errors of the pages among which every third is a real one, which must be read as if it were alone."""
    mixed = {}
    for number, (name, body) in enumerate(bodies.items()):
        mixed[name] = body
        if number % 2:
            mixed[f"real-{number}"] = REAL[number % len(REAL)]
    found = read_all(mixed, seconds)
    for name, (reading, links) in found.items():
        if name.startswith("real-"):
            assert (reading, links) == read_here(mixed[name], name)
        elif reading.error is None:
            assert len(reading.text_digest) == 32
        else:
            assert EXPECTED.match(reading.error)
            assert links == []
    return {name: reading.error for name, (reading, _) in found.items() if reading.error is not None}


@pytest.mark.parametrize("batch", range(2))
def test_mutations_of_real_pages_end_as_pages_or_as_parser_failed(batch: int) -> None:
    errors = check({f"m{seed}": mutant(seed) for seed in range(batch * 80, batch * 80 + 80)}, seconds=5)
    assert len(errors) < 40, "most broken pages can be read"


def test_the_bombs_of_the_cases_end_within_the_deadline() -> None:
    bombs = {row["id"]: body_of_input(row["input"]) for row in our_rows("links.jsonl") if row["category"] == "bomb"}
    assert len(bombs) >= 3
    errors = check(bombs, seconds=2)
    assert set(errors) <= set(bombs)
    assert errors


def test_a_worker_loads_nothing_that_reading_pages_does_not_need() -> None:
    program = "import crawler.page.worker, sys; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert {"pydantic", "duckdb", "pyarrow", "requests", "lxml"} & set(loaded) == set()


def test_mutants_are_read_the_same_in_the_task_and_in_a_worker() -> None:
    bodies = {f"m{seed}": mutant(seed) for seed in range(1000, 1030)}
    for name, (reading, links) in read_all(bodies, seconds=30).items():
        assert (reading, links) == read_here(bodies[name], name)
