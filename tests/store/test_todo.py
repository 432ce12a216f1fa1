"""The plan of a fetch as columns: targets are made when they are asked for, and are those of the plan."""

import pyarrow as pa
import pytest

from crawler.core.model import Target
from crawler.stages.fetch.queue import TargetQueue
from crawler.store.todo import Todo

KEY = (1 << 64) - 1


def made(count: int) -> Todo:
    return Todo(
        pa.table(
            {
                "url_key": pa.array([KEY - n for n in range(count)], pa.uint64()),
                "host_key": pa.array([7] * count, pa.uint64()),
                "url": [f"http://a.test/{n}" for n in range(count)],
                "fetch_url": [None if n % 2 else f"http://a.test/{n}?s=1" for n in range(count)],
                "host": ["a.test"] * count,
                "priority": [count - n for n in range(count)],
                "depth": [0] * count,
                "hops": [0] * count,
                "etag": ['"x"'] * count,
                "last_modified": pa.nulls(count, pa.string()),
                "body_digest": pa.array([b"\x00\xff"] * count, pa.binary()),
                "text_digest": pa.nulls(count, pa.binary()),
                "copy_digest": pa.nulls(count, pa.binary()),
                "simhash": pa.array([KEY] * count, pa.uint64()),
                "text_bytes": pa.nulls(count, pa.uint32()),
                "body_bytes": pa.nulls(count, pa.uint64()),
            }
        )
    )


def test_a_target_is_the_row_of_the_plan() -> None:
    todo = made(2)
    expected = Target(KEY, 7, "http://a.test/0", "http://a.test/0?s=1", "a.test", 2, 0, 0, '"x"', None, b"\x00\xff")
    assert todo[0] == Target(*(getattr(expected, name) for name in Target.__slots__[:13]), KEY)
    assert todo[1].fetch_url == todo[1].url == "http://a.test/1"


def test_ranges_and_the_whole_agree_with_single_targets() -> None:
    todo = made(2500)
    assert len(todo) == 2500
    assert list(todo) == [todo[n] for n in range(2500)] == todo[0:2500]
    assert todo[2498:9999] == [todo[2498], todo[-1]]
    assert todo[9:9] == []
    with pytest.raises(IndexError):
        todo[2500]
    assert list(made(0)) == []


@pytest.mark.parametrize("places", [range(40), [0, 1, 2, 7, 8, 30], [5], []], ids=["all", "gaps", "one", "none"])
def test_a_queue_gives_its_targets_in_order_and_takes_the_last_back(places: list[int]) -> None:
    todo = made(40)
    queue = TargetQueue(todo, places)
    assert (len(queue), bool(queue)) == (len(places), bool(places))
    found = []
    while queue:
        target = queue[0]
        assert queue.popleft() is target
        queue.appendleft(target)
        assert len(queue) == len(places) - len(found)
        found.append(queue.popleft())
    assert found == [todo[place] for place in places]
    with pytest.raises(IndexError):
        queue.popleft()


def test_a_target_that_is_added_comes_last() -> None:
    todo = made(3)
    queue = TargetQueue(todo, [0, 1])
    queue.append(todo[2])
    assert [queue.popleft() for _ in range(3)] == list(todo)
