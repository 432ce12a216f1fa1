"""The state of a bucket is a pure fold of its log: in order, over any checkpoints, as a plain loop would do it."""

import math
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.core.keys import url_key
from crawler.core.outcomes import CONSEQUENCES, Kind, Outcome
from crawler.store import query, state
from crawler.store.lake import Lake
from crawler.store.near import find_near
from crawler.store.state import checkpoint_epochs, open_known, open_state, write_checkpoint
from tests.store.small_lake import NOON, Row, asked_robots, digest, host_state, known, lake_at, observed, read, write

URLS = ("http://a.test/1", "http://a.test/2")
NEVER_FOUND = "http://a.test/never-found"
BODIES = ("one", "two")
KEY = url_key(URLS[0])


def fold(lake: Lake, *, without_checkpoints: bool = False) -> dict[str, Row]:
    """The state of bucket 0 by URL."""
    patch = pytest.MonkeyPatch()
    if without_checkpoints:
        patch.setattr(state, "checkpoint_epochs", lambda *_: [])
    try:
        con = lake.connect()
        open_state(lake, con, 0, lake.settled("bucket", 0))
        return {row["url"]: row for row in query.rows(con.execute("FROM state_page"))}
    finally:
        patch.undo()


def fold_narrowly(lake: Lake) -> dict[str, Row]:
    """The state of bucket 0 by URL as merges read it."""
    con = lake.connect()
    open_known(lake, con, 0, lake.settled("bucket", 0))
    return {row["url"]: row for row in query.rows(con.execute("FROM state_page"))}


def known_to_near_copies(lake: Lake) -> dict[str, int]:
    """The SimHashes of bucket 0 that new ones are compared with, by URL: read without the rest of the state."""
    con = lake.connect()
    query.keep_rows(con, "arrived", "simhash UBIGINT", [(1,), (2,)])  # all that there are, and near each other
    query.keep_rows(con, "arrived_here", "url_key UBIGINT, simhash UBIGINT", [])
    find_near(lake, con, 0, lake.settled("bucket", 0), max_distance=3)
    return dict(con.sql("SELECT url, simhash FROM near_known").fetchall())


def checkpoint(lake: Lake) -> int:
    return write_checkpoint(open_state(lake, lake.connect(), 0, lake.settled("bucket", 0)))


def mentioned(url: str, **fields: Any) -> Row:
    return {"url_key": url_key(url), "url": url, **fields}


def marked(url: str, body: str, first_url: str | None, **near: Any) -> Row:
    return {"url_key": url_key(url), "body_digest": digest(body), "first_url": first_url, **near}


@contextmanager
def new_lake() -> Iterator[Lake]:
    with tempfile.TemporaryDirectory() as root:
        yield lake_at(root)


# The laws

OUTCOMES = st.sampled_from(["ok", "ok", "ok", "not_modified", "redirected", "gone", "timed_out", "denied_by_robots"])
TEXTS = st.none() | st.sampled_from("xyz")
SIMHASHES = st.none() | st.sampled_from([1, 2])


@st.composite
def observations(draw: st.DrawFn) -> tuple[str, list[Row]]:
    found = []
    for url in draw(st.sets(st.sampled_from([*URLS, NEVER_FOUND]), min_size=1)):
        outcome = draw(OUTCOMES)
        body = draw(st.none() | st.sampled_from(BODIES)) if outcome in ("ok", "not_modified") else None
        fields = {
            "outcome": outcome,
            "status": draw(st.none() | st.sampled_from([200, 404])),
            "etag": draw(TEXTS),
            "last_modified": draw(TEXTS),
            "title": draw(TEXTS),
            "language": draw(TEXTS),
            "redirect_url": draw(TEXTS) if outcome == "redirected" else None,
            "canonical_url": draw(TEXTS),
            "noindex": draw(st.booleans()),
            "content_changed": draw(st.none() | st.booleans()) if outcome == "ok" and body else None,
            "signalled": draw(st.booleans()),
            "modified_trusted": draw(st.booleans()),
            "robots_digest": draw(st.none() | st.sampled_from([b"r", b"s"])),
            "modified_at": draw(st.none() | st.sampled_from([0.0, 1.5, 90.0])),  # days before; made an instant below
        }
        if body:
            fields["simhash"] = draw(SIMHASHES)
        if fields["content_changed"] is not None:
            fields["counts_as_changed"] = fields["content_changed"] and draw(st.booleans())
        found.append(observed(url, body, **fields))
    return "observation", found


