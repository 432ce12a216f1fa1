"""What is counted of a host is the same over any checkpoints, as a plain loop counts it; its times are as measured."""

import tempfile
from collections import Counter
from datetime import timedelta
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.core.outcomes import CONSEQUENCES, Kind
from crawler.store import candidates, query, state
from crawler.store.budget import rule_queries
from crawler.store.holds import hold
from crawler.store.lake import Lake
from crawler.store.reader import FOLDED
from crawler.store.state import open_state, view_counted, write_checkpoint
from tests.store.small_lake import NOON, Row, asked_robots, digest, host_state, lake_at, observed, read, write

URLS = ("http://a.test/1", "http://a.test/2", "http://b.test/")
SECONDS = st.floats(0.001, 1000, exclude_max=True)
ANSWERS = st.builds(
    lambda url, outcome, seconds, changed, counts: observed(
        url,
        outcome=outcome,
        sent=outcome != "denied_by_robots",
        status=None if CONSEQUENCES[outcome].kind in (Kind.DENIED, Kind.ERROR) else 200,
        ended_at=NOON + timedelta(seconds=seconds),
        content_changed=changed if outcome == "ok" else None,
        wire_bytes=counts[0],
        saved_bytes=counts[1],
    ),
    st.sampled_from(URLS),
    st.sampled_from(["ok", "not_modified", "gone", "timed_out", "denied_by_robots"]),
    st.sampled_from([0.0, 0.0004, 0.02, 0.021, 3.0, 5000.0]),
    st.none() | st.booleans(),
    st.tuples(st.integers(0, 9), st.integers(0, 9)),
)
BATCHES = st.lists(
    st.tuples(st.none() | st.lists(ANSWERS, min_size=1, max_size=4), st.booleans()), min_size=1, max_size=5
)


def tally(lake: Lake, *, without_checkpoints: bool = False) -> list[Row]:
    con = lake.connect()
    with pytest.MonkeyPatch.context() as patch:
        if without_checkpoints:
            patch.setattr(state, "checkpoint_revisions", lambda *_: {})
        view_counted(lake, con, 0, lake.settled("bucket", 0))
    return query.rows(query.run(con, "state/tally"))


def counted(rows: list[Row]) -> dict[tuple[str, str], Counter[str]]:
    """By host and outcome, without the classes."""
    found: dict[tuple[str, str], Counter[str]] = {}
    for row in rows:
        sums = found.setdefault((row["host"], row["outcome"]), Counter())
        for name in ("observations", "requests", "brought", "wire_bytes", "saved_bytes"):
            sums[name] += row[name]
        sums["answers"] += row["observations"] if row["response_class"] is not None else 0
    return found


def as_rows(observations: list[Row]) -> list[Row]:
    """Observations as if each were a row of the tally."""
    return [
        {
            **{name: row[name] for name in ("host", "outcome", "wire_bytes", "saved_bytes")},
            "observations": 1,
            "requests": int(row["sent"]),
            "brought": int(row["outcome"] == "ok" and row["content_changed"] is not False),
            "response_class": 0 if row["sent"] and row["status"] else None,
        }
        for row in observations
    ]


@settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(BATCHES)
def test_the_tally_of_checkpoint_and_tail_is_that_of_the_log_is_a_plain_count(
    batches: list[tuple[list[Row] | None, bool]],
) -> None:
    everything: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        lake = lake_at(Path(folder))
        for rows, cut_here in batches:
            if rows is None:  # the end of a fetch, which makes one file of all
                write(lake, 0, {"observation": read(lake, "observation")}, finished=True)
            else:
                write(lake, 0, {"observation": rows})
                everything += rows
            if cut_here:
                settled = lake.settled("bucket", 0)
                write_checkpoint(open_state(lake, lake.connect(), 0, settled))
        found = tally(lake)
        assert found == tally(lake, without_checkpoints=True)
        assert counted(found) == counted(as_rows(everything))


@pytest.fixture(scope="module")
def times() -> duckdb.DuckDBPyConnection:
    """The view response_time over an empty table newest_tally."""
    con = duckdb.connect()
    for _, text in query.scripts("macros"):
        con.execute(text)
    con.execute(query.sql_text("schema/tally").partition("COMMENT")[0].replace("TABLE tally", "TABLE newest_tally"))
    con.execute(query.sql_text("views/01_response_time"))
    return con


