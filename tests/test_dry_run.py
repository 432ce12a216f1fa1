"""A dry run says what plan and admit would choose, and of all else what keeps it out; the lake stays as it is."""

from collections.abc import Iterator
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from crawler.core.cycle import Cycle
from crawler.core.errors import BadOutput
from crawler.dry_run import dry_run
from crawler.stages import admit, plan, seed
from crawler.store import holds, purges
from crawler.store.admission import read_admission
from crawler.store.forces import force
from crawler.store.lake import Lake
from crawler.store.ledger import FetchLedger
from tests.store.small_lake import DAY, NOON, bucket_of_url, lake_at, make_known, observed, write

HOSTS = ("a.test", "b.test", "c.test", "d.test", "e.test")


def a_lake(root: Path, **sections: Any) -> Lake:
    """Two buckets; pages of five hosts, some new, some fetched at different times, some failed or denied."""
    own = {"c.test": {"max_urls": 1}, "d.test": {"blackout": ["11:00-13:00"]}, "e.test": {"max_urls": 0}}
    lake = lake_at(
        root,
        buckets=2,
        host=own,
        fetch={"window_hours": 1},
        scope={"rules": [{"deny": "/private"}]},
        **{"plan": {"budget_urls": 6, "new_share": 0.5}, **sections},
    )
    seed.run(lake, [f"http://{host}/" for host in HOSTS])
    for host in ("a.test", "b.test", "c.test"):
        urls = [f"http://{host}/{number}" for number in range(6)]
        make_known(lake, *urls, f"http://{host}/private", depth=2)
        rows = [observed(url, url, at=NOON - timedelta(days=0.4 + 5 * number)) for number, url in enumerate(urls[:4])]
        rows[3] |= {"outcome": "denied_by_robots", "status": None, "sent": False}
        rows[2] |= {"outcome": "gone", "status": 404}
        rows[3]["fetched_at"] = rows[2]["fetched_at"] = NOON - timedelta(hours=3)
        write(lake, bucket_of_url(lake, urls[0]), {"observation": rows})
    return lake


def rows_of(path: Path) -> dict[str, dict[str, Any]]:
    return {row["url"]: row for row in pq.read_table(path).to_pylist()}


def chosen(lake: Lake, cycle: Cycle = DAY) -> Iterator[str]:
    """What a fetch of the cycle would be given."""
    for bucket in range(lake.buckets):
        plan.run(lake, cycle, bucket)
    admit.run(lake, cycle)
    for bucket in range(lake.buckets):
        with lake.own("bucket", bucket, cycle) as owner:
            yield from (target.url for target in FetchLedger(lake, owner).todo())


def contents(lake: Lake) -> dict[str, str]:
    root = Path(lake.files.root)
    return {str(path): sha256(path.read_bytes()).hexdigest() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"budget_urls": 50},
        {"budget_urls": 3, "new_share": 0.0},
        {"budget_urls": 4, "objective": "age"},
        {"budget_urls": 50, "budget_bytes": 60},
        {"budget_urls": 9, "weights": [{"path": "/1", "weight": 9}], "recheck_seeds_days": 1},
    ],
)
def test_what_is_in_is_what_plan_and_admit_choose(tmp_path: Path, settings: dict[str, Any]) -> None:
    lake = a_lake(tmp_path / "lake", plan=settings)
    holds.hold(lake, "b.test", "they wrote to us")
    force(lake, "http://a.test/0", "news")
    found = dry_run(lake, DAY, tmp_path / "out.parquet")
    rows = rows_of(tmp_path / "out.parquet")
    assert len(rows) == 26
    selected = {url for url, row in rows.items() if row["is_in"]}
    assert selected == set(chosen(lake))
    admission = read_admission(lake, DAY)
    assert admission is not None
    assert (found.admitted, found.cutoff_value) == (len(selected), admission.cutoff_value)
    assert sum(row["urls"] for row in found.reasons) == len(rows)
    assert sum(row["urls"] for row in found.reasons if row["is_in"]) == found.admitted


def test_every_url_that_is_left_out_says_the_first_thing_that_keeps_it_out(tmp_path: Path) -> None:
    lake = a_lake(tmp_path / "lake")
    holds.hold(lake, "b.test")
    force(lake, "http://a.test/0", "news")
    purges.purge(lake, "http://c.test/5")
    dry_run(lake, DAY, tmp_path / "out.parquet")
    reasons = {url: row["reason"] for url, row in rows_of(tmp_path / "out.parquet").items()}
    assert reasons["http://a.test/0"] == "forced"
    assert reasons["http://a.test/2"] == "resting"
    assert reasons["http://a.test/3"] == "robots"
    assert reasons["http://a.test/private"] == "scope"
    assert reasons["http://b.test/0"] == "min_interval"
    assert reasons["http://b.test/1"] == "held"
    assert reasons["http://c.test/5"] == "purged"
    assert reasons["http://d.test/"] == "blackout"
    assert reasons["http://e.test/"] == "host_cap"
    assert {reasons[f"http://c.test/{path}"] for path in ("", "1", "4")} >= {"host_cap"}
    assert rows_of(tmp_path / "out.parquet")["http://a.test/private"]["rule"] == "scope.rules deny /private"
    assert rows_of(tmp_path / "out.parquet")["http://a.test/0"]["rule"] == "news"


def test_the_lake_stays_as_it_is_and_a_plan_that_stands_is_told(tmp_path: Path) -> None:
    lake = a_lake(tmp_path / "lake")
    before = contents(lake)
    found = dry_run(lake, Cycle((NOON + timedelta(days=3)).date()), tmp_path / "out.csv")
    assert contents(lake) == before
    assert not found.is_planned
    assert pyarrow.csv.read_csv(tmp_path / "out.csv").num_rows == 26
    list(chosen(lake))
    assert dry_run(lake, DAY, tmp_path / "again.parquet").is_planned


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("lake/out.parquet", "is inside the lake"),
        ("out.json", "ends with neither .parquet nor .csv"),
        ("there.csv", "exists already"),
        ("nowhere/out.csv", "is in a folder that does not exist"),
    ],
)
def test_a_file_that_may_not_be_written_is_refused(tmp_path: Path, name: str, said: str) -> None:
    lake = lake_at(tmp_path / "lake")
    (tmp_path / "there.csv").touch()
    with pytest.raises(BadOutput, match=said):
        dry_run(lake, DAY, tmp_path / name)
