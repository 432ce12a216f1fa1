"""A takedown takes content out of every file of the lake, keeps it out, and lets no reader see half of it."""

import itertools
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from crawler.core.errors import BadPurge, BadSeeds, BucketTaken
from crawler.stages import check, fingerprint, merge, publish, seed
from crawler.store import purges
from crawler.store.doctor import examine
from crawler.store.erase import erase, look
from crawler.store.explain import explain
from crawler.store.files import Files
from crawler.store.lake import Lake
from crawler.store.lease import KernelLock
from crawler.store.reader import open_reader
from tests.store.small_cycle import CYCLES, fetch_all, fold, prepare, run_whole, seeded_lake
from tests.store.small_lake import DAY, digest, known, lake_at, observed, read, write
from tests.store.small_web import PAGES, A, B, ManualClock, bucket_of_url, fetch, small_settings

pytestmark = pytest.mark.xdist_group("purge")  # one crawl for all of them

URL, MIRROR = f"{A}/1", f"{B}/copy"  # both say "same"; the first is the shorter
BODY = PAGES[URL][0].encode()


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """Three published cycles, after which all is fetched, and a checkpoint or two in each bucket."""
    made = seeded_lake(tmp_path_factory.mktemp("crawled"))
    tokens = itertools.count()  # titles, of which no two are equal
    for cycle in CYCLES[:3]:
        prepare(made, cycle)
        for bucket in range(made.buckets):
            fetch(made, cycle, bucket, tokens=tokens, asked=lambda *_: None)
        fold(made, cycle)
        check.run(made, cycle)
        publish.run(made, cycle)
    assert list(Path(made.files.root).glob("layout=1/checkpoint/*/*-page.parquet"))
    return made


@pytest.fixture
def lake(crawled: Lake, tmp_path: Path) -> Lake:
    return copy_of(crawled, tmp_path / "lake")


def copy_of(lake: Lake, root: Path) -> Lake:
    shutil.copytree(lake.files.root, root)
    return Lake.open(small_settings(str(root)), ManualClock(lake.clock.instant))


def take_down(lake: Lake, name: str, **options: Any) -> dict[str, int]:
    return erase(lake, purges.purge(lake, name, "a letter"), **options).to_dict()


def values(root: Path) -> Iterator[tuple[Path, str, object]]:
    """Every value in every Parquet and Arrow file below `root`, whatever counts; nested ones as they print."""
    readers = {".parquet": lambda path: pq.read_table(path, partitioning=None), ".arrow": feather.read_table}
    for path in root.rglob("*"):
        if path.suffix in readers:
            table = readers[path.suffix](path)
            for name in table.column_names:
                for value in table[name].to_pylist():
                    yield path, name, value


def holding(lake: Lake, *wanted: object) -> set[str]:
    """The `table.column` of the lake that hold one of `wanted`."""
    root = Path(lake.files.root)
    return {
        f"{path.relative_to(root / lake.layout).parts[0]}.{name}"
        for path, name, found in values(root)
        if found in wanted
    }


def titles(lake: Lake, *urls: str) -> list[str]:
    with open_reader(lake) as con:
        rows = con.execute("SELECT DISTINCT title FROM observation WHERE url IN (SELECT unnest(?))", [list(urls)])
        return [title for (title,) in rows.fetchall()]


