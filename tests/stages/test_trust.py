"""What an audit proves, and when a host is trusted."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.cycle import Cycle
from crawler.core.model import Row
from crawler.stages.fetch.trust import Trust, is_audit, is_lie
from tests.stages.memory_ledger import target

DATE = "Mon, 01 Jan 2024 00:00:00 GMT"
KNOWN = target(
    "http://a.test/x", etag='"v1"', last_modified=DATE, body_digest=b"body", text_digest=b"text", copy_digest=b"copy"
)


def answer(**columns: Any) -> Row:
    """An observation of other bytes with another text under the same validators."""
    row = {"outcome": "ok", "truncated": False, "etag": '"v1"', "last_modified": DATE, "body_digest": b"other",
           "copy_digest": b"other", "content_changed": True}  # fmt: skip
    return row | columns


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (answer(), True),
        (answer(etag='W/"v1"'), True),
        (answer(etag='"v2"'), None),  # it would have been sent
        (answer(etag='"v2"', last_modified=DATE), None),
        (answer(etag=None), True),  # then the date decides
        (answer(etag=None, last_modified=None), None),
        (answer(body_digest=b"body", content_changed=False), False),
        (answer(content_changed=False, copy_digest=b"copy"), False),  # other bytes, the same page
        (answer(content_changed=False), True),  # the same text, other links
        (answer(content_changed=False, copy_digest=None), False),
        (answer(content_changed=None), None),
        (answer(truncated=True), None),
        (answer(outcome="server_error"), None),
        (answer(outcome="parser_failed"), None),
    ],
)
def test_an_audit_proves_a_lie_the_truth_or_nothing(row: Row, verdict: bool | None) -> None:
    assert is_lie(KNOWN, row) is verdict


def test_a_page_known_by_its_date_alone_is_judged_by_it() -> None:
    known = replace(KNOWN, etag=None)
    assert is_lie(known, answer()) is True
    assert is_lie(known, answer(last_modified="Tue, 02 Jan 2024 00:00:00 GMT")) is None


def test_two_lies_end_the_trust_unless_they_are_rare() -> None:
    trust = Trust()
    trust.note(is_lie=True)
    assert trust.is_trusted
    trust.note(is_lie=True)
    assert not trust.is_trusted
    assert Trust(audits=40, lies=4).is_trusted
    assert not Trust(audits=40, lies=5).is_trusted


@given(st.integers(0, 1000))
def test_the_way_back_is_as_long_as_a_host_lied_but_never_long(lies: int) -> None:
    trust = Trust()
    for _ in range(lies):
        trust.note(is_lie=True)
    honest = 0
    while not trust.is_trusted:
        trust.note(is_lie=False)
        honest += 1
    assert honest <= 9 * min(lies, 20)
    assert (honest > 0) is (lies > 1)
    assert trust.audits <= 64


def test_audits_are_a_share_of_the_pages_that_every_task_agrees_on() -> None:
    pages = [target(f"http://a.test/{number}") for number in range(4000)]
    cycles = [Cycle.parse("2026-11-26"), Cycle.parse("2026-11-27")]
    chosen = [{page.url for page in pages if is_audit(page, cycle, 0.05)} for cycle in cycles]
    assert all(140 <= len(urls) <= 260 for urls in chosen)
    assert len(chosen[0] & chosen[1]) < 40  # another cycle, other pages
    assert not any(is_audit(page, cycles[0], 0.0) for page in pages)
    assert all(is_audit(page, cycles[0], 1.0) for page in pages)
