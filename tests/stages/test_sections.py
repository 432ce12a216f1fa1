"""Sections of a host: whose target is next."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.model import Target
from crawler.stages.fetch.sections import Sections
from tests.stages.memory_ledger import target


def queue_of(shares: dict[str, int], *paths: str) -> Sections:
    found = Sections(shares)
    for path in paths:
        found.append(target(f"http://a.test{path}"))
    return found


def paths(sections: Sections) -> list[str]:
    found = []
    while sections:
        ahead = sections[0]
        assert sections.popleft() is ahead
        found.append(ahead.url.removeprefix("http://a.test"))
    return found


def test_the_longest_prefix_of_a_path_counts_and_the_rest_is_a_section() -> None:
    found = queue_of({"/a/": 1, "/a/b/": 1}, "/a/1", "/a/2", "/a/b/1", "/a/b/2", "/", "/ab")
    assert [path.rpartition("/")[0] for path in paths(found)[:3]] == ["/a/b", "/a", ""]


def test_an_empty_queue_says_so() -> None:
    found = queue_of({"/a/": 2})
    assert (bool(found), len(found)) == (False, 0)
    with pytest.raises(IndexError):
        found.popleft()


def test_a_target_that_is_given_back_comes_next() -> None:
    found = queue_of({"/a/": 1, "/b/": 2}, "/a/1", "/a/2", "/b/1", "/b/2", "/b/3")
    first = [found.popleft().url for _ in range(2)]
    page: Target = found.popleft()
    found.appendleft(page)
    assert found.popleft() is page
    assert len(first) + 1 + len(paths(found)) == 5


@given(shares=st.lists(st.integers(1, 9), min_size=1, max_size=5), turns=st.integers(1, 120))
def test_as_long_as_all_have_targets_each_section_has_its_share_of_the_turns(shares: list[int], turns: int) -> None:
    names = {f"/{number}/": share for number, share in enumerate(shares)}
    found = queue_of(names, *(f"{name}{page}" for name in [*names, "/rest/"] for page in range(turns)))
    asked = Counter(found.popleft().url.split("/")[3] for _ in range(turns))
    whole = sum(shares) + 1
    for name, share in [*((name.strip("/"), share) for name, share in names.items()), ("rest", 1)]:
        assert abs(asked[name] - turns * share / whole) <= len(shares) + 1
