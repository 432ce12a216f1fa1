"""Rows of robots.jsonl: a robots.txt, a product token and a URL; what is allowed and what else it says."""

from typing import Any

from crawler.net.robots import parse
from tests.cases.facts import Row, body_of, compared


def differences(row: Row) -> list[str]:
    return compared(_facts(row["input"]), row)


def _facts(given: dict[str, Any]) -> dict[str, Any]:
    rules = parse(body_of(given, "robots"), given["user_agent"], robots_url=given.get("robots_url", ""))
    return {
        "allowed": rules.allowed(given["url"]) if "url" in given else None,
        "crawl_delay": rules.crawl_delay,
        "request_rate": list(rules.request_rate) if rules.request_rate else None,
        "sitemaps": list(rules.sitemaps),
    }
