"""Delays and turns, on a clock that the test moves."""

import heapq
import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.core.fetch_settings import PolitenessSettings
from crawler.core.model import HostState
from crawler.core.outcomes import Outcome, of_status
from crawler.net.gates import Gates
from crawler.net.politeness import HostPace, retry_after
from crawler.net.reply import Reply

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)


def a_reply(status: int | None = 200, *, ended: float = 100.0, elapsed: float = 0.1, **more: Any) -> Reply:
    headers = [(name.replace("_", "-"), value) for name, value in more.items() if isinstance(value, str)]
    outcome = more.get("outcome") or of_status(status or 0, retry_after="retry_after" in more)
    return Reply(outcome, status, headers, None, 0, False, None, status is not None, None, NOW, NOW, ended, elapsed)


def a_pace(*, floor: float = 1.0, **given: Any) -> HostPace:
    return HostPace(PolitenessSettings(**{"delay_factor": 0.0} | given), floor, 0.0)


def test_the_delay_counts_from_the_end_of_the_response() -> None:
    pace = a_pace()
    assert pace.answered(a_reply(ended=50.0)) == 1.0
    assert pace.allowed == 51.0


def test_the_largest_wish_wins_and_caps_hold() -> None:
    pace = a_pace(delay_factor=5.0, adaptive_cap_seconds=30, crawl_delay_cap_seconds=300)
    assert pace.answered(a_reply(elapsed=0.1)) == 1.0
    pace.response_seconds = 0
    assert pace.answered(a_reply(elapsed=2.0)) == 10.0
    pace.response_seconds = 0
    assert pace.answered(a_reply(elapsed=60.0)) == 30.0
    pace.obey(40.0)
    assert pace.answered(a_reply()) == 40.0
    pace.obey(1e9)
    assert pace.answered(a_reply()) == 300.0
    pace.obey(None)
    assert pace.answered(a_reply()) == 30.0


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_doubles_the_delay_each_time_and_good_answers_bring_it_back(status: int) -> None:
    pace = a_pace()
    assert [pace.answered(a_reply(status)) for _ in range(4)] == [2.0, 4.0, 8.0, 16.0]
    delays = [pace.answered(a_reply()) for _ in range(40)]
    assert delays == sorted(delays, reverse=True)
    assert delays[-1] == 1.0


def test_a_busy_server_is_given_time_even_where_no_delay_is_set() -> None:
    pace = a_pace(floor=0.0)
    assert pace.answered(a_reply(429)) > 0
    assert pace.answered(a_reply()) == 0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120.0),
        ("0", 0.0),
        (" 7 ", 7.0),
        ("99999999999999999999999", 86_400.0),
        (format_datetime(NOW + timedelta(seconds=90), usegmt=True), 90.0),
        (format_datetime(NOW - timedelta(seconds=90), usegmt=True), None),
        ("-5", None),
        ("1m", None),
        ("1.5", None),
        ("\u00b2", None),
        ("Wed, 99 Foo 2026", None),
        ("", None),
    ],
)
def test_retry_after_is_read_in_both_forms(text: str, seconds: float | None) -> None:
    assert retry_after(a_reply(429, retry_after=text), 86_400) == seconds


def test_a_date_in_retry_after_is_read_by_the_servers_own_clock() -> None:
    wrong = NOW - timedelta(days=400)
    until = format_datetime(wrong + timedelta(seconds=60), usegmt=True)
    reply = a_reply(503, retry_after=until, date=format_datetime(wrong, usegmt=True))
    assert retry_after(reply, 86_400) == 60


def test_what_was_not_asked_is_owed_nothing() -> None:
    pace = a_pace()
    reply = replace(a_reply(None), outcome=Outcome.DNS_FAILED)
    assert (pace.answered(reply), pace.allowed, pace.requests) == (0.0, 0.0, 0)
    reply = replace(reply, outcome=Outcome.CONNECT_FAILED)
    assert (pace.answered(reply), pace.error_streak, pace.requests) == (1.0, 1, 0)


def a_state(**given: Any) -> HostState:
    known: dict[str, Any] = {
        "host": "a.test", "address": None, "delay_seconds": 1.0, "allowed_at": NOW, "response_seconds": 0.1,
        "crawl_delay_seconds": None, "penalty": 1.0, "error_streak": 0, "requests_last_day": 0,
    }  # fmt: skip
    return HostState(**known | given)


def resumed(state: HostState | None, *, unknown: bool = False, floor: float = 1.0) -> HostPace:
    politeness = PolitenessSettings(delay_factor=0.0)
    return HostPace.resume(politeness, floor, state, now=NOW, monotonic=1000.0, is_last_unknown=unknown)


def test_a_hold_outlives_its_task() -> None:
    state = a_state(delay_seconds=120.0, allowed_at=NOW + timedelta(seconds=45))
    assert 1045.0 < resumed(state).allowed < 1045.5, "a calendar that runs half a percent too fast asks too early"
    assert not resumed(state).is_unrecorded


