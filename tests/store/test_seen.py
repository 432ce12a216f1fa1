"""The seen filter: what was added is never new, whatever becomes of its file."""

import random
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.core.keys import url_key
from crawler.core.shape import pattern_key, place_of
from crawler.store import query
from crawler.store.frontier import open_frontier
from crawler.store.seen import Seen, open_seen, seen_name
from crawler.store.state import open_state, view_log, write_checkpoint
from tests.store.small_lake import NOON, known, lake_at, make_known, observed, write

KEYS = st.integers(0, 2**64 - 1)
URLS = [f"http://a.test/{number}" for number in range(20)]
PLACE: dict[str, Any] = {"pattern_key": 1 << 20, "depth": 2, "hops": 0, "discovered_at": NOON}


@given(st.lists(KEYS, unique=True), st.lists(KEYS, unique=True), st.sampled_from([0.5, 0.01, 1e-6]))
@settings(max_examples=60, deadline=None)
def test_what_was_added_is_never_new_nor_after_it_was_written_and_read(
    one: list[int], other: list[int], rate: float
) -> None:
    seen = Seen(rate, 1)
    seen.add(one)
    again = Seen.from_bytes(seen.to_bytes(), rate)
    assert again is not None
    again.add(other)
    assert not any(map(again.is_new, [*one, *other]))
    assert (again.keys, again.room) == (len(one) + len(other), seen.room)


def test_as_many_new_keys_are_taken_for_known_as_the_rate_says() -> None:
    rng = random.Random(7)
    seen = Seen(0.01, 50_000)
    seen.add([rng.getrandbits(64) for _ in range(50_000)])
    wrong = sum(not seen.is_new(rng.getrandbits(64)) for _ in range(50_000))
    assert 400 < wrong < 600
    assert seen.size_bytes < 1.3 * 50_000


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_a_damaged_file_is_no_filter(data: st.DataObject) -> None:
    seen = Seen(0.01, 1)
    seen.add([1, 2, 3])
    content = bytearray(seen.to_bytes())
    if data.draw(st.booleans()):
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    else:
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    found = Seen.from_bytes(bytes(content), 0.01)
    assert found is None or not any(map(found.is_new, [1, 2, 3]))


def test_a_file_of_another_rate_is_no_filter() -> None:
    assert Seen.from_bytes(Seen(0.01, 1).to_bytes(), 0.02) is None


def test_the_filter_of_a_bucket_knows_its_checkpoint_and_all_that_came_after(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    make_known(lake, *URLS[:5])
    epoch = _checkpoint(lake)
    make_known(lake, *URLS[5:10])
    write(lake, 0, {"observation": [observed(url, "x", discovered=PLACE) for url in URLS[10:15]]})
    path = tmp_path / seen_name(lake, 0, epoch)
    for _ in range(2):  # the first time it is made, the second time read
        seen = _open(lake)
        assert [seen.is_new(url_key(url)) for url in URLS] == [False] * 15 + [True] * 5
        assert seen.keys == 15
        assert path.exists()
    path.write_bytes(path.read_bytes()[:-1])
    assert _open(lake).keys == 15
    assert Seen.from_bytes(path.read_bytes(), 0.001) is not None, "it is mended"


def test_without_a_checkpoint_no_file_is_written(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    make_known(lake, *URLS[:5])
    assert not _open(lake).is_new(url_key(URLS[0]))
    assert not list(tmp_path.rglob("*.bloom"))


def test_a_filter_that_has_become_too_small_is_made_anew(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("crawler.store.seen.LEAST_ROOM", 1)
    lake = lake_at(tmp_path)
    make_known(lake, *URLS[:5])
    epoch = _checkpoint(lake)
    before = _open(lake)
    make_known(lake, *URLS[5:])
    after = _open(lake)
    assert (before.room, after.room) == (7, 30)
    written = Seen.from_bytes((tmp_path / seen_name(lake, 0, epoch)).read_bytes(), 0.001)
    assert written is not None
    assert (written.room, written.keys) == (30, 5), "the file stays what follows from its checkpoint"


def test_false_positives_are_counted_by_the_log(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("crawler.store.seen.LEAST_ROOM", 1)
    lake = lake_at(tmp_path, lake={"seen_false_positive_rate": 0.5})
    make_known(lake, *URLS[:10])
    con = lake.connect()
    epoch = view_log(lake, con, 0, lake.settled("bucket", 0))
    frontier = open_frontier(lake, con, 0, epoch, room=10)
    maybe = [url_key(url) for url in URLS if not frontier.seen.is_new(url_key(url))]
    assert set(map(url_key, URLS[:10])) < set(maybe), "this filter is wrong about some"
    assert frontier.count_wrongly_seen([*maybe, *maybe]) == (len(maybe), len(maybe) - 10)


def test_limits_on_like_urls_count_what_is_known(tmp_path: Path) -> None:
    lake = lake_at(
        tmp_path, traps={"max_urls_per_pattern": 6, "max_urls_per_host": 20}, scope={"hosts": ["a.test", "b.test"]}
    )
    write(lake, 0, {"url": [known(f"http://a.test/p/{number}") for number in range(4)]})
    write(lake, 0, {"url": [known(f"http://b.test/{'x' * number}") for number in range(1, 16)]})
    con = lake.connect()
    frontier = open_frontier(lake, con, 0, view_log(lake, con, 0, lake.settled("bucket", 0)), room=5)
    accepted = 0
    for number in range(4, 10):
        row = known(f"http://a.test/p/{number}")
        place = (row["url_key"], row["host_key"], row["host"], row["url"], row["pattern_key"], 1)
        if frontier.accepts(*place):
            frontier.take(row["url_key"], row["pattern_key"])
            accepted += 1
    assert accepted == 2, "six of the pattern, of which four were known"
    full = known("http://b.test/new")
    assert not frontier.accepts(full["url_key"], full["host_key"], full["host"], full["url"], full["pattern_key"], 1)


def test_places_are_the_same_in_sql_and_in_python(tmp_path: Path) -> None:
    urls = [f"http://a.test/{path}" for path in ("", "x/1", "x?a=1", "x?a=1&b=2", "x?c=1&b=2", "y?a=1&b=2&c=3")]
    con = query.catalogue()
    for url in urls:
        key = pattern_key(url)
        assert con.execute("SELECT place_of($key::UBIGINT)", {"key": key}).fetchone() == (place_of(key),)
    assert place_of(pattern_key(urls[3])) == place_of(pattern_key(urls[4])) != place_of(pattern_key(urls[5]))


def _checkpoint(lake: Any) -> int:
    settled = lake.settled("bucket", 0)
    write_checkpoint(open_state(lake, lake.connect(), 0, settled))
    return int(settled.last + 1)


def _open(lake: Any) -> Seen:
    con = lake.connect()
    return open_seen(lake, con, 0, view_log(lake, con, 0, lake.settled("bucket", 0)))
