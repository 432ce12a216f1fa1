"""Tables as files: the columns of sql/schema, in order, with their types and nothing missing."""

from datetime import timedelta
from pathlib import Path

import pytest

from crawler.core.errors import CorruptLake
from crawler.core.model import HostState
from crawler.store import query, tables
from tests.store.small_lake import NOON, known, lake_at

STAMP = {"cycle": NOON.date(), "bucket": 0, "epoch": 1, "sequence": 1}
ROW = {**known("http://a.test/"), **STAMP}


def test_rows_read_back_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "file.parquet"
    tables.write_rows(path, "url", [ROW], {"marks": "{}"})
    con = lake_at(tmp_path / "lake").connect()
    query.view_files(con, "rows_read", "url", [str(path)])
    (row,) = query.rows(con.execute("FROM rows_read"))
    assert {name: value for name, value in row.items() if value is not None} == ROW
    assert tables.read_metadata(str(path)) == {"marks": "{}"}


def test_an_empty_file_has_all_columns_with_their_types(tmp_path: Path) -> None:
    path = tmp_path / "it's empty.parquet"
    tables.write_rows(path, "url", [])
    con = lake_at(tmp_path / "lake").connect()
    for paths in ([], [str(path)]):
        query.view_files(con, "rows_read", "url", paths)
        found = [(row[0], row[1]) for row in con.execute("DESCRIBE rows_read").fetchall()]
        assert found == list(query.columns_of("url"))


@pytest.mark.parametrize("missing", ["url", "cycle"])
def test_a_row_without_a_value_that_must_be_there_is_not_written(tmp_path: Path, missing: str) -> None:
    with pytest.raises(ValueError, match=f"url.{missing} is NULL in 1 of 2 rows"):
        tables.write_rows(tmp_path / "file.parquet", "url", [ROW, {**ROW, missing: None}])


def test_a_result_without_a_value_that_must_be_there_is_not_written(tmp_path: Path) -> None:
    con = lake_at(tmp_path / "lake").connect()
    columns = ", ".join(f"NULL::{kind} AS {name}" for name, kind in query.columns_of("seed"))
    reader = con.sql(f"SELECT {columns}").to_arrow_reader()
    with pytest.raises(ValueError, match=r"seed\..* is NULL in 1 of 1 rows"):
        tables.write_result(tmp_path / "file.parquet", "seed", reader)


def test_the_largest_value_of_a_column_is_read_from_the_footer(tmp_path: Path) -> None:
    path = tmp_path / "file.parquet"
    tables.write_rows(path, "url", [ROW, {**ROW, "discovered_at": NOON - timedelta(days=1)}])
    assert tables.largest(str(path), "discovered_at") == NOON
    tables.write_rows(path, "url", [])
    assert tables.largest(str(path), "discovered_at") is None


def test_a_torn_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "file.parquet"
    tables.write_rows(path, "url", [ROW])
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(CorruptLake, match=r"file\.parquet: is no readable Parquet file"):
        tables.read_metadata(str(path))


def test_what_the_core_knows_of_a_host_are_columns_of_its_table() -> None:
    columns = {name for name, _ in query.columns_of("host_state")}
    assert set(HostState.__dataclass_fields__) - {"requests_last_day"} <= columns


def test_spans_cover_every_key_once_hold_no_more_rows_than_asked_and_cut_no_key() -> None:
    top = 1 << 63  # as integers with a sign these keys would be negative
    counts = [(1, 400), (7, 500), (8, 200), (top, 5000), (top + 9, 10), ((1 << 64) - 1, 990)]
    spans = tables.spans(counts, 1000)
    assert spans == [(0, 7), (8, top - 1), (top, top + 8), (top + 9, (1 << 64) - 1)]
    assert tables.spans([], 1000) == [tables.EVERY_KEY]
