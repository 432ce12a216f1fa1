"""What a parse worker says of links by name is believed only as far as a column can hold it."""

import io
from typing import Any

import pytest

from crawler.page import messages
from crawler.page.reading import Limits, LinkWriter, Reading


def said(**facts: Any) -> Reading:
    """A reading after it has crossed from a worker to its task."""
    links = LinkWriter(Limits(30, 2000, 20, 3, 12))
    links.add_page([], 0)
    stream = io.BytesIO(messages.reply([Reading(**facts)], links.columns()))
    readings, _ = messages.read_reply(stream.read, 1)
    return readings[0]


def test_counts_of_links_cross_as_they_are() -> None:
    found = said(rejected_links={"bad_url": 2}, dropped_parameters={"utm_source": (1 << 32) - 1})
    assert (found.rejected_links, found.dropped_parameters) == ({"bad_url": 2}, {"utm_source": (1 << 32) - 1})


@pytest.mark.parametrize(
    "counts",
    [
        {"a": -1},
        {"a": 1 << 32},
        {"a": 1.5},
        {"a": True},
        {"a": "1"},
        {"a": None},
        ["a"],
        None,
        {str(n): 1 for n in range(200)},
    ],
)
@pytest.mark.parametrize("column", ["rejected_links", "dropped_parameters"])
def test_counts_that_no_page_has_are_no_reply(column: str, counts: Any) -> None:
    with pytest.raises(messages.NoReply):
        said(**{column: counts})
