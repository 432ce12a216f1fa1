"""What explain says of a URL's changes and of its next fetch is what plans then do."""

from datetime import timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from crawler.core.cycle import Cycle
from crawler.dry_run import dry_run
from crawler.stages import admit, plan, seed
from crawler.store import holds
from crawler.store.admission import read_admission
from crawler.store.explain import explain
from crawler.store.forces import force
from crawler.store.lake import Lake
from crawler.store.outlook import Outlook
from tests.store.small_lake import DAY, NOON, lake_at, observed, write

URLS = [f"http://a.test/{name}" for name in ("often", "rarely", "new")]


def checked_lake(root: Path, **settings: object) -> Lake:
    """Two pages that were checked weekly, one always changed and one never, and a new one; planned for one URL."""
    lake = lake_at(root, plan={"budget_urls": 1, "new_share": 0.0, **settings})
    seed.run(lake, URLS)
    for week in range(5, 0, -1):
        at = NOON - timedelta(days=7 * week)
        changed = None if week == 5 else True
        often = observed(URLS[0], f"text {week}", at=at, content_changed=changed)
        rarely = observed(URLS[1], "text", at=at, content_changed=None if week == 5 else False)
        write(lake, 0, {"observation": [often, rarely]}, cycle=Cycle(at.date()))
    plan.run(lake, DAY, 0)
    admit.run(lake, DAY)
    return lake


def outlook_of(lake: Lake, url: str) -> Outlook:
    found = explain(lake, url).outlook
    assert found is not None
    return found


def test_the_belief_adds_up_and_follows_what_was_seen(tmp_path: Path) -> None:
    lake = checked_lake(tmp_path)
    often, rarely, new = (outlook_of(lake, url) for url in URLS)
    for each in (often, rarely, new):
        assert sum(each.belief.values()) == pytest.approx(1)
    assert rarely.mean_rate < new.mean_rate < often.mean_rate
    assert (often.checks, rarely.checks, new.checks) == (4, 4, 0)
    assert often.stale_probability is not None
    assert rarely.stale_probability is not None
    assert rarely.stale_probability < often.stale_probability < 1
    assert new.stale_probability is None
    assert often.value is not None
    assert explain(lake, URLS[0]).timeline == "NCCCC"
    assert explain(lake, URLS[1]).timeline == "N===="


def test_the_next_cycle_is_the_first_in_which_the_url_is_worth_the_cut_off(tmp_path: Path) -> None:
    """The one that was not taken rises until it is worth what the other was."""
    lake = checked_lake(tmp_path / "lake", weights=[{"path": "/rarely", "weight": 4}])
    admission = read_admission(lake, DAY)
    assert admission is not None
    (left_out,) = (url for url in URLS[:2] if explain(lake, url).last_plan.code != "open")
    found = outlook_of(lake, left_out)
    assert (found.cutoff_cycle, found.cutoff_value) == (str(DAY), admission.cutoff_value)
    assert found.next_cycle is not None
    predicted = Cycle.parse(found.next_cycle)
    assert predicted.day > DAY.day

    def priority_in(cycle: Cycle) -> int:
        file = tmp_path / f"{cycle}.parquet"
        dry_run(lake, cycle, file)
        return next(row["priority"] for row in pq.read_table(file).to_pylist() if row["url"] == left_out)

    assert priority_in(predicted) >= admission.cutoff_priority
    before = Cycle(predicted.day - timedelta(days=1))
    assert before == DAY or priority_in(before) < admission.cutoff_priority


def test_what_decides_apart_from_worth_is_said(tmp_path: Path) -> None:
    lake = checked_lake(tmp_path)
    tomorrow = str(Cycle(DAY.day + timedelta(days=1)))
    force(lake, URLS[1], "a reader asked")
    forced = outlook_of(lake, URLS[1])
    assert (forced.next_cycle, forced.forced) == (tomorrow, "a reader asked")
    assert "a reader asked" in forced.next_reason
    holds.hold(lake, "a.test")
    held = outlook_of(lake, URLS[1])
    assert held.next_cycle is None
    assert "cannot be known: its host is held" in held.next_reason


def test_a_url_comes_when_its_longest_interval_is_over_and_when_the_budget_reaches_all(tmp_path: Path) -> None:
    rules = [{"path": "/rarely", "max_days": 9}]
    bounded = outlook_of(checked_lake(tmp_path / "bounded", intervals=rules), URLS[1])
    assert (bounded.next_cycle, bounded.next_reason) == ("2026-03-04", "its longest interval is over then")
    rich = outlook_of(checked_lake(tmp_path / "rich", budget_urls=9, new_share=1.0), URLS[1])
    assert (rich.cutoff_value, rich.next_cycle) == (None, "2026-03-02")
    assert rich.next_reason == "the budget reaches all that has rested"


def test_a_new_url_that_is_worth_too_little_has_no_next_cycle(tmp_path: Path) -> None:
    lake = checked_lake(tmp_path / "worth", new_share=1.0, weights=[{"path": "/new", "weight": 1e-6}])
    found = outlook_of(lake, URLS[2])
    assert (found.next_cycle, found.next_reason.partition(":")[0]) == (None, "cannot be known")
    assert "less than the cut-off" in found.next_reason
    share = outlook_of(checked_lake(tmp_path / "share"), URLS[2])
    assert share.next_cycle is None
    assert "plan.new_share" in share.next_reason
