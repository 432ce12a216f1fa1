"""What an observation says of a change: when it was by Last-Modified, and whether it counts for scheduling."""

from datetime import UTC, datetime, timedelta

import pytest

from crawler.core.model import Target
from crawler.core.outcomes import Outcome
from crawler.net.reply import Reply
from crawler.page.reading import Reading
from crawler.stages.fetch.rows import complete, modified_at, visit
from tests.store.small_lake import DAY, NOON, digest, lake_at

DATE = "Sun, 01 Mar 2026 12:00:00 GMT"


def answered(**headers: str) -> Reply:
    named = [(name.replace("_", "-"), value) for name, value in headers.items()]
    return Reply(Outcome.OK, 200, named, b"new", 3, False, None, True, None, NOON, NOON, 0.0, 0.1)


@pytest.mark.parametrize(
    ("last_modified", "date", "found"),
    [
        ("Sat, 28 Feb 2026 12:00:00 GMT", DATE, NOON - timedelta(days=1)),
        ("Sat, 28 Feb 2026 12:00:00 GMT", None, NOON - timedelta(days=1)),
        ("Saturday, 28-Feb-26 12:00:00 GMT", DATE, NOON - timedelta(days=1)),
        ("Sun, 01 Mar 2026 11:56:00 GMT", DATE, None),
        (DATE, DATE, None),
        ("Mon, 02 Mar 2026 12:00:00 GMT", DATE, None),
        ("yesterday", DATE, None),
        ("", DATE, None),
        ("Sat, 28 Feb 20266 12:00:00 GMT", DATE, None),
        (None, DATE, None),
    ],
)
def test_last_modified_dates_a_change_unless_it_is_the_time_of_the_answer(
    last_modified: str | None, date: str | None, found: datetime | None
) -> None:
    headers = {"last_modified": last_modified, "date": date}
    reply = answered(**{name: value for name, value in headers.items() if value is not None})
    assert modified_at(reply) == found
    assert found is None or found.tzinfo is UTC


@pytest.mark.parametrize(
    ("noisy", "bits", "max_distance", "counts"),
    [
        (False, 1, 3, True),
        (True, 1, 3, False),
        (True, 3, 3, False),
        (True, 4, 3, True),
        (True, 4, 4, False),
        (True, 2, 1, True),
        (True, 3, 0, False),
        (True, 4, 0, True),
        (True, None, 3, True),
    ],
)
def test_on_a_noisy_host_a_near_copy_has_changed_and_does_not_count(
    tmp_path: object, noisy: bool, bits: int | None, max_distance: int, counts: bool
) -> None:
    held = {"body_digest": digest("old"), "text_digest": digest("old"), "simhash": 0b1010}
    target = Target(1, 2, "http://a.test/", "http://a.test/", "a.test", 0, 0, 0, **held, noisy=noisy, signalled=True)
    settings = lake_at(tmp_path, copies={"max_distance": max_distance}).settings
    found = visit(
        target, answered(), DAY, settings, url_rules=settings.url_rules, conditional=False, robots_digest=None
    )
    simhash = None if bits is None else 0b1010 ^ ((1 << bits) - 1)
    complete(found, Reading(body_digest=digest("new"), text_digest=digest("new"), simhash=simhash), settings)
    row = found.observation
    assert (row["content_changed"], row["counts_as_changed"]) == (True, counts)
    assert (row["signalled"], row["modified_trusted"]) == (True, False)
