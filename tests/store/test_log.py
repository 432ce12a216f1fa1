"""Names of the log's files, and which files count."""

import itertools
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.store.files import Files
from crawler.store.lease import Settled
from crawler.store.log import LogFile, counting, dense_last, list_cycle, list_table, standing

CYCLE = "2026-03-01"


def file(epoch: int, sequence: int, *, whole: bool = False, table: str = "link", cycle: str = CYCLE) -> LogFile:
    return LogFile(table, "bucket=0003", cycle, epoch, sequence, whole)


@pytest.mark.parametrize(
    ("named", "name"),
    [
        (file(7, 12), "link/bucket=0003/cycle=2026-03-01/e00000007-0012.parquet"),
        (file(7, 12, whole=True), "link/bucket=0003/cycle=2026-03-01/e00000007-0012-whole.parquet"),
        (file(12_345_678, 123_456), "link/bucket=0003/cycle=2026-03-01/e12345678-123456.parquet"),
    ],
)
def test_a_name_says_who_wrote_a_file_and_is_read_back(tmp_path: Path, named: LogFile, name: str) -> None:
    files = Files(str(tmp_path))
    files.put_bytes(b"", f"layout=1/{named.name}")
    assert named.name == name
    assert list_cycle(files, "layout=1", "link", "bucket=0003", CYCLE) == [named]


def test_a_listing_is_in_the_order_of_writing_and_passes_over_what_is_no_file_of_the_log(tmp_path: Path) -> None:
    files = Files(str(tmp_path))
    written = [file(2, 9999), file(2, 10_000), file(10, 1), file(10, 2, whole=True), file(1, 1, cycle="2026-03-02")]
    for each in reversed(written):
        files.put_bytes(b"", f"layout=1/{each.name}")
    folder = f"layout=1/link/bucket=0003/cycle={CYCLE}"
    for stranger in ("e1-1.parquet", "e00000001-0001.parquet.tmp", ".e00000001-0001.parquet", "notes.txt"):
        files.put_bytes(b"", f"{folder}/{stranger}")
    files.put_bytes(b"", "layout=1/link/bucket=0003/other/e00000001-0001.parquet")
    assert list_cycle(files, "layout=1", "link", "bucket=0003", CYCLE) == written[:4]
    assert list_table(files, "layout=1", "link", "bucket=0003") == written
    assert list_table(files, "layout=1", "link", "bucket=0004") == []


@pytest.mark.parametrize(("sequences", "last"), [([], 0), ([2, 3], 0), ([1], 1), ([3, 1, 2], 3), ([1, 2, 2, 4, 5], 2)])
def test_sequence_numbers_count_up_to_the_first_gap(sequences: list[int], last: int) -> None:
    assert dense_last(sequences) == last


def test_a_file_counts_up_to_its_epoch_s_sealed_number() -> None:
    settled = Settled(4, {1: 2, 4: 1, 5: 9})
    found = [file(epoch, sequence) for epoch in range(7) for sequence in range(1, 4)]
    assert counting(found, settled) == [file(1, 1), file(1, 2), file(4, 1)]


def test_a_whole_file_replaces_what_is_older_of_its_table_and_cycle_and_nothing_else() -> None:
    settled = Settled(3, {1: 3, 2: 2, 3: 1})
    older = [file(1, 1), file(1, 2, whole=True), file(2, 1)]
    newer = [file(2, 2, whole=True), file(3, 1)]
    others = [file(1, 3, table="robots"), file(1, 3, cycle="2026-03-02")]
    assert counting([*older, *newer, *others], settled) == [*newer, *others]


def test_a_void_whole_file_replaces_nothing() -> None:
    assert counting([file(1, 1), file(1, 2, whole=True)], Settled(1, {1: 1})) == [file(1, 1)]


LOGS = st.lists(
    st.builds(file, st.integers(1, 4), st.integers(1, 3), whole=st.booleans()),
    unique_by=lambda found: (found.epoch, found.sequence),
)


@given(LOGS, st.dictionaries(st.integers(1, 4), st.integers(1, 3)))
def test_what_counts_is_what_a_reader_of_all_files_in_order_would_keep(
    found: list[LogFile], sealed: dict[int, int]
) -> None:
    kept: list[LogFile] = []
    for each in sorted(found, key=lambda named: (named.epoch, named.sequence)):
        if each.sequence <= sealed.get(each.epoch, 0):
            kept = [each] if each.whole else [*kept, each]
    for order in itertools.islice(itertools.permutations(found), 6):
        assert sorted(counting(order, Settled(4, sealed)), key=lambda named: named.name) == kept


@given(LOGS, st.dictionaries(st.integers(1, 4), st.integers(1, 3)), st.integers(1, 4))
def test_what_counts_of_the_past_is_not_changed_by_later_epochs(
    found: list[LogFile], sealed: dict[int, int], now: int
) -> None:
    past = {epoch: last for epoch, last in sealed.items() if epoch <= now}
    then = counting([each for each in found if each.epoch <= now], Settled(now, past))
    assert then == counting(found, Settled(now, sealed))


@given(
    written=st.lists(st.tuples(st.integers(1, 28), st.booleans()), min_size=1, max_size=12),
    merged=st.integers(0, 12),
)
def test_a_month_stands_for_exactly_the_files_that_it_was_merged_of(
    written: list[tuple[int, bool]], merged: int
) -> None:
    """Whatever days of a month are written in whatever order, before and after it is merged."""
    settled = Settled(99, dict.fromkeys(range(1, 99), 1))
    files = [
        file(epoch, 1, whole=whole, cycle=f"2026-03-{day:02}") for epoch, (day, whole) in enumerate(written, start=1)
    ]
    before = counting(files[:merged], settled)
    if not before:
        return
    place = max(each.place for each in before)
    month = file(*place, whole=True, cycle="2026-03")
    months = counting([*files, month], settled)
    assert month in months
    assert [each for each in months if each in files[:merged]] == []
    later = counting(files[merged:], settled)
    assert [each for each in months if each != month] == later


def test_of_publications_that_are_being_renewed_each_row_is_read_once() -> None:
    old = [file(epoch, 1, whole=True, cycle=f"2026-03-{epoch:02}") for epoch in (1, 2, 3, 9)]
    month = file(3, 1, whole=True, cycle="2026-03")
    later = file(9, 1, whole=True, cycle="2026-03")
    other = file(2, 1, table="url", cycle="2026-03-02")
    names = [each.name for each in (*old, month, other)]
    assert standing(names) == sorted(each.name for each in (old[3], month, other))
    assert standing([*names, later.name]) == sorted([later.name, other.name])
    revised = replace(month, revision=1)
    assert standing([month.name, revised.name, old[0].name]) == [revised.name]
    assert standing(["plan/bucket=0000/cycle=2026-03-01/plan.parquet"] * 2) == [
        "plan/bucket=0000/cycle=2026-03-01/plan.parquet"
    ]