FOUND = st.tuples(
    st.just("url"),
    st.lists(
        st.builds(known, st.sampled_from(URLS), depth=st.integers(0, 3), is_seed=st.booleans()),
        unique_by=lambda row: row["url"],
    ),
)
MARKS = st.tuples(
    st.just("duplicate"),
    st.lists(
        st.builds(marked, st.sampled_from(URLS), st.sampled_from(BODIES), st.sampled_from(["p", "q"]))
        | st.builds(
            marked,
            st.sampled_from(URLS),
            st.just(BODIES[0]),  # a merge says of a URL once what it is near to
            st.none() | st.just("p"),
            simhash=SIMHASHES,
            near_of=st.none() | st.sampled_from(["n", "m"]),
        ),
        min_size=1,
        unique_by=lambda row: (row["url_key"], row["body_digest"]),
    ),
)
MENTIONS = st.tuples(
    st.just("mention"),
    st.lists(
        st.builds(
            mentioned,
            st.sampled_from(URLS),
            inlinks=st.integers(0, 3),
            lastmod=st.none() | st.sampled_from([NOON, NOON + timedelta(days=1)]),
            sitemap_priority=st.none() | st.sampled_from([0.0, 0.5]),
            is_sitemap=st.booleans(),
            announced_by=st.none() | st.lists(st.sampled_from(["b.test", "a.test"]), min_size=1, unique=True),
        ),
        min_size=1,
        unique_by=lambda row: row["url"],
    ),
)
REWRITE: tuple[str, list[Row]] = ("rewrite", [])
LOG = st.lists(
    st.tuples(st.one_of(observations(), observations(), FOUND, MARKS, MENTIONS, st.just(REWRITE)), st.booleans()),
    min_size=1,
    max_size=8,
)


PASSED_DAYS = (0, 0.01, 3, 80, 81, 300, 1000, 3000)  # minutes, days and generations of evidence


def before(at: datetime, days: float | None) -> datetime | None:
    return None if days is None else at - timedelta(days=days)


def append(lake: Lake, table: str, rows: list[Row]) -> int:
    """Write one batch in an epoch of its own; `rewrite` makes one file of all observations so far."""
    if table == "rewrite":
        return write(lake, 0, {"observation": read(lake, "observation")}, finished=True)
    if table in ("duplicate", "mention"):
        return write(lake, 0, {table: rows, "url": []})
    return write(lake, 0, {table: rows})


@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(LOG)
def test_the_fold_of_checkpoint_and_tail_is_the_fold_of_the_log_is_a_plain_loop(
    log: list[tuple[tuple[str, list[Row]], bool]],
) -> None:
    with new_lake() as lake:
        loop = PlainLoop()
        loop.add("url", first := [known(url) for url in URLS], append(lake, "url", first))
        for days, ((table, rows), cut_here) in zip(PASSED_DAYS, log, strict=False):
            at = NOON + timedelta(days=days)
            timed = {"observation": ["fetched_at", "ended_at"], "url": ["discovered_at"]}.get(table, [])
            rows = [{**row, **dict.fromkeys(timed, at)} for row in rows]
            if table == "observation":
                rows = [{**row, "modified_at": before(at, row["modified_at"])} for row in rows]
            loop.add(table, rows, append(lake, table, rows))
            if cut_here:
                checkpoint(lake)
        with_checkpoints = fold(lake)
        assert with_checkpoints == fold(lake, without_checkpoints=True)
        narrowly = fold_narrowly(lake)
        assert {url: pick(page, narrowly[url]) for url, page in with_checkpoints.items()} == narrowly
        found_near = known_to_near_copies(lake)
        found_near.pop(NEVER_FOUND, None)  # who is asked for was found, so the near step does not ask whether
        assert found_near == {
            url: page["simhash"]
            for url, page in with_checkpoints.items()
            if page["simhash"] and not page["near_of"] and page["outcome"] != "gone"
        }
        assert {url: pick(row, loop.pages[url]) for url, row in with_checkpoints.items()} == loop.pages