def test_a_calendar_that_was_set_back_holds_no_host_for_much_longer_than_its_delay() -> None:
    assert 1005.0 <= resumed(a_state(delay_seconds=5.0, allowed_at=NOW + timedelta(days=3))).allowed < 1005.1
    assert resumed(a_state(allowed_at=NOW - timedelta(days=3))).allowed == 1000.0


def test_after_unknown_requests_the_whole_delay_is_owed_from_now() -> None:
    assert resumed(None, unknown=True).allowed >= 1001.0
    assert resumed(a_state(crawl_delay_seconds=10.0), unknown=True).allowed >= 1010.0
    assert resumed(a_state(), unknown=False).allowed == 1000.0


@given(
    replies=st.lists(
        st.tuples(st.sampled_from([200, 404, 429, 500, 503]), st.floats(0, 9), st.sampled_from([None, 0.5, 20.0])),
        min_size=1,
        max_size=30,
    ),
    recorded=st.sets(st.integers(0, 29)),
    floor=st.sampled_from([0.0, 0.1, 1.0]),
)
def test_a_delay_that_a_restart_would_not_keep_is_known_as_unrecorded(
    replies: list[tuple[int, float, float | None]], recorded: set[int], floor: float
) -> None:
    """Whatever is written down when: a task that takes over waits for the delay of any answer not marked."""
    politeness = PolitenessSettings()
    pace = HostPace(politeness, floor, 0.0)
    state: HostState | None = None
    for number, (status, elapsed, crawl_delay) in enumerate(replies):
        pace.obey(crawl_delay)
        owed = pace.answered(a_reply(status, elapsed=elapsed))
        restarted = HostPace.resume(politeness, floor, state, now=NOW, monotonic=0.0, is_last_unknown=True)
        assert pace.is_unrecorded or restarted.allowed >= owed
        if number in recorded or pace.is_unrecorded:
            pace.recorded(pace.answers, pace.restart_seconds)
            state = a_state(
                delay_seconds=owed, allowed_at=NOW + timedelta(seconds=owed), response_seconds=pace.response_seconds,
                crawl_delay_seconds=pace.crawl_delay_seconds, penalty=pace.penalty,
            )  # fmt: skip
            assert not pace.is_unrecorded


@dataclass(eq=False)
class Waiting:
    name: int
    address: str | None
    left: int
    delay: float = 0.0

    @property
    def needs_seconds(self) -> float:
        return self.left * self.delay


def test_hosts_come_in_the_order_of_their_instants() -> None:
    gates: Gates[Waiting] = Gates(0.0, {}, (), started=0.0)
    for name, at in enumerate([3.0, 1.0, 2.0]):
        gates.push(Waiting(name, None, 1), at)
    assert gates.pop(0.5) is None
    assert gates.next_turn() == 1.0
    assert [host.name for host in (gates.pop(9.0), gates.pop(9.0), gates.pop(9.0)) if host] == [1, 2, 0]
    assert gates.next_turn() is None


def test_an_exempt_network_and_an_unknown_address_have_no_gate() -> None:
    gates: Gates[Waiting] = Gates(5.0, {}, ["10.0.0.0/8", "::1/128"], started=-5.0)
    for name, address in enumerate(["10.0.0.1", "10.0.0.1", None, None, "8.8.8.8", "8.8.8.8"]):
        gates.push(Waiting(name, address, 1), 0.0)
    found = []
    while host := gates.pop(0.0):
        found.append(host.name)
    assert found == [0, 1, 2, 3, 4]
    assert gates.next_turn() == 5.0


@settings(max_examples=150)
@given(
    hosts=st.lists(st.tuples(st.integers(0, 3), st.integers(1, 6), st.floats(0, 3)), min_size=1, max_size=12),
    interval=st.sampled_from([0.0, 0.25, 1.0]),
    shares=st.dictionaries(st.sampled_from(["192.0.2.0", "192.0.2.1"]), st.integers(1, 4)),
    threads=st.integers(1, 16),
    elapsed=st.floats(0.01, 0.5),
)
def test_no_gate_is_broken_and_no_time_is_wasted(
    hosts: list[tuple[int, int, float]], interval: float, shares: dict[str, int], threads: int, elapsed: float
) -> None:
    """Simulated threads: every host and address keeps its pace; with threads enough the makespan is near its bound."""
    gates: Gates[Waiting] = Gates(interval, shares, (), started=-99.0)
    delays = {}
    for name, (address, count, delay) in enumerate(hosts):
        gates.push(Waiting(name, f"192.0.2.{address}", count), 0.0)
        delays[name] = delay
    now, running = 0.0, []
    last_end: dict[int, float] = {}
    last_start: dict[str, float] = {}
    end = 0.0
    for _ in range(10_000):
        while len(running) < threads and (host := gates.pop(now)):
            assert now >= last_end.get(host.name, -math.inf) + delays[host.name] - 1e-9
            gap = interval * max(shares.get(host.address or "", 1), 1)
            assert now >= last_start.get(host.address or "", -math.inf) + gap - 1e-9
            last_start[host.address or ""] = now
            heapq.heappush(running, (now + elapsed, host.name, host))
        instants = [running[0][0]] if running else []
        turn = gates.next_turn()
        if turn is not None and len(running) < threads:
            instants.append(turn)
        if not instants:
            break
        now = max(now, min(instants))
        while running and running[0][0] <= now:
            ended, name, host = heapq.heappop(running)
            end, last_end[name] = ended, ended
            host.left -= 1
            if host.left:
                gates.push(host, ended + delays[name])
    assert gates.next_turn() is None
    if threads >= len(hosts):
        by_host = [count * elapsed + (count - 1) * delay for _, count, delay in hosts]
        by_address = []
        for number in range(4):
            gap = interval * max(shares.get(f"192.0.2.{number}", 1), 1)
            by_address.append(sum(count for address, count, _ in hosts if address == number) * gap)
        assert end <= max(by_host) + max(by_address) + elapsed + 1e-6


