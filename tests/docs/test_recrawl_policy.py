"""The worked histories of docs/recrawl-policy.md are what the product's own macros compute."""

import re
from pathlib import Path

import duckdb
import pytest

from crawler.store import query
from crawler.store.outlook import PERIODS

PAGE = Path(__file__).resolve().parents[2] / "docs/recrawl-policy.md"
_CHECK = re.compile(r"(\d+)(=|C)")
_ROW = re.compile(r"\| `([^`]*)` \| (\d+) \| (.+?) \((\d+) %\) \| (\d+) % \| ([\d.]+) \| ([\d.]+) \| .* \|")


def rows() -> list[tuple[str, ...]]:
    return [found.groups() for line in PAGE.read_text().splitlines() if (found := _ROW.fullmatch(line))]


def computed(con: duckdb.DuckDBPyConnection, history: str, days: int) -> tuple[list[float], float, float, float]:
    """The belief after `history`, the probability of being stale and both worths, from rates that are all as likely."""
    con.execute("CREATE OR REPLACE TEMP TABLE told AS SELECT no_evidence() AS evidence")
    for waited, mark in _CHECK.findall(history):
        con.execute(
            "CREATE OR REPLACE TEMP TABLE told AS SELECT add_evidence("
            "evidence, check_evidence($changed::BOOLEAN, $days::DOUBLE, NULL::DOUBLE)) AS evidence FROM told",
            {"changed": mark == "C", "days": float(waited)},
        )
    con.execute(
        "CREATE OR REPLACE TEMP TABLE logs AS "
        "SELECT log_belief(log_prior(no_evidence(), 0, no_evidence(), 0), evidence) AS logs FROM told"
    )
    con.execute("CREATE OR REPLACE TEMP TABLE held AS SELECT belief(logs, most_believed(logs)) AS belief FROM logs")
    found = con.execute(
        "SELECT belief, belief_sum(belief), stale_share(belief, $days::DOUBLE), "
        "freshness_index(belief, $days::DOUBLE, 0e0), age_index(belief, $days::DOUBLE, 0e0) FROM held",
        {"days": float(days)},
    ).fetchone()
    assert found is not None
    return [found[0][f"k{number}"] / found[1] for number in range(8)], found[2], found[3], found[4]


@pytest.mark.parametrize(("history", "days", "period", "share", "stale", "fresh", "age"), rows())
def test_a_worked_history_is_what_the_macros_compute(
    history: str, days: str, period: str, share: str, stale: str, fresh: str, age: str
) -> None:
    belief, stale_share, freshness, aged = computed(query.catalogue(), history, int(days))
    assert (period, share) == (PERIODS[belief.index(max(belief))], f"{100 * max(belief):.0f}")
    assert stale == f"{100 * stale_share:.0f}"
    assert (fresh, age) == (f"{freshness:.3g}", f"{aged:.3g}")


def test_there_are_five_of_them() -> None:
    assert len(rows()) == 5
