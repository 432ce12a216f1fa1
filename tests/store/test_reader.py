"""What readers see: views that are there from the start, and the same for any DuckDB client."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from crawler.stages import check, publish
from crawler.store import query
from crawler.store.lake import Lake
from crawler.store.reader import VIEWS_FILE, open_reader, view_names, write_views_file
from crawler.store.state import open_state
from tests.store.small_cycle import CYCLES, fetch_all, fold, prepare, run_whole, seeded_lake
from tests.store.small_lake import lake_at
from tests.store.small_web import PAGES, A, B

TABLES = ("observation", "link", "url", "robots", "rejected", "capture", "copy", "plan", "admitted", "seed")
QUESTIONS = ("page", "host", "cycle", "coverage", "freshness", "politeness_audit")

CLIENT = """
import duckdb, json, sys
con = duckdb.connect(sys.argv[1], read_only=True)
con.execute("SET TimeZone = 'UTC'")
views = [name for (name,) in con.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()]
tables = con.execute("SELECT count(*) FROM duckdb_tables()").fetchone()[0]
answers = {view: [repr(row) for row in con.execute(f'FROM "{view}" ORDER BY ALL').fetchall()] for view in views}
json.dump({"tables": tables, "answers": answers}, sys.stdout)
"""


def columns(con: duckdb.DuckDBPyConnection, view: str) -> list[tuple[str, str]]:
    return [(row[0], row[1]) for row in con.execute(f'DESCRIBE "{view}"').fetchall()]


def everything(con: duckdb.DuckDBPyConnection) -> dict[str, list[str]]:
    return {
        view: [repr(row) for row in con.execute(f'FROM "{view}" ORDER BY ALL').fetchall()] for view in view_names(con)
    }


def urls(con: duckdb.DuckDBPyConnection, view: str = "observation", where: str = "true") -> list[str]:
    return [url for (url,) in con.execute(f"SELECT url FROM {view} WHERE {where} ORDER BY ALL").fetchall()]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """Three published cycles of the small web, after which all is fetched; nothing writes to it."""
    made = seeded_lake(tmp_path_factory.mktemp("lake"))
    for cycle in CYCLES[:3]:
        run_whole(made, cycle)
    return made


def test_every_view_is_there_on_an_empty_lake_and_has_the_columns_that_it_has_later(lake: Lake, tmp_path: Path) -> None:
    with open_reader(lake_at(tmp_path)) as empty, open_reader(lake) as full:
        assert {*TABLES, *QUESTIONS} <= set(view_names(empty))
        assert list(view_names(empty)) == list(view_names(full))
        for view in view_names(empty):
            assert columns(empty, view) == columns(full, view), view
            rows = 1 if view == "general_rule" else 0  # settings are there from the start
            assert empty.execute(f'SELECT count(*) FROM "{view}"').fetchone() == (rows,), view


def test_a_view_of_a_table_has_the_table_s_columns(lake: Lake) -> None:
    with open_reader(lake) as con:
        for table in TABLES:
            assert columns(con, table) == list(query.columns_of(table)), table


def test_another_process_reads_the_same_from_the_file_of_views_which_holds_no_table(lake: Lake) -> None:
    path = lake.files.path(VIEWS_FILE)
    command = [sys.executable, "-c", CLIENT, path]
    found = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    with open_reader(lake) as con:
        assert found == {"tables": 0, "answers": everything(con)}


def test_the_file_of_views_is_replaced_while_a_client_reads_it(lake: Lake) -> None:
    with duckdb.connect(lake.files.path(VIEWS_FILE), read_only=True) as client:
        before = urls(client)
        write_views_file(lake)
        assert urls(client) == before
    assert not list(Path(lake.files.path("staging")).iterdir()), "nothing is left of its making"


def test_nothing_of_a_cycle_is_seen_before_it_is_published(tmp_path: Path) -> None:
    lake = seeded_lake(tmp_path, buckets=1)
    cycle = CYCLES[0]
    prepare(lake, cycle)
    fetch_all(lake, cycle)
    fold(lake, cycle)
    check.run(lake, cycle)
    with open_reader(lake) as con:
        assert not any(rows for view, rows in everything(con).items() if view not in ("seed", "general_rule"))
        publish.run(lake, cycle)
        assert urls(con) == [], "an open reader stays with what it saw"
    with open_reader(lake) as con:
        assert urls(con) == sorted([f"{A}/", f"{B}/"])


def test_the_page_view_is_the_state_of_all_buckets(lake: Lake) -> None:
    expected: list[Any] = []
    for bucket in range(lake.buckets):
        con = lake.connect()
        open_state(lake, con, bucket, lake.settled("bucket", bucket))
        expected += con.execute("SELECT * FROM state_page").fetchall()
    with open_reader(lake) as con:
        names = ", ".join(name for name, _ in query.columns_of("page"))
        assert sorted(con.execute(f"SELECT {names} FROM page").fetchall()) == sorted(expected)
        assert set(urls(con, "page")) == set(PAGES)


def test_the_capture_view_shows_one_body_per_content_and_names_whom_it_was_fetched_for(lake: Lake) -> None:
    with open_reader(lake) as con:
        found = dict(con.execute("SELECT body::VARCHAR, url FROM capture").fetchall())
        assert set(found) == {text for text, _ in PAGES.values()}
        assert con.execute("SELECT count(*) FROM capture").fetchone() == (len(found),)
        assert all(PAGES[url][0] == text for text, url in found.items())


def test_the_cycle_view_counts_what_each_cycle_did(lake: Lake) -> None:
    with open_reader(lake) as con:
        names = "planned, observed, first_fetched, not_modified, open, new_urls, buckets, failed_buckets"
        found = con.execute(f"SELECT {names} FROM cycle ORDER BY cycle").fetchall()
    # Two seeds and the three pages that they name, then the one that those name, then none.
    assert found == [(2, 2, 2, 0, 0, 5, 2, 0), (5, 5, 3, 2, 0, 1, 2, 0), (6, 6, 1, 5, 0, 0, 2, 0)]
