"""Rows of urls.jsonl: a URL, perhaps with a base; its canonical form or `reject`, and whether its shape is a trap."""

from datetime import date

from crawler.core.config import TrapSettings
from crawler.core.shape import shape_trap
from crawler.core.urls import CanonicalUrl, canonicalize
from tests.cases.facts import Row, compared

FOUND_ON = date(2026, 11, 25)


def differences(row: Row) -> list[str]:
    given = row["input"]
    url = canonicalize(given["url"], given.get("base"))
    found = {"url": url.url if isinstance(url, CanonicalUrl) else "reject"}
    accepted = {"expected": {"url": row["expected"]}, "accept": [{"url": each} for each in row.get("accept", ())]}
    return compared(found, accepted) + _trap(found["url"], row)


def _trap(url: str, row: Row) -> list[str]:
    if "trap" not in row or url == "reject":
        return []
    return compared({"trap": bool(shape_trap(url, 0, TrapSettings(), FOUND_ON))}, {"expected": {"trap": row["trap"]}})
