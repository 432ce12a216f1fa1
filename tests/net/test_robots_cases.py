"""Every row of robots.jsonl: robots text, product token, URL: allowed, Crawl-delay, sitemaps."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from crawler.net.robots import Rules, parse

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "robots.jsonl").read_bytes().split(b"\n")
    if line
]
DISAGREED: dict[str, str] = {}  # id -> why the expectation is not met


def body_of(case: dict[str, Any]) -> bytes:
    if "robots_b64" in case:
        return base64.b64decode(case["robots_b64"])
    if "robots_parts" in case:
        return "".join(text * times for text, times in case["robots_parts"]).encode()
    return str(case["robots"]).encode()


def facts(rules: Rules, case: dict[str, Any]) -> dict[str, Any]:
    return {
        "allowed": rules.allowed(case["url"]) if "url" in case else None,
        "crawl_delay": rules.crawl_delay,
        "request_rate": list(rules.request_rate) if rules.request_rate else None,
        "sitemaps": list(rules.sitemaps),
    }


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["id"]))
def test_a_robots_row_is_met(row: dict[str, Any], request: pytest.FixtureRequest) -> None:
    if row["id"] in DISAGREED:
        request.applymarker(pytest.mark.xfail(reason=DISAGREED[row["id"]], strict=True))
    case = row["input"]
    found = facts(parse(body_of(case), case["user_agent"], robots_url=case.get("robots_url", "")), case)
    accepted = [row["expected"], *row.get("accept", [])]
    assert any(found | wanted == found for wanted in accepted), (found, accepted, row["why"])
