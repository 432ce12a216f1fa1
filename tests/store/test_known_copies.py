"""What a shard knows of copies is the same from its runs as from its whole log."""

import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.stages import fingerprint
from crawler.store.files import Files
from crawler.store.known_copies import superseded_runs
from crawler.store.lake import Lake
from tests.store.small_lake import DAY, Row, bucket_of_url, digest, lake_at, observed, read, write

A, B = "http://a.test/", "http://b.test/longer"
NEVER = 10**9


def eager(root: Any, rows: int = 1, share: float = 0.5, buckets: int = 1) -> Lake:
    """A lake whose shards write a run as soon as their tail has so many rows."""
    return lake_at(root, buckets=buckets, lake={"checkpoint_min_rows": rows, "checkpoint_share": share})


def see(lake: Lake, *rows: Row) -> None:
    for row in rows:
        write(lake, bucket_of_url(lake, row["url"]), {"observation": [row]})
    for shard in range(lake.buckets):
        fingerprint.run(lake, DAY, shard)


def runs(lake: Lake, shard: int = 0) -> list[str]:
    return sorted(path.name for path in Path(lake.files.root).glob(f"layout=1/checkpoint/shard={shard:04d}/*"))


def told(lake: Lake) -> list[tuple[Any, ...]]:
    """What the log says of copies, whoever wrote it when."""
    rows = read(lake, "copy", kind="shard")
    return [
        (row["kind"], row["digest"], row["url"], row["first_url"], row["is_first"], row["is_holder"]) for row in rows
    ]


BODIES = [bytes(8) + bytes([last]) * 24 for last in (1, 2)] + [digest("other")]  # two whose first 8 bytes are equal
CYCLES = st.lists(
    st.dictionaries(
        st.builds("http://{}.test/{}".format, st.sampled_from("abc"), st.sampled_from(["", "xx"])),
        st.tuples(st.sampled_from(BODIES), st.booleans(), st.none() | st.sampled_from(BODIES)),
        max_size=4,
    ),
    max_size=7,
)


@settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(CYCLES, st.sampled_from([1, 3, 5]), st.sampled_from([0.2, 1.0]))
def test_runs_anywhere_give_the_same_copies_as_none(
    cycles: list[dict[str, tuple[bytes, bool, bytes | None]]], rows: int, share: float
) -> None:
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        lakes = [eager(one, rows, share), eager(other, NEVER)]
        for lake in lakes:
            for number, pages in enumerate(cycles):
                at = DAY.start + timedelta(hours=number)
                see(
                    lake,
                    *(
                        observed(url, body_digest=body, stored=stored, copy_digest=copy, at=at)
                        for url, (body, stored, copy) in pages.items()
                    ),
                )
        assert told(lakes[0]) == told(lakes[1])
        assert runs(lakes[1]) == []


def test_a_run_takes_in_those_before_it_that_are_not_much_longer(tmp_path: Path) -> None:
    lake = eager(tmp_path, rows=2, share=1.0)
    for number in range(7):
        see(lake, observed(f"{A}{number}", f"body {number}"))
    settled = lake.settled("shard", 0)
    assert runs(lake) == [
        "e00000000-e00000005-copy.arrow",
        "e00000000-e00000009-copy.arrow",
        "e00000009-e00000013-copy.arrow",
    ]
    assert [name.rsplit("/", 1)[1] for name in superseded_runs(lake, 0, settled)] == ["e00000000-e00000005-copy.arrow"]


def test_a_run_that_is_killed_half_way_is_not_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = eager(tmp_path)
    see(lake, observed(B, "same"))
    with monkeypatch.context() as killed:
        killed.setattr(Files, "create", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            see(lake, observed(A, "same"))
    assert runs(lake) == []
    see(lake, observed(f"{A}later", "same"))
    assert {first for _, _, _, first, _, _ in told(lake)} == {B}
    assert len(runs(lake)) == 1


def test_what_is_known_is_found_without_the_log_before_the_runs(tmp_path: Path) -> None:
    lake = eager(tmp_path)
    see(lake, observed(B, "same"))
    see(lake, observed(f"{B}/else", "else"))
    assert runs(lake)
    newest = max(Path(tmp_path).glob("layout=1/copy/*/*/*.parquet"))
    for path in Path(tmp_path).glob("layout=1/copy/*/*/*.parquet"):
        if path != newest:
            path.unlink()
    see(lake, observed(A, "same"))
    assert told(lake)[-1][3] == B
