"""Every row of robots.jsonl: robots text, product token, URL: allowed, Crawl-delay, sitemaps."""

from tests.cases.facts import Row
from tests.cases.required import each_row, require


@each_row("robots.jsonl")
def test_a_robots_row_is_met(row: Row) -> None:
    require("robots.jsonl", row)