# Failures in a row, busy days, the slow lane


def a_failure(outcome: Outcome = Outcome.TIMED_OUT) -> Reply:
    return replace(a_reply(None), outcome=outcome, sent=True)


def test_failures_in_a_row_double_the_delay_up_to_a_limit_and_one_answer_brings_it_back() -> None:
    pace = a_pace(adaptive_cap_seconds=30)
    assert [pace.answered(a_failure()) for _ in range(7)] == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    assert pace.answered(a_reply()) == 1.0
    slower = a_pace(floor=60.0, adaptive_cap_seconds=30)
    assert [slower.answered(a_failure()) for _ in range(3)] == [60.0] * 3


def test_a_streak_of_failures_outlives_its_task() -> None:
    pace = HostPace.resume(
        PolitenessSettings(delay_factor=0.0), 1.0, a_state(error_streak=3),
        now=NOW, monotonic=0.0, is_last_unknown=False,
    )  # fmt: skip
    assert pace.answered(a_failure()) == 8.0


@pytest.mark.parametrize(("days", "is_busy"), [(0, True), (1, True), (2, False), (None, False)])
def test_a_host_counts_as_busy_on_the_day_of_its_last_429_and_the_next(days: int | None, *, is_busy: bool) -> None:
    busy_at = None if days is None else NOW.replace(hour=0) - timedelta(days=days)
    assert resumed(a_state(busy_at=busy_at)).is_busy is is_busy


def test_good_answers_take_the_delay_back_but_not_the_day() -> None:
    pace = a_pace()
    pace.answered(a_reply(429))
    for _ in range(40):
        pace.answered(a_reply())
    assert (pace.penalty, pace.is_busy, pace.busy_at) == (1.0, True, NOW)


def test_three_failures_in_a_row_make_a_host_slow_and_three_answers_quick_again() -> None:
    pace = a_pace()
    seen = []
    for reply in [a_failure()] * 3 + [a_reply()] * 2 + [a_failure(Outcome.CONNECT_FAILED)] + [a_reply()] * 3:
        pace.answered(reply)
        seen.append(pace.slow)
    assert seen == [False, False, True, True, True, True, True, True, False]
    assert resumed(a_state(slow=True)).slow


def test_failures_that_take_no_time_make_no_host_slow() -> None:
    pace = a_pace()
    for _ in range(9):
        pace.answered(a_failure(Outcome.PROTOCOL_ERROR))
    assert not pace.slow


# Several connections


def test_a_wide_host_is_allowed_by_its_connections_its_spacing_and_its_holds() -> None:
    pace = a_pace()
    pace.connections = 2
    pace.begin(10.0)
    pace.sent(10.0)
    assert pace.allowed == 11.0, "the delay after the one before"
    pace.begin(11.0)
    pace.sent(11.0)
    assert pace.allowed == math.inf, "both are under way"
    pace.answered(a_reply(ended=20.0))
    assert pace.allowed == 21.0, "the delay after the answer: the other is under way still"
    pace.begin(21.0)
    assert pace.may_send(21.0) <= 21.0
    pace.answered(a_reply(503, ended=21.5, retry_after="60"))
    assert pace.may_send(21.6) == math.inf, "it asked for time before the third went out"
    pace.cancel()
    assert pace.allowed == pace.rested == 81.5


def test_what_is_written_of_a_wide_host_is_when_all_its_connections_are_rested() -> None:
    pace = a_pace()
    pace.connections = 3
    for at in (10.0, 11.0, 12.0):
        pace.begin(at)
        pace.sent(at)
    for ended in (13.0, 14.0, 15.0):
        pace.answered(a_reply(ended=ended))
    assert (pace.allowed, pace.rested) == (14.0, 16.0)


def test_a_request_that_we_end_ourselves_gives_its_connection_back() -> None:
    pace = a_pace()
    pace.connections = 2
    for is_sent in (True, False):
        pace.begin(10.0)
        pace.abandoned(replace(a_reply(None, ended=10.0), sent=is_sent))
        assert pace.under_way == 0