def pick(row: Row, like: Row) -> Row:
    return {name: row[name] for name in like}


class PlainLoop:
    """The fold as a loop over the log, row by row."""

    def __init__(self) -> None:
        self.pages: dict[str, Row] = {}

    def add(self, table: str, rows: list[Row], epoch: int) -> None:
        for row in rows:
            if table == "url":
                self._find(row)
            elif table == "observation" and row["url"] in self.pages:
                self._observe(self.pages[row["url"]], row, epoch)
            elif table == "duplicate":
                page = next(page for page in self.pages.values() if page["url_key"] == row["url_key"])
                if page["body_digest"] == row["body_digest"]:
                    page["duplicate_of"] = row["first_url"] or page["duplicate_of"]
                if page["simhash"] is not None and page["simhash"] == row.get("simhash"):
                    page["near_of"] = row["near_of"] or page["near_of"]
            elif table == "mention":
                self._mention(self.pages[row["url"]], row)

    def _find(self, row: Row) -> None:
        new = {name: row[name] for name in ("url_key", "host", "depth", "discovered_at", "is_seed")}
        counts: Row = {
            "streak": 0,
            "checks": 0,
            "is_alias": False,
            "fetches": 0,
            "changes": 0,
            "last_epoch": 0,
            "inlinks": 0,
            "is_sitemap": False,
        }
        unset = (
            *(
                "outcome",
                "status",
                "robots_digest",
                "asked_at",
                "fetched_at",
                "changed_at",
                "etag",
                "last_modified",
                "body_digest",
            ),
            *("body_bytes", "title", "language", "canonical_url", "redirect_url", "duplicate_of"),
            *("simhash", "near_of"),
            "noindex",
            *("lastmod", "sitemap_priority", "announced_by"),
            *("checked_at", "is_live", "evidence", "evidence_generation"),
        )
        page = {**new, **counts, **dict.fromkeys(unset), "hints": dict.fromkeys(HINTS, 0)}
        page = self.pages.setdefault(row["url"], page)
        page["is_seed"] |= row["is_seed"]

    def _mention(self, page: Row, row: Row) -> None:
        page["inlinks"] += row["inlinks"]
        page["is_sitemap"] |= row["is_sitemap"]
        page["lastmod"] = max(filter(None, (page["lastmod"], row["lastmod"])), default=None)
        if row["sitemap_priority"] is not None:
            page["sitemap_priority"] = row["sitemap_priority"]
        page["announced_by"] = sorted({*(page["announced_by"] or ()), *(row["announced_by"] or ())}) or None

    def _observe(self, page: Row, row: Row, epoch: int) -> None:
        is_of_a_kind = page["outcome"] and kind_of(page) is kind_of(row)
        page["streak"] = page["streak"] + 1 if is_of_a_kind else 1
        page |= {"outcome": row["outcome"], "status": row["status"], "asked_at": row["fetched_at"]}
        page["robots_digest"] = row["robots_digest"] if row["outcome"] == "denied_by_robots" else None
        page["last_epoch"] = epoch
        if row["outcome"] in ("ok", "not_modified", "gone", "redirected"):
            self._check(page, row)
        if CONSEQUENCES[Outcome(row["outcome"])].kind is Kind.SUCCESS:
            page |= {"streak": 0, "fetched_at": row["fetched_at"], "redirect_url": row["redirect_url"]}
            page["fetches"] += 1
        page["changes"] += bool(row["content_changed"])
        if row["outcome"] in ("ok", "not_modified") and row.get("body_digest"):
            page |= {name: row[name] for name in ("etag", "last_modified")}
        if row["outcome"] == "ok" and row.get("body_digest"):
            if page["body_digest"] != row["body_digest"]:
                page["duplicate_of"] = None
            if page["simhash"] != row["simhash"]:
                page["near_of"] = None
            if row["content_changed"] is not False:
                page["changed_at"] = row["fetched_at"]
            content = ("body_digest", "body_bytes", "simhash", "title", "language", "canonical_url", "noindex")
            page |= {name: row[name] for name in content}
            page["is_alias"] = row["canonical_url"] not in (None, row["url"])

    def _check(self, page: Row, row: Row) -> None:
        """Compare a check with the one before, and add what it says of change rates and of hints."""
        past, was_live, at, is_live = page["checked_at"], page["is_live"], row["fetched_at"], row["outcome"] != "gone"
        is_redirect = row["outcome"] == "redirected"
        page |= {"checked_at": None if is_redirect else at, "is_live": None if is_redirect else is_live}
        if past is None or is_redirect or not (was_live or is_live):
            return
        days = (at - past) / timedelta(days=1)
        text_changed = row.get("content_changed") if was_live and is_live else None
        changed = row.get("counts_as_changed", text_changed) if was_live and is_live else True
        modified_at = row["modified_at"]
        hints = page["hints"]
        if text_changed is not None and modified_at is not None:
            hints["modified"] += 1
            hints["modified_true"] += (modified_at <= past) is not text_changed
        if text_changed is not None and days <= 1 / 24:
            hints["rapid"] += 1
            hints["rapid_changed"] += text_changed
        if changed is None:
            return
        page["checks"] += 1
        hints["signalled"] += row["signalled"]
        hints["signalled_true"] += row["signalled"] and changed
        is_dated = row["modified_trusted"] and was_live and is_live and modified_at is not None and modified_at >= past
        modified_days = (at - modified_at) / timedelta(days=1) if is_dated else None
        said = [plain_evidence(2.0 ** (2 * k - 11), changed, days, modified_days) for k in range(8)]
        generation = math.floor(at.timestamp() / 86_400 / 90)
        so_far = page["evidence"] or dict.fromkeys(RATES, 0)
        age = generation - (page["evidence_generation"] or generation)
        weight = math.floor(1024 * 2 ** (-age / 2) + 0.5) if age < 20 else 0
        page["evidence"] = {k: (so_far[k] * weight >> 10) + new for k, new in zip(RATES, said, strict=True)}
        page["evidence_generation"] = generation


