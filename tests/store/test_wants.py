"""What the owner of a bucket is told that others want to know of robots.txt, and what they read of its answer."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from crawler.core.errors import CorruptLake
from crawler.core.keys import bucket_of, host_key
from crawler.core.model import Want
from crawler.stages import admit, plan
from crawler.store.doctor import examine
from crawler.store.lake import Lake
from crawler.store.ledger import FetchLedger
from crawler.store.wants import leave_want, newest_answer, recent_wants, wanted_first
from tests.store.small_lake import DAY, NOON, Row, asked_robots, digest, lake_at, write

URL = "http://www.a.test/robots.txt"
WANT = Want(URL, "www.a.test", "http://a.test", 1)
DENY = b"User-agent: *\nDisallow: /\n"
HOUR = timedelta(hours=1)


def robots(verdict: str = "rules", body: bytes | None = DENY, *, hours: float = 0, **fields: Any) -> Row:
    """An answer of www.a.test, so many hours before noon."""
    at = NOON - hours * HOUR
    known = {"body": body, "body_digest": body and digest(body.decode()), "read_at": at}
    return asked_robots("www.a.test", verdict, at=at, **{**known, **fields})


def told(lake: Lake, *rows: Row) -> tuple[str, bytes | None] | None:
    """What is read of `rows`, each written by an owner of its own."""
    for row in rows:
        write(lake, 0, {"observation": [], "robots": [row]})
    answer = newest_answer(lake, WANT)
    return answer and (answer.verdict, answer.body)


def test_a_want_is_found_by_the_owner_of_its_host_for_three_days(tmp_path: Path) -> None:
    lake = lake_at(tmp_path, buckets=4)
    other = Want("http://x.test/", "x.test", "http://a.test", 2)
    assert leave_want(lake, WANT)
    assert not leave_want(lake, Want(URL, "www.a.test", "http://b.test", 1)), "one a day is enough"
    leave_want(lake, other)
    assert sorted(want.url for bucket in range(4) for want in recent_wants(lake, bucket)) == [URL, other.url]
    assert [found for found in (recent_wants(lake, bucket) for bucket in range(4)) if WANT in found] == [[WANT]]
    for hours, count in ((48, 1), (60, 0)):
        lake.clock.instant = NOON + hours * HOUR
        assert sum(WANT in recent_wants(lake, bucket) for bucket in range(4)) == count
    assert {finding.kind for finding in examine(lake)} & {"foreign", "torn"} == set()


def test_buckets_that_others_wait_for_come_first(tmp_path: Path) -> None:
    lake = lake_at(tmp_path, buckets=4)
    assert wanted_first(lake) == [0, 1, 2, 3]
    host = next(name for name in (f"h{n}.test" for n in range(99)) if bucket_of(host_key(name), 4) == 2)
    leave_want(lake, Want(f"http://{host}/robots.txt", host, "http://a.test", 1))
    assert wanted_first(lake) == [2, 0, 1, 3]


def test_a_want_that_cannot_be_read_stops_the_task_and_names_the_file(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    leave_want(lake, WANT)
    (file,) = tmp_path.glob("layout=1/want/bucket=0000/day=2026-03-01/*.json")
    file.write_text("{")
    with pytest.raises(CorruptLake, match=r"want.*is no want"):
        recent_wants(lake, 0)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], None),
        ([robots()], ("rules", DENY)),
        ([robots("allow", None)], ("allow", None)),
        ([robots("disallow", None)], None),
        ([robots(hours=25)], None),
        ([robots(hours=23), robots(body=b"")], ("rules", b"")),
        ([robots(hours=1), robots("disallow", None, final=False, valid_until=NOON)], None),
        ([robots(hours=2), robots(body=None, body_digest=digest(DENY.decode()), outcome="timed_out")], ("rules", DENY)),
        ([robots(body=None, body_digest=digest("lost"))], None),
        ([robots(url="http://www.a.test/else")], None),
    ],
    ids=[
        "not asked yet", "rules", "there is none", "unreachable", "too old", "the newest counts",
        "it is being asked for again", "its copy serves", "the copy's body is not there", "another URL",
    ],
)  # fmt: skip
def test_the_newest_answer_counts_while_it_is_valid(tmp_path: Path, rows: list[Row], expected: Any) -> None:
    assert told(lake_at(tmp_path), *rows) == expected


def test_an_answer_stands_at_the_end_of_its_redirects(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    origin = {"origin": "http://asker.test", "final": False}
    hops = [
        robots("redirect", None, hop=1, valid_until=NOON, **origin),
        asked_robots("x.test", "redirect", hop=2, valid_until=NOON, **origin),
    ]
    write(lake, 0, {"observation": [], "robots": hops})
    assert newest_answer(lake, WANT) is None
    last = asked_robots("x.test", at=NOON, hop=3, body=b"", url="http://x.test/r", **origin)
    write(lake, 0, {"observation": [], "robots": [last]})
    answer = newest_answer(lake, WANT)
    assert answer is not None
    assert (answer.verdict, answer.body) == ("rules", b"")


def test_an_owner_that_still_runs_answers_as_soon_as_it_has_written(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    plan.run(lake, DAY, 0)
    admit.run(lake, DAY)
    with lake.own("bucket", 0, DAY) as owner:
        ledger = FetchLedger(lake, owner)
        assert ledger.want(WANT) is None
        assert ledger.wants() == [WANT]
        ledger.append({"observation": [], "robots": [robots()]})
        answer = ledger.want(WANT)
        assert answer is not None
        assert answer.body == DENY
        assert ledger.robots_of(["www.a.test"])["http://www.a.test"].body == DENY
        assert ledger.robots_of(["x.test"]) == {}


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([robots(hours=3)], ("rules", DENY, 3, None)),
        ([robots(hours=3), robots("disallow", None, unreachable_since=NOON)], ("disallow", DENY, 3, NOON)),
        ([robots(hours=3), robots("allow", None)], ("allow", None, None, None)),
        ([robots(hours=3), robots("allow", None), robots("disallow", None)], ("disallow", None, None, None)),
        ([robots(hours=1, read_at=NOON - 3 * HOUR)], ("rules", DENY, 3, None)),
        ([robots(hours=1, read_at=None)], ("rules", DENY, 1, None)),
    ],
    ids=["rules", "unreachable since", "gone", "unreachable after it was gone", "read elsewhere", "of an older schema"],
)
def test_a_fetch_begins_with_the_newest_decision_and_the_last_good_body(
    tmp_path: Path, rows: list[Row], expected: Any
) -> None:
    lake = lake_at(tmp_path)
    for row in rows:
        write(lake, 0, {"observation": [], "robots": [row]})
    plan.run(lake, DAY, 0)
    admit.run(lake, DAY)
    with lake.own("bucket", 0, DAY) as owner:
        copy = FetchLedger(lake, owner).robots_of(["www.a.test"])["http://www.a.test"]
    verdict, body, hours, since = expected
    read_at = None if hours is None else NOON - hours * HOUR
    assert (copy.verdict, copy.body, copy.body_fetched_at, copy.unreachable_since) == (verdict, body, read_at, since)
