"""What running fetches say of themselves, and who believes it."""

from pathlib import Path

import pytest

from crawler.core.progress import Progress
from crawler.store import overview
from crawler.store.doctor import examine
from crawler.store.live import LIVE, LiveProgress, running
from tests.store.small_cycle import CYCLES, prepare, seeded_lake
from tests.store.small_lake import DAY, lake_at

SAID = Progress(
    7, observed=3, requests=4, wire_bytes=99, ready=1, waiting=2, held=1, seconds=1.5, outcomes={"ok": 2, "gone": 1}
)
NAME = f"layout=1/{LIVE}/bucket=0000.json"


def test_what_a_fetch_says_is_read_while_it_runs_and_is_gone_afterwards(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    assert running(lake) == []
    with lake.own("bucket", 0, DAY) as owner, LiveProgress(lake, owner) as live:
        assert running(lake) == []
        live.write(Progress(7))
        live.write(SAID)
        (found,) = running(lake)
        assert (found.bucket, found.cycle, found.progress) == (0, str(DAY), SAID)
        assert found.progress.pages_per_second == 2.0
        assert [finding.paths for finding in examine(lake) if finding.kind == "foreign"] == []
    assert not lake.files.exists(NAME)


def test_a_fetch_that_says_nothing_leaves_nothing(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    with lake.own("bucket", 0, DAY) as owner, LiveProgress(lake, owner):
        pass
    assert running(lake) == []


def test_what_a_killed_fetch_has_left_is_not_believed_when_the_next_one_runs(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    with lake.own("bucket", 0, DAY) as owner:
        LiveProgress(lake, owner).write(SAID)
    assert lake.files.exists(NAME)
    assert running(lake) == []
    with lake.own("bucket", 0, DAY) as owner:
        assert running(lake) == []
        LiveProgress(lake, owner).write(SAID)
        assert len(running(lake)) == 1


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"epoch": 1}', b'{"cycle": "C", "epoch": 1, "at": "x", "progress": {"planned": []}}'],
)
def test_a_file_that_holds_something_else_says_nothing(tmp_path: Path, content: bytes) -> None:
    lake = lake_at(tmp_path)
    with lake.own("bucket", 0, DAY):
        lake.files.overwrite(content, NAME)
        assert running(lake) == []


def test_outcomes_that_do_not_exist_are_left_out(tmp_path: Path) -> None:
    said = SAID.to_dict()
    said["outcomes"]["\x1b[31m<script>"] = 1
    assert Progress.from_dict(said) == SAID


def test_a_running_bucket_stands_where_its_fetch_says(tmp_path: Path) -> None:
    lake = seeded_lake(tmp_path)
    prepare(lake, CYCLES[0])
    with lake.own("bucket", 0, CYCLES[0]) as owner, LiveProgress(lake, owner) as live:
        (planned,) = [part.planned for part in overview.partitions(lake) if part.bucket == 0]
        live.write(Progress(planned, observed=planned))
        part = overview.partitions(lake)[0]
        assert (part.state, part.done, part.open) == ("running", planned, 0)
        assert part.to_dict()["live"]["observed"] == planned
    part = overview.partitions(lake)[0]
    assert (part.state, part.done, part.live) == ("planned", 0, None)
