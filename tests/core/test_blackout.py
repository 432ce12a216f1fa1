"""A blackout is the same as asking, minute by minute, whether an operator has closed it."""

from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.core.blackout import DAY_SECONDS, Blackout

MINUTES = DAY_SECONDS // 60
spans = st.lists(st.tuples(st.integers(0, MINUTES - 1), st.integers(0, MINUTES - 1)), max_size=4)


def written(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"


def closed_minutes(given_spans: list[tuple[int, int]]) -> set[int]:
    """By counting: every minute from the start of a span, on and over midnight, to its end."""
    found = set()
    for start, end in given_spans:
        minute = start
        while minute != end:
            found.add(minute)
            minute = (minute + 1) % MINUTES
    return found


@settings(max_examples=100, deadline=None)
@given(spans, st.integers(0, 3 * MINUTES), st.integers(0, 2 * MINUTES))
def test_a_blackout_is_what_its_minutes_say(given_spans: list[tuple[int, int]], start: int, length: int) -> None:
    usable = [(one, other) for one, other in given_spans if one != other]
    closed = closed_minutes(usable)
    if len(closed) == MINUTES:
        return
    blackout = Blackout.parse(f"{written(one)}-{written(other)}" for one, other in usable)
    opens = start
    while opens % MINUTES in closed:
        opens += 1
    assert blackout.open_from(60 * start) == 60 * opens
    counted = sum(minute % MINUTES not in closed for minute in range(start, start + length))
    assert blackout.open_seconds(60 * start, 60 * (start + length)) == 60 * counted
    assert bool(blackout) is bool(closed)


def test_an_end_is_open_and_midnight_is_no_gap() -> None:
    blackout = Blackout.parse(["22:00-06:00"])
    day = 20_000 * DAY_SECONDS
    assert blackout.open_from(day + 22 * 3600 - 0.5) == day + 22 * 3600 - 0.5
    assert blackout.open_from(day + 22 * 3600) == day + 30 * 3600
    assert blackout.open_from(day + 3600) == day + 6 * 3600
    assert blackout.open_from(day + 6 * 3600) == day + 6 * 3600
    assert Blackout.parse(["23:00-00:00"]).open_from(day + 23.5 * 3600) == day + 24 * 3600