@settings(max_examples=100, deadline=None)
@given(seconds=st.lists(SECONDS, min_size=1, max_size=300))
def test_a_response_time_is_within_the_stated_error_of_the_exact_nearest_rank(
    times: duckdb.DuckDBPyConnection, seconds: list[float]
) -> None:
    measured = sorted(int(each * 1e6) for each in seconds)
    times.execute("DELETE FROM newest_tally")
    times.execute(
        "INSERT INTO newest_tally SELECT 0, 1, 'a.test', 'ok', response_class(us), 1, 1, 0, 0, 0 "
        "FROM (SELECT unnest($measured::BIGINT[]) AS us)",
        {"measured": measured},
    )
    (row,) = query.rows(times.execute("FROM response_time"))
    assert row["answers"] == len(measured)
    for percent in (50, 90, 99):
        exact = measured[-(-percent * len(measured) // 100) - 1] / 1e6
        assert 1 / 1.091 <= row[f"p{percent}_seconds"] / exact <= 1.091, percent


def test_the_budget_that_a_reader_sees_is_the_cap_of_a_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = {
        "few.test": {"max_urls": 7},
        "none.test": {"max_urls": 0},
        "slow.test": {"delay_seconds": 5000.0},
        "closed.test": {"blackout": ["11:00-14:00"]},
    }
    lake = lake_at(tmp_path, plan={"max_urls_per_host": 1000}, fetch={"window_hours": 1}, host=own)
    pace = [
        ("fast.test", 0.5, None, None),
        ("patient.test", 30.0, "127.0.0.1", NOON - timedelta(days=3)),
        ("busy.test", 10.0, None, NOON - timedelta(days=1)),
        ("few.test", 0.0, None, NOON),
        ("none.test", 1.0, None, NOON),
        ("glacial.test", 9000.0, None, None),
        ("held.test", 1.0, None, None),
    ]
    hold(lake, "held.test", "they asked")
    con = lake.connect()
    monkeypatch.setattr(candidates, "barren_hosts", lambda *_: {})
    candidates._keep_caps(lake, con, 0, pace, NOON)
    planned = dict(con.execute("SELECT host, cap FROM host_cap").fetchall())
    rows = [host_state(host, delay_seconds=delay, busy_at=busy_at) for host, delay, _, busy_at in pace]
    write(lake, 0, {"host_state": rows})
    state.view_log(lake, con, 0, lake.settled("bucket", 0))
    con.execute(f"CREATE TEMP VIEW newest_host AS {query.sql_text('state/host')}")
    for view, text in rule_queries(lake, NOON).items():
        con.execute(f"CREATE TEMP VIEW {view} AS {text}")
    con.execute(query.sql_text("views/01_host_budget").replace("CREATE VIEW", "CREATE TEMP VIEW"))
    shown = {host: (urls, because) for host, urls, because in con.execute("FROM host_budget").fetchall()}
    assert {host: urls for host, (urls, _) in shown.items()} == planned
    assert {host: because for host, (_, because) in shown.items()} == {
        "fast.test": "max_urls",
        "patient.test": "delay",
        "busy.test": "busy",
        "few.test": "busy",
        "none.test": "max_urls",
        "slow.test": "delay",
        "glacial.test": "delay",
        "closed.test": "blackout",
        "held.test": "hold",
    }


def test_a_host_is_shown_with_its_outcomes_its_lane_and_the_robots_txt_in_force(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    took = {"ended_at": NOON + timedelta(seconds=2)}
    answers = [
        observed(URLS[0], "one", content_changed=None, wire_bytes=5, **took),
        observed(URLS[0], "one", content_changed=False, **took),
        observed(URLS[1], outcome="not_modified", status=304, saved_bytes=7, **took),
        observed(URLS[1], outcome="timed_out", status=None, **took),
    ]
    old, new = (
        asked_robots("a.test", body_digest=digest(text), at=NOON + timedelta(days=n)) for n, text in enumerate("on")
    )
    hop = asked_robots("a.test", "redirect", final=False, at=NOON + timedelta(days=2))
    states = [host_state("a.test", slow=True), host_state("b.test")]
    write(lake, 0, {"observation": answers, "host_state": states, "robots": [new, old, hop]})
    con = lake.connect()
    state.view_log(lake, con, 0, lake.settled("bucket", 0))
    view_counted(lake, con, 0, lake.settled("bucket", 0))
    for view, statement in FOLDED.items():
        con.execute(f"CREATE TEMP VIEW {view} AS {query.sql_text(statement)}")
    for name in ("01_response_time", "02_asked_host"):
        con.execute(query.sql_text(f"views/{name}").replace("CREATE VIEW", "CREATE TEMP VIEW"))
    first, second = query.rows(con.execute("FROM asked_host ORDER BY host"))
    assert first["outcomes"] == {"not_modified": 1, "ok": 2, "timed_out": 1}
    assert (first["requests"], first["failures"], first["new_share"]) == (4, 1, round(1 / 3, 4))
    assert (first["wire_bytes"], first["saved_bytes"], first["lane"]) == (5, 7, "slow")
    assert first["robots_version"] == digest("n").hex()
    assert first["response_p50_seconds"] == pytest.approx(2, rel=0.091)
    assert (second["requests"], second["outcomes"], second["lane"], second["robots_version"]) == (0, {}, "normal", None)
