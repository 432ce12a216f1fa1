"""The scheduler on simulated time: the very classes of the fetch, and no thread, no socket and no waiting.

A discrete-event simulation takes the part of the threads and the web. What went out is judged by plain arithmetic
over its log, which knows nothing of gates and heaps.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.core.blackout import Blackout
from crawler.core.fetch_settings import PolitenessSettings
from tests.stages.simulation import Asked, Simulation, Site, quiet

EPSILON = 1e-6


# What a log must show


def broken_hosts(log: Sequence[Asked]) -> list[tuple[str, str, float]]:
    """Requests that came before their host was owed one, by the definition in HostPace."""
    by_host = defaultdict(list)
    for asked in sorted(log, key=lambda asked: asked.sent):
        by_host[asked.host].append(asked)
    found = []
    for host, requests in by_host.items():
        for number, asked in enumerate(requests):
            before = requests[:number]
            busy = sum(earlier.ended + earlier.delay > asked.sent + EPSILON for earlier in before)
            if busy >= asked.connections:
                found.append((host, f"{busy} others", asked.sent))
            ended = [earlier for earlier in before if earlier.ended < asked.sent - EPSILON]  # known then
            if any(earlier.wish and earlier.ended + earlier.delay > asked.sent + EPSILON for earlier in ended):
                found.append((host, "a busy server", asked.sent))
            last = max(ended, key=lambda other: (other.ended, other.sent)).delay if ended else 0.0
            in_force = min([last, *(other.delay for other in before if abs(other.ended - asked.sent) <= EPSILON)])
            if before and before[-1].sent + in_force > asked.sent + EPSILON:
                found.append((host, "the one before", asked.sent))
    return found


def broken_addresses(log: Sequence[Asked], delay: float, shares: dict[str, int]) -> list[tuple[str, float]]:
    """Pairs of requests to an address that are closer than its interval, and minutes that have too many."""
    by_address = defaultdict(list)
    for asked in log:
        if asked.address is not None:
            by_address[asked.address].append(asked.sent)
    found = []
    for address, instants in by_address.items():
        instants.sort()
        interval = delay * max(shares.get(address, 1), 1)
        found += [(address, two) for one, two in pairwise(instants) if two - one < interval - EPSILON]
        if delay:
            for number, instant in enumerate(instants):
                minute = sum(instant - 60 < other <= instant for other in instants[: number + 1])
                if minute > 60 / delay + shares.get(address, 1):
                    found.append((address, instant))
    return found


def most_at_once(spans: Sequence[tuple[float, float]]) -> int:
    events = sorted([(start, 1) for start, _ in spans] + [(end, -1) for _, end in spans])
    most = count = 0
    for _, change in events:
        count += change
        most = max(most, count)
    return most


ADDRESSES = ("192.0.2.1", "192.0.2.2", "192.0.2.3")

replies = st.lists(
    st.one_of(
        st.tuples(st.floats(0.001, 4.0), st.sampled_from([200, 404, 500]), st.none()),
        st.tuples(st.floats(0.001, 1.0), st.sampled_from([429, 503]), st.sampled_from([None, 1.0, 30.0])),
        st.tuples(st.floats(1.0, 20.0), st.none(), st.none()),
    ),
    min_size=1,
    max_size=6,
)
sites = st.lists(
    st.builds(
        Site,
        pages=st.integers(1, 9),
        delay=st.sampled_from([0.0, 0.1, 1.0, 7.0]),
        replies=replies,
        addresses=st.lists(st.sampled_from([None, *ADDRESSES]), min_size=1, max_size=3),
        connecting=st.lists(st.floats(0, 2), min_size=1, max_size=4),
        connections=st.sampled_from([1, 1, 1, 2, 5]),
        held=st.one_of(st.none(), st.tuples(st.floats(0, 20), st.floats(20, 60))),
        closed=st.sampled_from([Blackout()] * 3 + [Blackout(((3, 17),)), Blackout(((0, 5), (9, 40)))]),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=120, deadline=None)
@given(
    sites=sites,
    threads=st.integers(1, 12),
    slow_threads=st.integers(1, 3),
    factor=st.sampled_from([0.0, 5.0]),
    interval=st.sampled_from([0.0, 0.25, 2.0]),
    shares=st.dictionaries(st.sampled_from(ADDRESSES), st.integers(1, 4)),
)
def test_no_request_breaks_a_gate_whatever_the_web_is_like(
    sites: list[Site], threads: int, slow_threads: int, factor: float, interval: float, shares: dict[str, int]
) -> None:
    politeness = PolitenessSettings(delay_factor=factor, address_delay_seconds=interval)
    named = {f"h{number}.test": site for number, site in enumerate(sites)}
    run = Simulation(named, threads, politeness, shares, slow_threads, deadline=1e9).run()
    assert broken_hosts(run.log) == []
    if interval:
        assert broken_addresses(run.log, interval, shares) == []
    assert most_at_once([(asked.begun, asked.ended) for asked in run.log]) <= threads
    assert most_at_once([(asked.begun, asked.ended) for asked in run.log if asked.is_slow]) <= slow_threads
    for name, site in named.items():
        spans = [(asked.begun, asked.ended) for asked in run.log if asked.host == name]
        assert len(spans) == site.pages, "all is done, however often it had to be put off"
        assert most_at_once(spans) <= site.connections
        held = site.held or (math.inf, math.inf)
        assert not [begun for begun, _ in spans if held[0] < begun < held[1]]
        sent = [asked.sent for asked in run.log if asked.host == name]
        assert all(site.closed.open_from(instant) == instant for instant in sent), "nothing goes out in a blackout"


def bound(run: Simulation) -> float:
    """What no scheduler can beat: the longest host, and the longest address."""
    by_host: dict[str, float] = {}
    by_address: dict[str, float] = {}
    for name in run.sites:
        requests = sorted((asked for asked in run.log if asked.host == name), key=lambda asked: asked.sent)
        waits = sum(asked.delay for asked in requests[:-1])
        by_host[name] = sum(asked.ended - asked.sent for asked in requests) + waits
    for asked in run.log:
        if asked.address is not None:
            interval = run.politeness.address_delay_seconds * run.shares.get(asked.address, 1)
            by_address[asked.address] = by_address.get(asked.address, 0.0) + interval
    return max([*by_host.values(), *by_address.values()])


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), interval=st.sampled_from([0.0, 0.06, 0.25]), many=st.integers(1, 30))
def test_the_makespan_is_within_a_twentieth_of_what_politeness_allows(seed: int, interval: float, many: int) -> None:
    """Threads enough, so nobody waits but for a gate, and intervals well below the delays; one turn is lost at an edge.

    Where they are not, slots of an address do not fit between the turns of a host, and no order of them reaches the
    bound.
    """
    dice = Random(seed)
    named = {}
    for number in range(many):
        seconds = [(dice.uniform(0.01, 0.5), 200, None) for _ in range(5)]
        pages = dice.choice([dice.randint(1, 30), dice.randint(60, 200)])
        named[f"h{number}.test"] = Site(pages, dice.choice([1.0, 2.0, 5.0]), seconds, [dice.choice(ADDRESSES)])
    shares = {ADDRESSES[0]: dice.randint(1, 4) if interval < 0.1 else 1}
    run = Simulation(named, many, quiet(address_delay_seconds=interval), shares).run()
    assert broken_addresses(run.log, interval, shares) == []
    assert run.makespan <= 1.05 * bound(run) + interval + max(site.delay for site in named.values())


def test_a_host_that_needs_all_the_time_is_not_left_for_the_end_by_its_address() -> None:
    named = {f"h{number}.test": Site(20, 1.0, addresses=[ADDRESSES[0]]) for number in range(20)}
    named["long.test"] = Site(100, 1.0, addresses=[ADDRESSES[0]])
    run = Simulation(named, 21, quiet(address_delay_seconds=0.25)).run()
    assert run.makespan <= 1.05 * bound(run)


def test_where_an_address_is_the_limit_every_host_has_its_turn() -> None:
    named = {f"h{number}.test": Site(30, 1.0, addresses=[ADDRESSES[0]]) for number in range(40)}
    named["short.test"] = Site(1, 1.0, addresses=[ADDRESSES[0]])
    run = Simulation(named, 41, quiet(address_delay_seconds=0.25)).run()
    assert [asked.host for asked in run.log].index("short.test") <= 41


def test_slow_hosts_hold_up_no_others_and_come_back() -> None:
    dead = [(10.0, None, None)]
    named = {f"dead{number}.test": Site(8, 0.0, dead) for number in range(9)}
    named["good.test"] = Site(100, 1.0)
    named["back.test"] = Site(12, 0.0, [(10.0, None, None)] * 4 + [(0.1, 200, None)] * 8)
    run = Simulation(named, 4, quiet(), slow_threads=1).run()
    good = [asked.sent for asked in run.log if asked.host == "good.test"]
    late = [two - one for one, two in pairwise(good) if one > 100]  # the first failures find all threads free
    assert max(late) < 1.2
    assert most_at_once([(asked.begun, asked.ended) for asked in run.log if asked.is_slow]) == 1
    back = [asked.is_slow for asked in run.log if asked.host == "back.test"]
    assert back == [False] * 3 + [True] * 4 + [False] * 5


def test_a_site_with_several_connections_is_asked_at_its_usual_rate_however_slow_its_answers_are() -> None:
    slow = [(5.0, 200, None)]
    times = {k: Simulation({"a.test": Site(40, 1.0, slow, connections=k)}, 16, quiet()).run() for k in (1, 3, 10)}
    assert times[1].makespan == pytest.approx(40 * 6 - 1)
    assert times[3].makespan == pytest.approx(13 * 6 + 5, abs=6)
    assert times[10].makespan == pytest.approx(39 + 5)
    assert min(two.sent - one.sent for one, two in pairwise(times[10].log)) >= 1.0


def test_one_answer_that_does_not_come_takes_one_connection_and_no_more() -> None:
    hanging = [(60.0, None, None), *[(0.1, 200, None)] * 99]
    run = Simulation({"a.test": Site(50, 1.0, hanging, connections=2)}, 16, quiet()).run()
    assert run.makespan < 65
    assert broken_hosts(run.log) == []


def test_a_busy_answer_holds_all_connections() -> None:
    busy = [(0.5, 200, None), (0.5, 429, 20.0), *[(0.9, 200, None)] * 98]
    run = Simulation({"a.test": Site(9, 0.2, busy, connections=4, connecting=[0.0, 0.0, 0.6])}, 16, quiet()).run()
    hold = next(asked for asked in run.log if asked.wish)
    assert [asked for asked in run.log if hold.ended < asked.sent < hold.ended + 20] == []
    assert len(run.log) == 9
