"""What a task and its parse worker say to each other arrives as it was; what no worker says is refused."""

import io
from array import array
from datetime import UTC, datetime

import pytest

from crawler.core.columns import NO_HINT, LinkColumns
from crawler.page import messages
from crawler.page.reading import Job, Limits, LinkWriter, Reading, Rules, read

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
RULES = Rules("bot", 0, 1 << 20, Limits(30, 2000, 20, 3, 12, 3))
MAP = b"""<urlset><url><loc>http://a.test/1</loc></url><url><loc>http://a.test/2</loc><lastmod>2026-01-02</lastmod></url>
<url><loc>http://a.test/3</loc><priority>0.5</priority></url></urlset>"""
PAGE = b"<a href=/x>x</a>"


def job(body: bytes, *, is_sitemap: bool = False) -> Job:
    url, kind = "http://a.test/", "application/xml" if is_sitemap else "text/html"
    return Job(url, url, 0, kind, kind, [], NOON, None, body, is_sitemap, ["b.test"] if is_sitemap else None)


JOBS = [job(PAGE), job(MAP, is_sitemap=True), job(PAGE)]


def read_all() -> tuple[list[Reading], LinkColumns]:
    links = LinkWriter(RULES.traps)
    return [read(each, RULES, links) for each in JOBS], links.columns()


def said(readings: list[Reading], links: LinkColumns) -> tuple[list[Reading], LinkColumns]:
    return messages.read_reply(io.BytesIO(messages.reply(readings, links)).read, len(JOBS))


def test_jobs_arrive_as_they_were_sent() -> None:
    stream = io.BytesIO(b"".join(messages.request(JOBS, 2.5)))
    assert messages.read_request(stream) == (JOBS, 2.5)


def test_what_was_read_arrives_with_what_sitemaps_say_of_links() -> None:
    readings, links = read_all()
    assert said(readings, links) == (readings, links)
    assert [reading.sitemap for reading in readings] == [None, "urlset", None]
    hints = list(zip(links.hinted, links.lastmods, links.priorities, strict=True))
    assert hints == [(2, int(datetime(2026, 1, 2, tzinfo=UTC).timestamp()), NO_HINT), (3, NO_HINT, 0.5)]


def test_a_kind_of_sitemap_that_there_is_not_is_no_reply() -> None:
    readings, links = read_all()
    with pytest.raises(messages.NoReply, match="no kind of sitemap"):
        said([Reading(sitemap="x" * 99), *readings[1:]], links)


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("hinted", array("I", [2])),
        ("hinted", array("I", [3, 2])),
        ("hinted", array("I", [2, 5])),
        ("lastmods", array("q", [-2, NO_HINT])),
        ("lastmods", array("q", [1 << 60, NO_HINT])),
        ("priorities", array("d", [1.5, 0.5])),
        ("priorities", array("d", [float("nan"), 0.5])),
    ],
)
def test_hints_that_nobody_gives_are_no_reply(name: str, column: "array[int] | array[float]") -> None:
    readings, links = read_all()
    setattr(links, name, column)
    with pytest.raises(messages.NoReply):
        said(readings, links)