def ask(lake: Lake, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
    with open_reader(lake) as con:
        return con.execute(sql, list(parameters)).fetchall()


def test_no_file_holds_what_the_page_said_and_the_fact_that_it_was_asked_for_stays(lake: Lake) -> None:
    said = titles(lake, URL, MIRROR)
    assert len(said) >= 4
    assert BODY in (body for (body,) in ask(lake, "SELECT body FROM capture"))
    asked = ask(lake, "SELECT url, fetched_at, outcome, delay_seconds FROM observation ORDER BY ALL")
    take_down(lake, URL)
    assert holding(lake, BODY, *said) == set()
    assert ask(lake, "SELECT url, fetched_at, outcome, delay_seconds FROM observation ORDER BY ALL") == asked
    assert ask(lake, "SELECT title, etag, body_digest, stored FROM observation WHERE url = ? GROUP BY ALL", URL) == [
        (None, None, None, False)
    ]
    assert ask(lake, "SELECT * FROM page WHERE url = ?", URL) == []
    assert ask(lake, "SELECT * FROM link WHERE source_url = ?", URL) == []
    assert ask(lake, "FROM politeness_audit") == []


def test_other_pages_lose_nothing(lake: Lake) -> None:
    rest = [url for url in PAGES if url not in (URL, MIRROR)]
    questions = [
        "SELECT * FROM page WHERE url IN (SELECT unnest(?)) ORDER BY ALL",
        "SELECT * FROM observation WHERE url IN (SELECT unnest(?)) ORDER BY ALL",
        "SELECT * FROM capture WHERE url IN (SELECT unnest(?)) ORDER BY ALL",
        "SELECT * FROM link WHERE source_url IN (SELECT unnest(?)) ORDER BY ALL",
    ]
    before = [ask(lake, question, rest) for question in questions]
    take_down(lake, URL)
    assert [ask(lake, question, rest) for question in questions] == before


def test_a_purged_url_is_never_asked_for_again_although_pages_link_to_it(lake: Lake) -> None:
    take_down(lake, URL)
    run_whole(lake, CYCLES[3])
    assert ask(lake, "SELECT * FROM plan WHERE url = ? AND cycle = ?", URL, CYCLES[3].day) == []
    assert ask(lake, "SELECT * FROM page WHERE url = ?", URL) == []
    story = explain(lake, URL)
    assert (story.next_plan.code, story.last_plan.code) == ("purged", "purged")
    assert "a letter" in story.next_plan.reason
    with pytest.raises(BadSeeds, match="1 purged"):
        seed.run(lake, [URL])


def test_a_purge_that_is_lifted_lets_the_url_be_found_again(lake: Lake) -> None:
    take_down(lake, URL)
    with pytest.raises(BadPurge, match=r"purged: http://a\.test/1"):
        purges.lift(lake, f"{A}/2")
    purges.lift(lake, URL)
    seed.run(lake, [URL])
    run_whole(lake, CYCLES[3])
    assert ask(
        lake, "SELECT body FROM capture WHERE body_digest IN (SELECT body_digest FROM page WHERE url = ?)", URL
    ) == [(BODY,)]


def test_a_mirror_of_the_purged_page_is_fetched_anew_and_keeps_its_own_body(lake: Lake) -> None:
    assert ask(lake, "SELECT duplicate_of FROM page WHERE url = ?", MIRROR) == [(URL,)]
    assert take_down(lake, URL)["others"] == 1
    assert ask(lake, "SELECT duplicate_of, body_digest FROM page WHERE url = ?", MIRROR) == [(None, None)]
    run_whole(lake, CYCLES[3])
    found = ask(
        lake, "SELECT outcome, conditional, stored FROM observation WHERE url = ? AND cycle = ?", MIRROR, CYCLES[3].day
    )
    assert found == [("ok", False, True)]
    assert ask(lake, "SELECT duplicate_of FROM page WHERE url = ?", MIRROR) == [(None,)]
    assert ask(lake, "SELECT url FROM capture WHERE body = ?", BODY) == [(MIRROR,)]
    assert [row for row in holding(lake, URL) if row.startswith(("copy.", "checkpoint."))] == []


def test_a_host_is_taken_down_with_all_its_urls(lake: Lake) -> None:
    urls = [url for url in PAGES if url.startswith(A)]
    said = titles(lake, *urls)
    assert take_down(lake, "A.test")["urls"] == len(urls)
    assert holding(lake, *said, *(PAGES[url][0].encode() for url in urls)) == set()
    run_whole(lake, CYCLES[3])
    assert ask(lake, "SELECT * FROM page WHERE host = 'a.test'") == []
    assert ask(lake, "SELECT * FROM plan WHERE host = 'a.test' AND cycle = ?", CYCLES[3].day) == []


def test_what_was_called_a_copy_of_the_purged_page_becomes_first_in_its_place(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    text = {"copy_digest": digest("one text"), "title": "of one text"}
    for number, url in enumerate(("http://a.test/", "http://a.test/third", "http://a.test/2nd")):
        write(lake, 0, {"url": [known(url)]})
        write(lake, 0, {"observation": [observed(url, f"body {number}", **text)]}, finished=True)
        fingerprint.run(lake, DAY, 0)
    firsts = {row["first_url"] for row in read(lake, "copy", kind="shard") if row["kind"] == "text"}
    assert firsts == {"http://a.test/"}
    take_down(lake, "http://a.test/")
    found = {row["url"]: (row["first_url"], row["is_first"]) for row in read(lake, "copy", kind="shard")
             if row["kind"] == "text"}  # fmt: skip
    assert found == {
        "http://a.test/2nd": ("http://a.test/2nd", True),
        "http://a.test/third": ("http://a.test/2nd", False),
    }


def test_near_copies_of_the_purged_page_stand_for_themselves(tmp_path: Path) -> None:
    lake = lake_at(tmp_path, lake={"checkpoint_min_rows": 1})
    purged, other, copy = "http://a.test/", "http://a.test/other", "http://a.test/other-copy"
    write(lake, 0, {"url": [known(url) for url in (purged, other, copy)]})
    for url, body in ((purged, "purged"), (other, "same"), (copy, "same")):
        write(lake, 0, {"observation": [observed(url, body, simhash=len(body))]})
    fingerprint.run(lake, DAY, 0)
    merge.run(lake, DAY, 0)
    assert {row["near_url"] for row in read(lake, "near", kind="shard")} == {purged}
    assert {(row["first_url"], row["near_of"]) for row in read(lake, "duplicate")} == {(None, purged), (other, purged)}
    take_down(lake, purged)
    assert holding(lake, purged) == {"observation.url", "observation.fetch_url"}
    assert {(row["first_url"], row["near_of"]) for row in read(lake, "duplicate")} == {(None, None), (other, None)}


def test_what_a_trap_rule_stopped_is_counted_without_the_purged_example(tmp_path: Path) -> None:
    lake = lake_at(tmp_path)
    purged, other = "http://a.test/1", "http://a.test/2"
    counted = {"rule": "traps.max_urls_per_pattern", "host": "a.test", "pattern": "/0", "urls": 3, "held": 4}
    write(lake, 0, {"url": [known(purged)], "rejected": [{**counted, "example": url} for url in (purged, other)]})
    take_down(lake, purged)
    assert holding(lake, purged) == set()
    found = [(row["pattern"], row["urls"], row["held"], row["example"]) for row in read(lake, "rejected")]
    assert sorted(found, key=str) == [("/0", 3, 4, other), (None, 3, 4, "")]


def test_what_is_planned_already_is_not_asked_for_by_the_next_fetch(lake: Lake) -> None:
    prepare(lake, CYCLES[3])
    take_down(lake, URL)
    assert sorted(fetch_all(lake, CYCLES[3])) == sorted(url for url in PAGES if url != URL)


def test_a_cycle_that_was_checked_before_the_purge_is_published_without_what_is_purged(lake: Lake) -> None:
    prepare(lake, CYCLES[3])
    fetch_all(lake, CYCLES[3])
    fold(lake, CYCLES[3])
    check.run(lake, CYCLES[3])
    said = titles(lake, URL)
    take_down(lake, URL)
    publish.run(lake, CYCLES[3])
    assert ask(lake, "SELECT DISTINCT title FROM observation WHERE url = ?", URL) == [(None,)]
    assert holding(lake, *said) == set()


def test_a_dry_look_counts_and_writes_nothing(lake: Lake) -> None:
    before = sorted(lake.files.all_names())
    # Two captures: the mirror's own was dropped by a merge, but a segment that nobody reads still holds it.
    assert look(lake, purges.intended(lake, URL)).to_dict() == {"urls": 1, "captures": 2, "files": 0, "others": 1}
    assert sorted(lake.files.all_names()) == before
    assert purges.all_purges(lake) == []


def test_doing_it_again_writes_nothing(lake: Lake) -> None:
    assert take_down(lake, URL)["files"] > 0
    assert take_down(lake, URL)["files"] == 0
    assert [each.is_erased for each in purges.all_purges(lake)] == [True]


def test_a_bucket_at_work_makes_it_wait_and_the_doctor_names_the_command(lake: Lake) -> None:
    busy = bucket_of_url(MIRROR)
    assert busy != bucket_of_url(URL)
    let_go = KernelLock(Path(lake.files.root, "locks")).hold(f"bucket={busy:04d}", "a fetch")
    with pytest.raises(BucketTaken):
        take_down(lake, URL)
    assert holding(lake, BODY), "something is left to do"
    (finding,) = (each for each in examine(lake) if each.kind == "purge")
    assert finding.needs_action
    assert URL in finding.command
    let_go()
    take_down(lake, URL)
    assert holding(lake, BODY) == set()
    assert [each.kind for each in examine(lake) if each.kind not in ("pool", "lease")] == []


class Killed(BaseException):
    """The process ends here."""


def dying(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """End the process at its file operation number `step`."""
    calls = itertools.count(1)

    def before(act: Callable[..., Any]) -> Callable[..., Any]:
        def acting(*arguments: Any) -> Any:
            if next(calls) == step:
                raise Killed
            return act(*arguments)

        return acting

    for name in ("put", "create", "delete"):
        monkeypatch.setattr(Files, name, before(getattr(Files, name)))


def test_killed_anywhere_it_is_finished_by_running_it_again_and_readers_see_whole_cycles(
    lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = "SELECT cycle, count(*) FROM observation GROUP BY cycle ORDER BY cycle"
    whole = ask(lake, counts)
    said = titles(lake, URL, MIRROR)
    purges.purge(lake, URL)
    is_killed = True
    for step in itertools.count(1, 7):
        copy = copy_of(lake, tmp_path / f"copy{step}")
        with monkeypatch.context() as patched:
            dying(patched, step)
            try:
                take_down(copy, URL)
                is_killed = False
            except Killed:
                pass
        assert ask(copy, counts) == whole, f"killed at step {step}"
        assert ask(copy, "SELECT count(body) FROM capture") >= [(len(PAGES) - 2,)]
        take_down(copy, URL)
        assert holding(copy, BODY, *said) == set()
        assert ask(copy, counts) == whole
        assert [each.kind for each in examine(copy) if each.needs_action] == []
        shutil.rmtree(copy.files.root)
        if not is_killed:
            break
    assert step > 20
