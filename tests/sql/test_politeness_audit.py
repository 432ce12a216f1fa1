"""The audit of the log: what it finds, what it lets pass, and that it agrees with the scheduler."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.core.fetch_settings import PolitenessSettings
from crawler.store import query, tables
from tests.stages.simulation import Simulation, Site
from tests.store.small_lake import DAY, NOON, Row, asked_robots, observed

ADDRESS = "192.0.2.1"


def page(at: float, seconds: float = 0.0, delay: float = 1.0, *, host: str = "a.test", **fields: Any) -> Row:
    """A request `at` seconds after noon whose answer took `seconds`."""
    sent = NOON + timedelta(seconds=at)
    ended = sent + timedelta(seconds=seconds)
    return observed(f"http://{host}/{at}", at=sent, ended_at=ended, delay_seconds=delay, **fields)


def violations(pages: Sequence[Row], robots: Sequence[Row] = ()) -> list[tuple[str, float, float]]:
    """(rule, seconds after noon, seconds too early) of each row of the view."""
    con = duckdb.connect()
    con.execute("SET TimeZone = 'UTC'")
    for _, text in query.scripts("macros"):
        con.execute(text)
    stamp = {"cycle": DAY.day, "bucket": 0, "epoch": 1, "sequence": 1}
    for table, rows in (("observation", pages), ("robots", robots)):
        con.register(table, tables.rows_table(table, [{**stamp, **row} for row in rows]))
    con.execute(query.sql_text("views/06_politeness_audit").replace("CREATE VIEW", "CREATE TEMP VIEW"))
    found = con.execute("SELECT rule, fetched_at, early_seconds FROM politeness_audit").fetchall()
    return [(rule, round((at - NOON).total_seconds(), 3), round(early, 3)) for rule, at, early in found]


# One connection


def test_a_request_after_its_delay_is_fine_and_one_before_it_is_found() -> None:
    assert violations([page(0, 0.5), page(1.5), page(2.5)]) == []
    assert violations([page(0, 0.5), page(1.4), page(2.5)]) == [("delay", 1.4, 0.1)]


def test_a_robots_txt_counts_like_a_page() -> None:
    robots = [asked_robots("a.test", at=NOON, delay_seconds=3.0)]
    assert violations([page(2.0)], robots) == [("delay", 2.0, 1.0)]
    assert violations([page(3.0)], robots) == []


def test_what_was_not_sent_counts_for_nothing() -> None:
    assert violations([page(0, sent=False), page(0.1), page(0.2, sent=False)]) == []


# Several connections


def wide(at: float, seconds: float, delay: float = 1.0, **fields: Any) -> Row:
    return page(at, seconds, delay, connections=3, **fields)


def test_requests_may_be_under_way_together_up_to_their_connections() -> None:
    assert violations([wide(0, 9), wide(1, 9), wide(2, 9), wide(10, 1)]) == []
    assert violations([wide(0, 9), wide(1, 9), wide(2, 9), wide(9.5, 1)]) == [("connections", 9.5, 0.5)]
    assert violations([wide(0, 9), wide(1, 9), wide(2, 9), wide(3, 9)]) == [("connections", 3.0, 7.0)]


def test_the_rate_of_several_connections_is_that_of_one() -> None:
    quick = [wide(0, 0.1), wide(1, 0.1), wide(2, 0.1), wide(2.5, 0.1)]
    assert ("spacing", 2.5, 0.5) in violations(quick)


def test_a_busy_answer_holds_all_connections() -> None:
    busy = wide(1, 0.1, 60.0, status=503, outcome="rate_limited")
    assert ("hold", 4.0, 57.1) in violations([wide(0, 0.1), busy, wide(4, 0.1)])
    assert violations([wide(0, 5.0), busy, wide(61.2, 0.1)]) == []
    under_way = wide(1.5, 1.0)  # was on its way when the answer came
    assert [rule for rule, *_ in violations([wide(0, 0.1), wide(1, 0.7, 60.0, status=429), under_way])] == ["spacing"]


# Addresses


def gated(at: float, *, delay: float = 10.0, buckets: int = 1, **fields: Any) -> Row:
    host = fields.pop("host", f"h{at}.test")
    more = {"address": ADDRESS, "address_delay_seconds": delay, "address_buckets": buckets}
    return page(at, 0.0, 0.0, host=host, **more | fields)


def test_an_address_may_be_asked_its_rate_and_once_more_for_each_bucket() -> None:
    rate = [gated(10.0 * number) for number in range(20)]
    assert violations(rate) == []
    assert violations([*rate, gated(55.0), gated(56.0)])[-1] == ("address", 110.0, 5.0)
    assert violations([gated(at / 10) for at in range(8)]) == [("address", 0.7, 59.3)]


def test_buckets_share_the_rate_of_an_address_that_they_know_of() -> None:
    known = [gated(20.0 * at + bucket, buckets=2, bucket=bucket) for at in range(9) for bucket in range(2)]
    assert violations(known) == []
    faster = [gated(10.0 * at + bucket, buckets=2, bucket=bucket) for at in range(9) for bucket in range(2)]
    assert {rule for rule, *_ in violations(faster)} == {"address"}


def test_buckets_that_met_an_address_first_in_this_cycle_are_counted_apart() -> None:
    first_met = [gated(10.0 * at + bucket, bucket=bucket) for at in range(9) for bucket in range(2)]
    assert violations(first_met) == []


def test_an_address_without_an_interval_is_free() -> None:
    assert violations([gated(at / 100, delay=0.0) for at in range(300)]) == []


# The scheduler's own log


def logged(run: Simulation) -> list[Row]:
    rows = []
    for number, asked in enumerate(run.log):
        terms = run.schedule.gates.terms(asked.address)
        paced = {
            "connections": asked.connections,
            "address": asked.address,
            "address_delay_seconds": terms.delay_seconds,
            "address_buckets": terms.buckets,
            "status": 429 if asked.wish else 200,
        }
        row = page(asked.sent, asked.ended - asked.sent, asked.delay, host=asked.host, **paced)
        rows.append({**row, "url": f"http://{asked.host}/{number}"})
    return rows


@settings(max_examples=40, deadline=None)
@given(
    sites=st.lists(
        st.builds(
            Site,
            pages=st.integers(1, 15),
            delay=st.sampled_from([0.0, 0.3, 1.0]),
            replies=st.lists(
                st.tuples(st.floats(0.001, 3), st.sampled_from([200, 200, 429, 503]), st.sampled_from([None, 5.0])),
                min_size=1,
                max_size=5,
            ),
            addresses=st.lists(st.sampled_from([None, ADDRESS, "192.0.2.2"]), min_size=1, max_size=3),
            connecting=st.lists(st.floats(0, 1), min_size=1, max_size=3),
            connections=st.sampled_from([1, 2, 4]),
        ),
        min_size=1,
        max_size=6,
    ),
    interval=st.sampled_from([0.0, 0.25, 3.0]),
    buckets=st.integers(1, 3),
)
def test_the_scheduler_leaves_nothing_to_find(sites: list[Site], interval: float, buckets: int) -> None:
    named = {f"h{number}.test": site for number, site in enumerate(sites)}
    politeness = PolitenessSettings(delay_factor=0.0, address_delay_seconds=interval)
    run = Simulation(named, 16, politeness, {ADDRESS: buckets}, deadline=1e9).run()
    assert violations(logged(run)) == []


@pytest.mark.parametrize("connections", [1, 3])
def test_a_single_request_that_is_moved_forward_is_found(connections: int) -> None:
    site = Site(30, 1.0, [(0.4, 200, None)], connections=connections)
    rows = logged(Simulation({"a.test": site}, 4, PolitenessSettings(delay_factor=0.0)).run())
    for number in range(1, 30):
        moved = dict(rows[number], fetched_at=rows[number]["fetched_at"] - timedelta(seconds=0.1))
        assert violations([*rows[:number], moved, *rows[number + 1 :]]) != []
