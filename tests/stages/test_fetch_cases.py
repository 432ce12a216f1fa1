"""Every row of http.jsonl: scripts for a misbehaving server and what must follow, through the whole fetch stage."""

from tests.cases.facts import Row
from tests.cases.required import each_row, require


@each_row("http.jsonl")
def test_an_http_row_is_met(row: Row) -> None:
    require("http.jsonl", row)