HINTS = ("modified", "modified_true", "signalled", "signalled_true", "rapid", "rapid_changed")
RATES = [f"k{k}" for k in range(8)]


def kind_of(row: Row) -> Kind:
    return CONSEQUENCES[Outcome(row["outcome"])].kind


def plain_evidence(rate: float, changed: bool, days: float, modified_days: float | None) -> int:
    days = max(days, 1 / 1440)
    if not changed:
        log = -rate * days
    elif modified_days is None:
        log = math.log(1 - 0.995 * math.exp(-rate * days))
    else:
        log = math.log(rate) - rate * modified_days
    return int(math.copysign(math.floor(abs(1024 * log) + 0.5), log))


# What each column remembers


def folded(lake: Lake, *rows: Row) -> Row:
    """The state of the first URL after `rows` of it, an epoch each."""
    write(lake, 0, {"url": [known(URLS[0])]})
    for row in rows:
        write(lake, 0, {"observation": [row]})
    return fold(lake)[URLS[0]]


def see(outcome: str, body: str | None = None, **fields: Any) -> Row:
    return observed(URLS[0], body, outcome=outcome, **fields)


def test_a_url_that_was_never_asked_for_is_known_with_no_outcome(tmp_path: Path) -> None:
    page = folded(lake_at(tmp_path))
    assert (page["outcome"], page["streak"], page["fetches"], page["last_epoch"]) == (None, 0, 0, 0)


