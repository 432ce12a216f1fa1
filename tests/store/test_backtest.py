"""A backtest agrees with a plain replay in Python that goes from page to page and from day to day."""

import math
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.core.cycle import Cycle
from crawler.core.errors import BadQuery
from crawler.core.keys import url_key
from crawler.store.backtest import AS_IT_WAS, ASSUMPTIONS, backtest
from crawler.store.lake import Lake
from tests.store.small_lake import NOON, StoppedClock, lake_at, observed, write

RATES = [2.0 ** (2 * number - 11) for number in range(8)]
DAY = timedelta(days=1)


@dataclass
class Page:
    """A page with its checks: instants, and whether each found a change. Then what a policy makes of it."""

    key: int
    checks: list[tuple[datetime, bool]]
    changes: list[datetime] = field(default_factory=list)
    copied_at: datetime = NOON
    evidence: list[int] = field(default_factory=lambda: [0] * 8)
    interval: float = 30.0
    modified_at: datetime = NOON
    due_at: datetime = NOON + 30 * DAY
    generation: int = 0

    def __post_init__(self) -> None:
        for number, ((before, _), (at, changed)) in enumerate(zip(self.checks, self.checks[1:], strict=False), 1):
            if changed:
                share = ((self.key % 1048576 + 0.5) / 1048576 + 0.6180339887 * number) % 1
                self.changes.append(before + share * (at - before))
        self.copied_at = self.modified_at = self.checks[0][0]
        self.due_at = self.copied_at + 30 * DAY
        self.generation = int(self.copied_at.timestamp() // (90 * 86_400))

    @property
    def stale_at(self) -> datetime | None:
        return next((change for change in self.changes if change > self.copied_at), None)

    def days(self, at: datetime) -> float:
        return (at - self.copied_at) / DAY

    def measure(self, since: datetime, until: datetime) -> tuple[float, float, float]:
        low, high = max(since, self.checks[0][0]), min(until, self.checks[-1][0])
        if high <= low:
            return 0.0, 0.0, 0.0
        stale = self.stale_at or high
        fresh = min(max((stale - low) / DAY, 0.0), (high - low) / DAY)
        old = (max((high - stale) / DAY, 0.0) ** 2 - max((low - stale) / DAY, 0.0) ** 2) / 2
        return (high - low) / DAY, fresh, old

    def known_at(self, at: datetime) -> list[int]:
        """The evidence as it counts in the generation of 90 days that `at` is in; half of it after two."""
        generations = int(at.timestamp() // (90 * 86_400)) - self.generation
        return [(each * round(1024 * 2 ** (-generations / 2))) >> 10 for each in self.evidence]

    def fetch(self, at: datetime) -> bool:
        changed = self.stale_at is not None and self.stale_at <= at
        self.evidence, self.generation = self.known_at(at), int(at.timestamp() // (90 * 86_400))
        for number, rate in enumerate(RATES):
            likely = 1 - 0.995 * math.exp(-rate * self.days(at)) if changed else math.exp(-rate * self.days(at))
            self.evidence[number] += round(1024 * math.log(likely))
        if changed:
            self.modified_at = at
        unchanged = (at - self.modified_at) / DAY
        self.interval = min(max(self.interval * (0.8 if changed else 1.4), unchanged, 1 / 1440), 365.0)
        self.due_at = at + (self.interval - 0.3 * unchanged) * DAY
        self.copied_at = at
        return changed


def value(policy: str, page: Page, at: datetime, prior: list[float]) -> float | None:
    days = page.days(at)
    if days < 0.9:
        return None
    belief = [share * math.exp(evidence / 1024) for share, evidence in zip(prior, page.known_at(at), strict=True)]
    total = sum(belief)
    if policy == "index":
        worth = [(1 - math.exp(-r * days) * (1 + days * (1 - math.exp(-r)))) / r for r in RATES]
        return sum(b * w for b, w in zip(belief, worth, strict=True)) / total
    if policy == "proportional":
        return sum(b * rate for b, rate in zip(belief, RATES, strict=True)) / total * days
    if policy == "nutch":
        return (at - page.due_at) / DAY if page.due_at <= at else None
    if policy.startswith("fixed"):
        return days if days >= float(policy[6:-1]) - 0.1 else None
    return days


def replay(
    pages: list[Page], policy: str, budgets: dict[datetime, int], since: datetime, until: datetime
) -> tuple[int, int, float, float]:
    """Fetches, those that found a change, freshness and age. All pages are of one host, and its prior is their mean."""
    prior = [1 / 8] * 8
    instants = sorted(budgets)
    totals, fetches, changed = [0.0, 0.0, 0.0], 0, 0
    for start, at, end in zip([since, *instants[:-1]], instants, [*instants[1:], until], strict=True):
        if start == since:
            totals = [sum(column) for column in zip(*(page.measure(since, at) for page in pages), strict=True)]
        known = [page for page in pages if page.checks[0][0] < at <= page.checks[-1][0]]
        beliefs = [
            [share * math.exp(e / 1024) for share, e in zip(prior, page.known_at(at), strict=True)] for page in known
        ]
        found = [(value(policy, page, at, prior), page.key, page) for page in known]
        best = sorted((-worth, key, page) for worth, key, page in found if worth is not None)
        for _, _, page in best[: budgets[at]]:
            changed += page.fetch(at)
            fetches += 1
        if beliefs:  # as if the host had 5 pages more of the whole crawl's kind, which is its own here
            prior = [sum(b[k] / sum(b) for b in beliefs) / len(beliefs) for k in range(8)]
        totals = [sum(column) for column in zip(totals, *(page.measure(at, end) for page in pages), strict=True)]
    return fetches, changed, totals[1] / totals[0], totals[2] / totals[0]


def lake_with(root: Path, histories: list[list[bool | None]]) -> tuple[Lake, list[list[tuple[datetime, bool]]]]:
    """A lake in which page n was checked on the days at which its history is not None, and what it found."""
    length = max(map(len, histories))
    lake = lake_at(root, clock=StoppedClock(NOON))
    checks: list[list[tuple[datetime, bool]]] = [[] for _ in histories]
    for day in range(length):
        rows = []
        for number, history in enumerate(histories):
            if day < len(history) and history[day] is not None:
                at = NOON + day * DAY + timedelta(minutes=number)
                first = not checks[number]
                changed = bool(history[day]) and not first
                checks[number].append((at, changed))
                rows.append(observed(f"http://a.test/{number}", at=at, content_changed=None if first else changed))
        write(lake, 0, {"observation": rows}, cycle=Cycle((NOON + day * DAY).date()))
    lake.clock.instant = NOON + length * DAY
    return lake, checks


histories = st.lists(st.lists(st.sampled_from([None, True, False]), min_size=9, max_size=12), min_size=3, max_size=4)


@settings(max_examples=3, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given_histories=histories)
def test_every_policy_does_what_a_plain_replay_does(
    tmp_path_factory: pytest.TempPathFactory, given_histories: list[list[bool | None]]
) -> None:
    """The same examples every time: the SQL counts its prior in millionths, so near ties may be decided otherwise."""
    lake, checks = lake_with(tmp_path_factory.mktemp("lake"), given_histories)
    since = NOON.replace(hour=0)
    until = since + 13 * DAY
    keys = [url_key(f"http://a.test/{number}") for number in range(len(checks))]
    known = [(key, seen) for key, seen in zip(keys, checks, strict=True) if len(seen) > 1]
    again = sorted(at for _, seen in known for at, _ in seen[1:])
    if not again:
        with pytest.raises(BadQuery, match="no page was checked a second time"):
            backtest(lake)
        return
    days = {at.date() for at in again}
    budgets = {min(at for at in again if at.date() == day): sum(at.date() == day for at in again) for day in days}
    policies = ("index", "uniform", "fixed:2d", "nutch", "proportional")
    found = backtest(lake, policies, since=Cycle(since.date()), until=Cycle((until - DAY).date()))
    assert (found.urls, found.budget, found.cycles) == (len(known), len(again), len(budgets))
    for result in found.results[1:]:
        pages = [Page(key, list(seen)) for key, seen in known]
        fetches, changed, freshness, age = replay(pages, result.policy, budgets, since, until)
        assert (result.fetches, result.changed) == (fetches, changed), result.policy
        assert result.freshness == pytest.approx(freshness, abs=1e-4), result.policy
        assert result.age_days == pytest.approx(age, abs=1e-4), result.policy


def test_a_page_that_is_checked_as_often_as_it_changes_is_half_as_fresh_as_one_that_never_does(tmp_path: Path) -> None:
    lake, _ = lake_with(tmp_path, [[True] * 12, [False] * 12])
    found = backtest(lake, ("uniform",))
    actual, uniform = found.results
    assert (actual.policy, actual.fetches, actual.changed) == (AS_IT_WAS, 22, 11)
    assert uniform.fetches == 22
    assert 0.6 < actual.freshness < 0.9
    assert found.to_dict()["assumptions"] == list(ASSUMPTIONS)


def test_a_range_counts_only_its_own_cycles_and_begins_with_what_was_known(tmp_path: Path) -> None:
    lake, _ = lake_with(tmp_path, [[False] * 12, [True, *[False] * 11]])
    start = Cycle((NOON + 6 * DAY).date())
    found = backtest(lake, ("index",), since=start, until=Cycle((NOON + 8 * DAY).date()))
    assert (found.cycles, found.budget) == (3, 6)
    assert [(each.fetches, each.freshness, each.age_days) for each in found.results] == [(6, 1.0, 0.0)] * 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"policies": ["random"]}, "'random' is no policy. Known: index"),
        ({"policies": ["fixed:0d"]}, "'fixed:0d' is no policy"),
        ({"since": Cycle(NOON.date() + DAY), "until": Cycle(NOON.date())}, "ends before it begins"),
        ({"until": Cycle(NOON.date())}, "no page was checked a second time from 2026-03-01 to 2026-03-01"),
    ],
)
def test_what_cannot_be_replayed_is_refused(tmp_path: Path, arguments: dict[str, Any], said: str) -> None:
    lake, _ = lake_with(tmp_path, [[False, False]])
    with pytest.raises(BadQuery) as caught:
        backtest(lake, **arguments)
    assert said in str(caught.value)
