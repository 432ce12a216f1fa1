"""How many URLs a core makes canonical: distinct absolute ones, and the links of pages as they stand there.

Of the 50 links of a page 30 are navigation that the pages of a site share. CPU time, the best of several rounds, each
with an empty memory.
"""

import random
import re
import time
from collections.abc import Callable, Iterator

from crawler.core.urls import canonicalize
from crawler.page import links as product
from crawler.page.links import Links

_DISTINCT = 40_000
_ROUNDS = 7
_HREF = re.compile(r'<a [^>]*?href="([^"]*)"')


def measure_urls(pages: list[tuple[str, bytes]]) -> dict[str, float]:
    """urls_per_second: distinct absolute URLs, without memory. relative_urls_per_second: links of pages, with it."""
    texts = list(distinct_urls(_DISTINCT))
    found = [(url, _links_of(body)) for url, body in pages]
    return {
        "urls_per_second": len(texts) / _best(lambda: _canonicalise(texts)),
        "relative_urls_per_second": sum(len(links) for _, links in found) / _best(lambda: _collect(found)),
    }


def distinct_urls(count: int) -> Iterator[str]:
    """As many different URLs: half are plain, a quarter has a query, the rest escapes, odd hosts, a session."""
    chance = random.Random("urls")
    for number in range(count):
        site = f"site-{chance.randrange(500)}.bench.test"
        word = f"{chance.getrandbits(40):x}"
        yield (
            f"https://{site}/articles/{number % 7}/story-{number}.html",
            f"https://www.{site}/{word}/{number}",
            f"http://{site}/topics/{word}/part-{number}/",
            f"https://{site}/2024/05/{number}-{word}.html#comments",
            f"https://shop.{site}/p/{word}?id={number}&utm_source=feed&color=red",
            f"http://{site}/search?q={word}+{number}&page=2",
            f"https://{site}/wiki/Caf%c3%a9_%28{word}%29/{number}",
            (
                f"HTTP://WWW.{site.upper()}:80/{word};jsessionid={number:032X}?b=1&a={number}",
                f"http://b\u00fccher.{site}/a b/{number}",
            )[number // 8 % 2],
        )[number % 8]


def _links_of(body: bytes) -> list[tuple[str, str]]:
    """Kind and text of each link of a page, in their order."""
    return [("a", text) for text in _HREF.findall(body.decode())]


def _canonicalise(texts: list[str]) -> None:
    for text in texts:
        canonicalize(text)


def _collect(pages: list[tuple[str, list[tuple[str, str]]]]) -> None:
    product._remembered.cache_clear()
    for url, found in pages:
        collected = Links()
        for kind, text in found:
            collected.add(kind, text, url)


def _best(run: Callable[[], None]) -> float:
    """CPU seconds of the fastest of several runs."""
    seconds = []
    for _ in range(_ROUNDS):
        start = time.process_time()
        run()
        seconds.append(time.process_time() - start)
    return min(seconds)
