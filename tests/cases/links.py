"""Rows of links.jsonl: HTML in; links, directives, canonical and charset out."""

import re
import time
from datetime import UTC, datetime
from typing import Any

from crawler.page.page import Page, ParserFailed, read_page
from tests.cases.facts import Row, body_of, compared

_FOLLOWED = ("a", "area", "frame", "iframe", "next", "header")
_STEP = re.compile(r'"(?P<text>[^"]*)"(?: for I in 0\.\.n-1|(?P<times> n times| once)?)')


def differences(row: Row) -> list[str]:
    given = row["input"]
    if "canonical_target" in given and not {"html", "html_b64", "html_parts", "html_gen"} & given.keys():
        return compared({"merge": _merges(given["canonical_target"])}, row)
    accepted = [_spelled(each) for each in (row["expected"], *row.get("accept", ()))]
    return compared(_facts(given), {"expected": accepted[0], "accept": accepted[1:]})


def read(body: bytes, **changes: Any) -> Page:
    """The page of a body, at an address that is as good as any."""
    arguments: dict[str, Any] = {
        "url": "https://example.com/a/page.html",
        "content_type": "text/html",
        "headers": [],
        "product_token": "ExampleBot",
        "min_text_bytes": 0,
        "max_parse_bytes": 2 << 20,
        "at": datetime(2026, 11, 30, tzinfo=UTC),
    }
    return read_page(body, **(arguments | changes))


def _facts(given: dict[str, Any]) -> dict[str, Any]:
    headers = given.get("headers", [])
    pairs = list(headers.items()) if isinstance(headers, dict) else [(name, value) for name, value in headers]
    content_type = next((value for name, value in pairs if name.lower() == "content-type"), "text/html")
    body = body_of_input(given)
    started = time.monotonic()
    try:
        page = read(body, url=given["url"], headers=pairs, content_type=content_type)
    except ParserFailed:
        return {"returns_within_s": _Within(time.monotonic() - started)}
    took = time.monotonic() - started

    def targets(*kinds: str) -> list[str]:
        return [link.target.url for link in page.links if link.kind in kinds]

    return {
        "links": targets(*_FOLLOWED),
        "nofollow": [link.target.url for link in page.links if link.nofollow],
        "page_nofollow": page.nofollow,
        "noindex": page.noindex,
        "canonical": page.canonical.url if page.canonical else None,
        "refresh": next(iter(targets("refresh")), None),
        "charset": page.charset,
        "returns_within_s": _Within(took),
    }


def body_of_input(given: dict[str, Any]) -> bytes:
    """The body of a row, be it given, in parts or generated."""
    return _generated(given["html_gen"]) if "html_gen" in given else body_of(given, "html")


class _Within:
    """Seconds that equal every limit above them."""

    def __init__(self, took: float) -> None:
        self._took = took

    def __eq__(self, limit: object) -> bool:
        return isinstance(limit, int | float) and self._took < limit

    def __hash__(self) -> int:
        return hash(self._took)

    def __repr__(self) -> str:
        return f"{self._took:.2f}"


def _spelled(expected: dict[str, Any]) -> dict[str, Any]:
    """`nofollow` of a row is about the page if it is true or false, about links if it lists them."""
    if not isinstance(expected.get("nofollow"), bool):
        return expected
    return {"page_nofollow" if name == "nofollow" else name: value for name, value in expected.items()}


def _merges(canonical: str) -> bool:
    """Whether two pages that name the same canonical URL count as one."""
    head = f'<link rel="canonical" href="{canonical}">'
    one, other = (
        read(f"<head>{head}</head><p>{text}".encode(), url=f"https://example.com/{text}")
        for text in ("one text", "another")
    )
    return one.text_digest == other.text_digest or one.copy_digest == other.copy_digest


def _generated(recipe: dict[str, Any]) -> bytes:
    """A body by words: `"TEXT" for I in 0..n-1`, `"TEXT" n times` and `"TEXT" once`, joined by `, then `."""
    count, body = int(recipe["n"]), ""
    for step in recipe["recipe"].split(", then "):
        found = _STEP.fullmatch(step)
        if found is None:
            raise ValueError(f"a recipe that this runner cannot read: {step!r}")
        text, times = found["text"], found["times"]
        if times is None and step.endswith("n-1"):
            body += "".join(re.sub(r"\bI\b", str(number), text) for number in range(count))
        else:
            body += text * (count if times == " n times" else 1)
    return body.encode()
