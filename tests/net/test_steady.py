"""The calendar of one task."""

from datetime import UTC, datetime, timedelta

from crawler.net.steady import SteadyClock

START = datetime(2026, 11, 25, tzinfo=UTC)


class TwoHands:
    def __init__(self) -> None:
        self.calendar, self.mono = START, 50.0

    def now(self) -> datetime:
        return self.calendar

    def monotonic(self) -> float:
        return self.mono

    def run(self, seconds: float, *, calendar: float | None = None) -> None:
        self.mono += seconds
        self.calendar += timedelta(seconds=seconds if calendar is None else calendar)


def test_a_calendar_set_back_does_not_run_backwards_within_a_task() -> None:
    hands = TwoHands()
    steady = SteadyClock(hands)
    hands.run(5, calendar=-3600)
    assert steady.now() == START + timedelta(seconds=5)


def test_a_calendar_that_jumps_ahead_is_followed() -> None:
    hands = TwoHands()
    steady = SteadyClock(hands)
    hands.run(5, calendar=86_400)
    assert steady.now() == START + timedelta(days=1)
    hands.run(2)
    assert steady.now() == START + timedelta(days=1, seconds=2)


def test_small_differences_do_not_shake_it() -> None:
    hands = TwoHands()
    steady = SteadyClock(hands)
    hands.run(1, calendar=1.2)
    assert steady.now() == START + timedelta(seconds=1)
    assert steady.monotonic() == 51.0
