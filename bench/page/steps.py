"""CPU of each step of reading a page, alone in one thread; the peers that do the same work beside it.

Times are of the thread's CPU, the least of several rounds over all pages. In each round the pages are on hosts that no
round before has seen, so that URLs are remembered no longer than a crawl would.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from lxml import html
from simhash import Simhash
from xxhash import xxh3_64_digest

from crawler.core.config import Settings
from crawler.core.urls import CanonicalUrl
from crawler.page import fingerprint
from crawler.page.decode import decode
from crawler.page.directives import Directives
from crawler.page.elements import Said, read_elements
from crawler.page.links import Links
from crawler.page.markup import parse
from crawler.page.reading import Job, LinkWriter, read
from crawler.page.text import main_text
from crawler.stages.fetch.parsing import rules_of

WORDS = 7000
_ROUNDS = 5
_RULES = rules_of(Settings.model_validate({"crawl": {"user_agent": "benchbot/1 (bench@example.com)"}}))


class _Unresolved(Links):
    """Links that are found and left as they are: what walking the page costs without them."""

    def add(self, *_arguments: Any, **_named: Any) -> CanonicalUrl | None:
        return None


@dataclass(slots=True)
class _Watch:
    """Sums CPU seconds by step."""

    seconds: dict[str, float] = field(default_factory=dict)

    def __call__(self, step: str, work: Callable[..., Any], *arguments: Any) -> Any:
        began = time.thread_time()
        found = work(*arguments)
        self.seconds[step] = self.seconds.get(step, 0.0) + time.thread_time() - began
        return found


def measure_steps(pages: Sequence[tuple[str, bytes]]) -> dict[str, float]:
    """CPU milliseconds a page of each step, `page_ms` for the whole of them in one call; ratios to peers."""
    rounds = []
    for number in range(_ROUNDS):
        watch = _Watch()
        # One after the other over all pages: what a peer leaves in the processor's caches burdens no step.
        for part in (_read_in_steps, _read_whole, _read_by_peers):
            for url, body in pages:
                part(watch, url.replace(".bench.", f".{number}.{part.__name__}.bench.".replace("_", "-")), body)
        rounds.append(watch.seconds)
    milliseconds = {step: 1000 * min(each[step] for each in rounds) / len(pages) for step in rounds[0]}
    walk = milliseconds.pop("walk")
    lxml = milliseconds.pop("lxml")
    package = milliseconds.pop("package")
    milliseconds["canonicalise"] = milliseconds.pop("elements") - walk
    steps = {"decode": milliseconds["decode"], "parse": milliseconds["parse"], "links": walk}
    steps |= {name: milliseconds[name] for name in ("canonicalise", "text", "fingerprint", "page")}
    found = {f"{name}_ms": value for name, value in steps.items()}
    return found | {
        "parse_ratio": found["parse_ms"] / lxml,
        "fingerprint_ratio": found["fingerprint_ms"] / package,
    }


def measure_fingerprint(pages: Sequence[tuple[str, bytes]]) -> dict[str, float]:
    """CPU milliseconds of the SimHash of a text of 7,000 words, and the same through that of the package."""
    words: list[str] = []
    for _, body in pages:
        words += main_text(parse(body.decode())).split()
        if len(words) >= WORDS:
            break
    text = " ".join(words[:WORDS])
    ours, package = _best(fingerprint.simhash, text), _best(_package_simhash, text)
    return {"fingerprint_ms_per_7000_words": 1000 * ours, "fingerprint_7000_ratio": ours / package}


def _read_in_steps(watch: _Watch, url: str, body: bytes) -> None:
    text = watch("decode", decode, body, "text/html").text
    markup = watch("parse", parse, text)
    arguments = (markup.tree, url, "benchbot")
    watch("walk", read_elements, *arguments, Said(_Unresolved(), Directives()))
    said = Said(Links(), Directives())
    watch("elements", read_elements, *arguments, said)
    main = watch("text", main_text, markup)
    watch("fingerprint", _fingerprints, main, list(said.links.found))


def _read_whole(watch: _Watch, url: str, body: bytes) -> None:
    job = Job(url, url, 0, "text/html", "text/html", [], datetime(2026, 1, 1, tzinfo=UTC), None, body)
    watch("page", read, job, _RULES, LinkWriter(_RULES.traps))


def _read_by_peers(watch: _Watch, _url: str, body: bytes) -> None:
    watch("lxml", html.document_fromstring, body)
    watch("package", _package_simhash, main_text(parse(body.decode())))


def _fingerprints(text: str, urls: list[str]) -> None:
    fingerprint.copy_digest(fingerprint.text_digest(text), urls)
    fingerprint.simhash(text)


def _package_simhash(text: str) -> int:
    words = text.lower().split()
    return int(Simhash([f"{a} {b}" for a, b in pairwise(words)], hashfunc=xxh3_64_digest).value)


def _best(work: Callable[[str], object], text: str) -> float:
    seconds = []
    for _ in range(40):
        began = time.thread_time()
        work(text)
        seconds.append(time.thread_time() - began)
    return min(seconds)