def test_a_streak_counts_failures_of_one_kind_in_a_row(tmp_path: Path) -> None:
    page = folded(
        lake_at(tmp_path), see("timed_out"), see("ok", "one"), see("gone"), see("timed_out"), see("dns_failed")
    )
    assert (page["outcome"], page["streak"], page["fetches"]) == ("dns_failed", 2, 1)


def test_a_304_keeps_the_stored_content_and_its_own_validators(tmp_path: Path) -> None:
    first = see("ok", "one", etag='"1"', title="One", at=NOON)
    again = see("not_modified", "one", etag='W/"1"', at=NOON + timedelta(hours=1))
    page = folded(lake_at(tmp_path), first, again)
    assert (page["etag"], page["title"], page["body_digest"]) == ('W/"1"', "One", digest("one"))
    assert (page["changed_at"], page["fetched_at"]) == (NOON, NOON + timedelta(hours=1))


def test_a_failure_takes_away_nothing_that_is_stored(tmp_path: Path) -> None:
    page = folded(lake_at(tmp_path), see("ok", "one", etag='"1"', title="One"), see("server_error", status=500))
    assert (page["etag"], page["title"], page["body_digest"]) == ('"1"', "One", digest("one"))
    assert (page["outcome"], page["status"]) == ("server_error", 500)


