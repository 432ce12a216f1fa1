"""Where the time of a page goes: each part of the fetch stage alone, in one thread of a process of its own.

The real parts on the pages of the bench. What the whole task takes beyond their sum is the work of threads on each
other, what passes between processes, and the start. Arguments: settings file and a JSON file with `urls` and `files`.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from crawler.core.clock import SystemClock
from crawler.core.config import load_settings
from crawler.core.outcomes import Outcome
from crawler.net.client import Client
from crawler.net.resolver import Resolver
from crawler.page import fingerprint, page
from crawler.page.links import Links

_PARTS = {
    "canonicalise": ((Links, "add"),),
    "text": ((page, "main_text"),),
    "fingerprint": ((fingerprint, "text_digest"), (fingerprint, "copy_digest"), (fingerprint, "simhash")),
}


def main() -> None:
    """Run each part alone and print its CPU milliseconds a page."""
    settings = load_settings(sys.argv[1])
    job = json.loads(Path(sys.argv[2]).read_text())
    urls: list[str] = job["urls"]
    bodies = [Path(file).read_bytes() for file in job["files"]]
    client = Client(
        settings.fetch,
        settings.crawl.user_agent,
        Resolver(settings.fetch.resolve, settings.fetch.allow_private),
        SystemClock(),
    )

    def request(url: str) -> None:
        reply = client.get(url)
        if reply.outcome is not Outcome.OK:
            raise SystemExit(f"{url}: {reply.outcome.value}: {reply.error}")

    def read(url: str, body: bytes) -> None:
        page.read_page(
            body,
            url=url,
            content_type="text/html",
            headers=[("Content-Type", "text/html")],
            product_token=settings.crawl.product_token,
            min_text_bytes=settings.copies.min_text_bytes,
            max_parse_bytes=settings.fetch.max_parse_bytes,
        )

    for url in urls[:50]:
        request(url)
    found = {"request": _took(lambda: _each(request, urls))}
    read(urls[0], bodies[0])
    found["parse"] = _took(lambda: _each(read, urls, bodies))
    for part, places in _PARTS.items():
        seconds = [0.0]
        for owner, name in places:
            method = getattr(owner, name)
            setattr(owner, name, _timed(method, seconds))
            _each(read, urls, bodies)
            setattr(owner, name, method)
        found[part] = seconds[0]
        found["parse"] -= seconds[0]
    print(json.dumps({part: 1000 * seconds / len(urls) for part, seconds in found.items()}))


def _each(work: Callable[..., None], *arguments: list[Any]) -> None:
    for chosen in zip(*arguments, strict=True):
        work(*chosen)


def _took(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _timed(method: Callable[..., Any], seconds: list[float]) -> Callable[..., Any]:
    def timed(*arguments: Any, **named: Any) -> Any:
        began = time.thread_time()
        try:
            return method(*arguments, **named)
        finally:
            seconds[0] += time.thread_time() - began

    return timed


if __name__ == "__main__":
    main()
