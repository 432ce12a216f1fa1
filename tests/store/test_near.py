"""The search for near copies finds each pair within the distance and no other, as comparing all with all would."""

import random
from collections.abc import Iterable, Iterator

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.store import query
from crawler.store.near import Sieve, find_pairs

Pairs = set[tuple[int, int, int]]


def keep(con: duckdb.DuckDBPyConnection, table: str, values: Iterable[int]) -> None:
    query.keep_rows(con, table, "simhash UBIGINT", [(value,) for value in values])


def found(arrived: list[int], known: list[int], k: int, **options: int) -> Pairs:
    con = query.catalogue()
    keep(con, "arrived", arrived)
    keep(con, "comparable", known)
    find_pairs(con, k, **options)
    rows = con.sql("FROM pair").fetchall()
    assert len(rows) == len(set(rows)), "each pair once"
    return set(rows)


def by_brute_force(arrived: list[int], known: list[int], k: int) -> Pairs:
    return {(a, b, (a ^ b).bit_count()) for a in arrived for b in known if (a ^ b).bit_count() <= k}


def flipped(value: int, bits: Iterable[int]) -> int:
    for bit in bits:
        value ^= 1 << bit
    return value


def planted(seed: int, count: int, k: int, within: int = 64) -> Iterator[tuple[int, int]]:
    """Pairs of a value and one up to k + 2 bits from it; they differ from each other in `within` bits at most."""
    chance = random.Random(seed)
    for _ in range(count):
        value = chance.getrandbits(within)
        yield value, flipped(value, chance.sample(range(64), chance.randint(0, min(64, k + 2))))


@pytest.mark.parametrize("k", range(7))
def test_what_is_found_is_what_comparing_all_with_all_finds(k: int) -> None:
    known, arrived = map(list, zip(*planted(k, 400, k), strict=True))
    expected = by_brute_force(arrived, known, k)
    assert len(expected) > 100
    assert found(arrived, known, k) == expected


@pytest.mark.parametrize("within", [8, 12, 16])
def test_it_is_so_where_all_lie_close_together(within: int) -> None:
    known, arrived = map(list, zip(*planted(within, 300, 3, within), strict=True))
    assert found(arrived, known, 3) == by_brute_force(arrived, known, 3)


def test_the_sieve_stops_nothing_that_is_near_and_most_of_the_rest() -> None:
    wanted = np.random.default_rng(1).integers(0, 2**64, 1000, dtype=np.uint64)
    sieve = Sieve(wanted, 3)
    near = [
        flipped(int(value), bits) for value in wanted[:100] for bits in ((), (0, 31, 63), (30, 31, 32), (61, 62, 63))
    ]
    assert sieve.passes(np.array(near, np.uint64)).all()
    assert sieve.passes(np.random.default_rng(2).integers(0, 2**64, 10_000, dtype=np.uint64)).mean() < 0.25


VALUES = st.lists(
    st.sets(st.integers(0, 63), max_size=5).map(lambda bits: flipped(0x0123456789ABCDEF, bits)), max_size=12
)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(VALUES, VALUES, st.integers(0, 6))
def test_it_is_so_around_one_value_whichever_bits_differ(arrived: list[int], known: list[int], k: int) -> None:
    assert found(arrived, known, k) == by_brute_force(arrived, known, k)


def test_values_at_both_ends_of_64_bits_are_compared_whole() -> None:
    ends = [0, 1 << 63, (1 << 64) - 1, (1 << 63) - 1]
    assert found(ends, ends, 3) == by_brute_force(ends, ends, 3)


def test_the_same_value_a_thousand_times_is_one_pair() -> None:
    assert found([5] * 1000, [5] * 1000, 3) == {(5, 5, 0)}


def test_a_key_that_too_many_share_looks_up_the_first_of_them_and_the_others_by_their_other_keys() -> None:
    """Bits 0 to 11 are the first of five blocks; the values are equal in the others, so that their keys are common."""
    alike = sorted(flipped(0, bits) for bits in ((), (0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11)))
    alone = 0x0123456789ABCDEF
    known = [flipped(value, (3,)) for value in (*alike, alone)]
    seen_apart = flipped(alike[3], (12,))
    everything = by_brute_force([*alike, alone], [*known, seen_apart], 3)
    pairs = found([*alike, alone], [*known, seen_apart], 3, most_alike=2)
    missed = {(value, other, 1) for value, other in zip(alike[2:], known[2:4], strict=True)}
    assert missed <= everything - pairs
    assert {(alike[0], known[0], 1), (alike[1], known[1], 1), (alike[3], seen_apart, 1), (alone, known[4], 1)} <= pairs
    assert found([*alike, alone], [*known, seen_apart], 3, most_alike=4) == everything