def test_a_redirect_is_remembered_until_the_page_answers_itself(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    assert folded(lake, see("redirected", redirect_url="http://b.test/"))["redirect_url"] == "http://b.test/"
    assert folded(lake, see("timed_out"))["redirect_url"] == "http://b.test/"
    assert folded(lake, see("ok", "one"))["redirect_url"] is None


def test_within_an_epoch_the_sequence_decides(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    rows = [see("gone", epoch=1, sequence=2), see("ok", "one", epoch=1, sequence=1)]
    write(lake, 0, {"url": [known(URLS[0])]})
    write(lake, 0, {"observation": rows})
    page = fold(lake)[URLS[0]]
    assert (page["outcome"], page["streak"], page["body_digest"]) == ("gone", 1, digest("one"))


def test_of_two_marks_in_one_merge_that_of_the_current_content_holds(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    folded(lake, see("ok", "one"), see("ok", "two"))
    marks = [marked(URLS[0], "one", "http://first.test/one"), marked(URLS[0], "two", "http://first.test/two")]
    write(lake, 0, {"duplicate": marks, "url": []})
    assert fold(lake)[URLS[0]]["duplicate_of"] == "http://first.test/two"


def test_a_copy_that_changes_is_no_copy_any_more(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    folded(lake, see("ok", "one"))
    write(lake, 0, {"duplicate": [marked(URLS[0], "one", "http://first.test/")], "url": []})
    assert fold(lake)[URLS[0]]["duplicate_of"] == "http://first.test/"
    assert folded(lake, see("not_modified", "one"))["duplicate_of"] == "http://first.test/"
    assert folded(lake, see("ok", "two"))["duplicate_of"] is None


def test_a_near_copy_is_one_until_its_simhash_is_another(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    folded(lake, see("ok", "one", simhash=1))
    near = marked(URLS[0], "one", None, simhash=1, near_of="http://first.test/")
    write(lake, 0, {"duplicate": [near], "url": []})
    assert folded(lake, see("ok", "two", simhash=1))["near_of"] == "http://first.test/"
    assert folded(lake, see("not_modified", "two"))["near_of"] == "http://first.test/"
    assert folded(lake, see("ok", "three", simhash=2))["near_of"] is None
    assert folded(lake, see("ok", "one", simhash=1))["near_of"] is None


# Checkpoints


def test_a_checkpoint_of_an_epoch_is_the_same_whoever_writes_it(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    folded(lake, see("ok", "one"))
    assert checkpoint(lake) == 1
    (epoch,) = checkpoint_epochs(lake, 0)
    name = state.checkpoint_name(lake, 0, epoch, "page")
    before = lake.files.read(name)
    assert checkpoint(lake) == 1
    assert lake.files.read(name) == before
    lake.files.delete(name)
    checkpoint(lake)
    assert lake.files.read(name) == before


def test_a_checkpoint_without_its_page_file_does_not_exist(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    folded(lake, see("ok", "one"))
    checkpoint(lake)
    before = fold(lake)
    (epoch,) = checkpoint_epochs(lake, 0)
    lake.files.delete(state.checkpoint_name(lake, 0, epoch, "page"))
    assert checkpoint_epochs(lake, 0) == []
    assert fold(lake) == before


def test_a_state_of_the_past_is_read_without_later_checkpoints(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    folded(lake, see("ok", "one"))
    past = lake.settled("bucket", 0)
    write(lake, 0, {"observation": [see("gone")]})
    checkpoint(lake)
    con = lake.connect()
    opened = open_state(lake, con, 0, past)
    assert opened.from_epoch == 0
    assert con.execute("SELECT outcome FROM state_page").fetchall() == [("ok",)]


def test_a_checkpoint_leaves_a_tail_of_what_came_later(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    write(lake, 0, {"url": [known(url) for url in URLS]})
    checkpoint(lake)
    assert open_state(lake, lake.connect(), 0, lake.settled("bucket", 0)).counts() == (2, 0)
    write(lake, 0, {"observation": [see("ok", "one")]})
    assert open_state(lake, lake.connect(), 0, lake.settled("bucket", 0)).counts() == (2, 1)


def test_a_checkpoint_keeps_each_host_s_newest_state(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    for delay in (1.0, 2.0):
        hosts = [host_state("a.test", delay_seconds=delay), host_state("b.test", delay_seconds=delay + 10)]
        write(lake, 0, {"observation": [], "host_state": hosts})
    for _ in range(2):
        checkpoint(lake)
        con = lake.connect()
        open_state(lake, con, 0, lake.settled("bucket", 0))
        found = con.execute("SELECT host, delay_seconds FROM base_host ORDER BY host").fetchall()
        assert found == [("a.test", 2.0), ("b.test", 12.0)]
        write(lake, 0, {"observation": []})


def robots(verdict: str, body: bytes | None, minutes: int, **fields: Any) -> Row:
    return asked_robots("a.test", verdict, at=NOON + timedelta(minutes=minutes), body=body, **fields)


@pytest.mark.parametrize(
    ("last", "kept"),
    [
        ([], [("rules", b"new"), ("rules", None)]),
        ([robots("disallow", None, 5)], [("rules", b"new"), ("disallow", None)]),
        ([robots("allow", None, 5)], [("allow", None)]),
        ([robots("allow", None, 5), robots("disallow", None, 6)], [("allow", None), ("disallow", None)]),
    ],
    ids=["a copy serves", "no copy serves", "it is gone", "it was gone"],
)
def test_a_checkpoint_keeps_of_robots_txt_the_newest_decision_and_the_last_good_answer(
    tmp_path: Path, last: list[Row], kept: list[tuple[str, bytes | None]]
) -> None:
    lake = lake_at(tmp_path)
    decisions = [
        robots("rules", b"old", 0),
        robots("disallow", None, 1),
        robots("rules", b"new", 2),
        robots("redirect", None, 3, final=False),
        robots("rules", None, 4, outcome="timed_out"),
    ]
    for row in [*decisions, *last]:
        write(lake, 0, {"observation": [], "robots": [row]})
        checkpoint(lake)
    con = lake.connect()
    open_state(lake, con, 0, lake.settled("bucket", 0))
    found = con.execute("SELECT verdict, body FROM base_robots ORDER BY fetched_at").fetchall()
    assert found == kept
