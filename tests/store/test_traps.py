"""What patterns, paths, texts and hosts brought decides which of their URLs are known and planned."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.core.keys import host_key, url_key
from crawler.core.shape import pattern_key
from crawler.stages import plan, seed
from crawler.store import query, tables
from crawler.store.lake import Lake
from crawler.store.plans import EVERYTHING
from crawler.store.traps import barren_hosts, count_held, open_pages, size_arriving, stop_known
from tests.store.small_lake import DAY, NOON, Row, digest, lake_at, make_known, observed, write

HOST = "http://a.test"
SMALL = {"max_urls_per_pattern": 10, "min_new_share": 0.2, "max_urls_per_text": 4, "max_barren_pages_per_host": 12}
_FILLED: dict[str, Any] = {"bool": False, "string": "", "binary": b"", "timestamp[us, tz=UTC]": NOON}


def page(path: str, text: str | None = None, *, depth: int = 1, host: str = HOST, **fields: Any) -> Row:
    """A known URL; text: of its fetched page, None if it was never read."""
    url = host + path
    name = host.partition("//")[2]
    row = {
        "url": url, "fetch_url": url, "url_key": url_key(url), "host": name, "host_key": host_key(name),
        "pattern_key": pattern_key(url), "depth": depth, "text_digest": None if text is None else digest(text),
    }  # fmt: skip
    return {**row, **fields}


def link(path: str, *, depth: int = 1, trap: str | None = None, host: str = HOST) -> Row:
    """An arriving URL."""
    row = page(path, depth=depth, host=host)
    names = ("url_key", "host_key", "url", "host", "pattern_key", "depth")
    return {name: row[name] for name in names} | {"trap": trap}


class Bucket:
    """The state of a bucket, and the URLs that a plan or a merge looks at."""

    def __init__(self, folder: Path, **traps: Any) -> None:
        self.lake: Lake = lake_at(folder, traps=traps)
        self.con: duckdb.DuckDBPyConnection = self.lake.connect()

    def know(self, rows: Iterable[Row]) -> None:
        schema = tables.arrow_schema("page")
        filled = [{**{f.name: _FILLED.get(str(f.type), 0) for f in schema if not f.nullable}, **row} for row in rows]
        self._keep("state_page", pa.Table.from_pylist(filled, schema=schema))
        self.con.execute("CREATE OR REPLACE TEMP VIEW ready_page AS FROM state_page")

    def planned(self, *, forced: Iterable[str] = ()) -> dict[str, str | None]:
        """By path the rule that keeps each known URL out of a plan, all of them being due."""
        con = self.con
        self.barren()
        con.execute(
            "CREATE OR REPLACE TEMP TABLE verdict AS SELECT url_key, NULL::VARCHAR AS rejected_by FROM candidate"
        )
        query.keep_rows(con, "forced", "url_key UBIGINT, reason VARCHAR", [(url_key(url), "why") for url in forced])
        stop_known(self.lake, con)
        rows = con.execute(
            "SELECT c.url, v.rejected_by FROM candidate AS c JOIN verdict AS v USING (url_key)"
        ).fetchall()
        return {url.removeprefix(HOST): rule for url, rule in rows}

    def barren(self) -> dict[str, int]:
        """By host on which new content is rare how many URLs a plan gives it, all of them being due."""
        scored = "SELECT url_key, true AS is_due, 0 AS priority, NULL::FLOAT AS overdue_days FROM state_page"
        self.con.execute(f"CREATE OR REPLACE TEMP TABLE scored AS {scored}")
        query.keep_rows(self.con, "shortest", "priority INTEGER", [(EVERYTHING,)])
        query.materialise(self.con, "candidate", "plan/candidate")
        return barren_hosts(self.lake, self.con)

    def merged(self, rows: Iterable[Row], out_of_scope: Iterable[str] = ()) -> dict[str, str | None]:
        """By path the rule that stops each arriving URL."""
        con = self.con
        columns = [
            ("url_key", pa.uint64()), ("host_key", pa.uint64()), ("url", pa.string()), ("host", pa.string()),
            ("pattern_key", pa.uint64()), ("depth", pa.uint16()), ("trap", pa.string()),
        ]  # fmt: skip
        arrived = list(rows)
        self._keep("candidate", pa.Table.from_pylist(arrived, schema=pa.schema(columns)))
        left_out = {url_key(HOST + path) for path in out_of_scope}
        verdicts = [(row["url_key"], "scope.hosts" if row["url_key"] in left_out else None) for row in arrived]
        query.keep_rows(con, "verdict", "url_key UBIGINT, rejected_by VARCHAR", verdicts)
        open_pages(con)
        size_arriving(self.lake, con)
        query.materialise(con, "judged", "merge/judged", self.lake.settings.traps.model_dump())
        count_held(self.lake, con)
        found = con.execute("SELECT url, rule FROM judged ORDER BY url").fetchall()
        return {url.removeprefix(HOST): rule for url, rule in found}

    def rejected(self) -> list[tuple[Any, ...]]:
        """Rule, host, pattern, urls and held of what `merged` stopped."""
        stamp = {"cycle": NOON.date(), "bucket": 0, "epoch": 1, "sequence": 1, "counts_held": True}
        rows = query.rows(query.run(self.con, "merge/rejected", stamp))
        return [tuple(row[name] for name in ("rule", "host", "pattern", "urls", "held")) for row in rows]

    def _keep(self, name: str, found: pa.Table) -> None:
        self.con.register("given_rows", found)
        self.con.execute(f'CREATE OR REPLACE TEMP TABLE "{name}" AS FROM given_rows')
        self.con.unregister("given_rows")


def stopped(verdicts: Mapping[str, str | None]) -> set[str]:
    return {path for path, rule in verdicts.items() if rule}


@pytest.fixture
def bucket(tmp_path: Path) -> Bucket:
    return Bucket(tmp_path, **SMALL)


def numbered(count: int, *, start: int = 0, text: str | None = None, **fields: Any) -> list[Row]:
    """Pages of one pattern; `{}` in text becomes the number."""
    return [page(f"/p/{n}", None if text is None else text.format(n), **fields) for n in range(start, start + count)]


# Patterns


def test_a_pattern_that_was_never_read_is_planned_up_to_its_limit_the_shallowest_first(bucket: Bucket) -> None:
    bucket.know([*numbered(15, depth=4), *numbered(5, start=15, depth=2), page("/other")])
    found = bucket.planned()
    assert set(found.values()) == {None, "traps.max_urls_per_pattern"}
    assert len(stopped(found)) == 10
    assert not stopped(found) & {f"/p/{n}" for n in range(15, 20)}


def test_a_pattern_grows_as_it_brings_new_texts_and_ends_where_they_end(bucket: Bucket) -> None:
    bucket.know([*numbered(10, text="new {}"), *numbered(60, start=10)])
    assert len(stopped(bucket.planned())) == 20, "ten texts at a share of a fifth are worth fifty pages"
    bucket.know([*numbered(10, text="same"), *numbered(60, start=10)])
    found = bucket.planned()
    assert {path for path, rule in found.items() if rule == "traps.max_urls_per_pattern"} == {
        f"/p/{n}" for n in range(10, 70)
    }


def test_a_trap_opens_again_when_its_setting_changes_or_its_pages_bring_new_texts(tmp_path: Path) -> None:
    rows = [*numbered(10, text="same"), *numbered(10, start=10)]
    for wide, waiting in (({}, 10), ({"max_urls_per_pattern": 15}, 5), ({"min_new_share": 0.05}, 0)):
        there = Bucket(tmp_path / str(waiting), **{**SMALL, "max_urls_per_text": 100, **wide})
        there.know(rows)
        assert len(stopped(there.planned())) == waiting
    there = Bucket(tmp_path / "again", **SMALL)
    there.know([*numbered(10, text="event {}"), *numbered(10, start=10)])
    assert not stopped(there.planned())


def test_arriving_urls_of_a_pattern_are_stopped_once_it_is_known_to_be_barren_and_not_before(bucket: Bucket) -> None:
    arriving = [link(f"/p/{n}") for n in range(100, 130)]
    bucket.know([page("/")])
    assert not stopped(bucket.merged(arriving)), "what nobody has looked at is no trap"
    bucket.know(numbered(10, text="new {}"))
    assert not stopped(bucket.merged(arriving))
    bucket.know(numbered(10, text="same"))
    assert set(bucket.merged(arriving).values()) == {"traps.max_urls_per_pattern"}
    assert bucket.rejected() == [
        ("traps.max_urls_per_pattern", "a.test", "/p/0", 30, 0),
        ("traps.max_urls_per_text", "a.test", None, 0, 6),
    ]


def test_a_url_that_another_rule_stops_takes_no_other_s_place(bucket: Bucket) -> None:
    bucket.know(numbered(8, text="same", depth=1))
    shapes = [link(f"/p/{n}", trap="traps.max_depth") for n in range(20, 30)]
    found = bucket.merged([*shapes, link("/p/40", depth=9), link("/p/41", depth=9)], out_of_scope=["/p/41"])
    assert (found["/p/40"], found["/p/41"], found["/p/20"]) == (None, "scope.hosts", "traps.max_depth")
    assert ("scope.hosts", None, None, 1, 0) in bucket.rejected()


# Texts


def test_further_pages_with_a_text_are_fetched_no_more_and_the_first_are(bucket: Bucket) -> None:
    bucket.know([*(page(f"/{word}/", "not found", depth=n) for n, word in enumerate("abcdefg")), page("/x/", "own")])
    found = bucket.planned()
    assert stopped(found) == {"/e/", "/f/", "/g/"}
    assert found["/g/"] == "traps.max_urls_per_text"


def test_texts_with_one_simhash_are_one_and_texts_of_other_hosts_are_others(bucket: Bucket) -> None:
    noisy = [page(f"/{word}/", f"at {word}", simhash=7) for word in "abcdef"]
    far = [page(f"/{word}/", "not found", host="http://b.test") for word in "abc"]
    near = [page(f"/{word}/", "not found") for word in "xyz"]
    bucket.know([*noisy, *far, *near])
    assert len(stopped(bucket.planned())) == 2


def test_near_copies_within_a_host_bring_nothing_new_and_those_of_another_host_do(bucket: Bucket) -> None:
    for original, waiting in ((f"{HOST}/p/0", 30), ("http://b.test/p/0", 0)):
        first, *others = numbered(20, text="at {}")
        bucket.know([first, *({**row, "near_of": original} for row in others), *numbered(30, start=20)])
        assert len(stopped(bucket.planned())) == waiting
        assert bool(bucket.barren()) == bool(waiting)


# Queries


def combinations(values: int) -> list[str]:
    """Every choice of two and more of four facets of so many values each."""
    paths = [""]
    for name in ("colour", "page", "size", "sort"):
        paths += [f"{path}&{name}={value}" for path in paths for value in range(values)]
    return [f"/list?{path[1:]}" for path in paths if path.count("=") > 1]


def test_a_faceted_search_gets_its_limit_and_an_index_by_two_parameters_all_it_has(tmp_path: Path) -> None:
    there = Bucket(tmp_path, **SMALL, max_urls_per_value=5)
    facets = combinations(3)
    forum = [f"/forum?f={n % 4}&t={n}{more}" for n in range(30) for more in ("", "&p=2", "&p=2&s=1", "&s=1", "&z=1")]
    there.know([page("/")])
    found = there.merged([link(path) for path in [*facets, *forum]])
    assert len(stopped(found)) == len(facets) - SMALL["max_urls_per_pattern"]
    assert {rule for rule in found.values() if rule} == {"traps.max_query_combinations"}
    assert all(path.startswith("/list") for path in stopped(found))
    assert there.rejected() == [("traps.max_query_combinations", "a.test", "/list?*", len(facets) - 10, 0)]

    there.know([page(path) for path in facets])
    assert len(stopped(there.planned())) == len(facets) - 10


def test_two_parameters_are_combinations_only_in_many_sets(tmp_path: Path) -> None:
    there = Bucket(tmp_path, **SMALL, max_urls_per_value=1)
    there.know([page("/")])
    assert not stopped(there.merged([link(f"/day?m={m}&d={d}") for m in range(12) for d in range(30)]))


# Hosts


def test_a_host_that_brings_nothing_new_is_worth_as_many_urls_as_it_has_texts(bucket: Bucket) -> None:
    words = [f"/{a}{b}/" for a in "abcd" for b in "wxyz"]
    bucket.know([*(page(path, f"text {n % 3}") for n, path in enumerate(words)), page("/new/")])
    assert bucket.barren() == {"a.test": 3}
    bucket.know([page(path, f"text {n % 4}") for n, path in enumerate(words)])
    assert bucket.barren() == {}
    near = {"near_of": f"{HOST}{words[0]}"}
    bucket.know([page(words[0], "text"), *(page(path, "text", **near) for path in words[1:])])
    assert bucket.barren() == {"a.test": 1}
    bucket.know([page(path, "text") for path in words[:11]])
    assert bucket.barren() == {}, "too few pages to say"


def test_a_plan_gives_a_host_that_brings_nothing_new_no_more_than_that(tmp_path: Path) -> None:
    words = [f"{a}{b}" for a in "abcd" for b in "wxyz"]
    for texts, planned in ((2, 2), (16, 16)):
        lake = lake_at(tmp_path / str(texts), traps={**SMALL, "max_urls_per_text": 100}, plan={"min_interval_days": 0})
        seed.run(lake, ["http://a.test/"])
        urls = [f"{HOST}/{word}/" for word in words]
        make_known(lake, *urls)
        rows = [observed(url, f"text {n % texts}", at=NOON - timedelta(days=9)) for n, url in enumerate(urls)]
        write(lake, 0, {"observation": [*rows, observed(f"{HOST}/", "front", at=NOON - timedelta(days=9))]})
        assert plan.run(lake, DAY, 0)["candidates"] == planned + 1


def test_an_exempt_host_is_not_judged_by_what_it_brings(tmp_path: Path) -> None:
    there = Bucket(tmp_path, **SMALL, exempt_hosts=["*.test"])
    there.know([*numbered(30, text="same"), *numbered(30, start=30)])
    assert not stopped(there.planned())
    assert there.barren() == {}
    assert not stopped(there.merged([link("/p/100"), *(link(path) for path in combinations(3))]))


# Laws

PATHS = st.sampled_from([f"/p/{n}" for n in range(12)] + ["/a/", "/b/", *combinations(1), "/list?x=1&y=2"])
TEXTS = st.sampled_from([None, "same", "one", "two"])
KNOWN = st.dictionaries(PATHS, st.tuples(TEXTS, st.booleans()), max_size=25)
TIGHT = {"max_urls_per_pattern": 2, "min_new_share": 0.9, "max_urls_per_text": 1, "max_query_combinations": 1}
TIGHT |= {"max_urls_per_value": 1, "max_barren_pages_per_host": 2, "max_urls_per_host": 6}
BOUNDED = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def tight(tmp_path_factory: pytest.TempPathFactory) -> Bucket:
    return Bucket(tmp_path_factory.mktemp("tight"), **TIGHT)


@given(known=KNOWN, forced=st.sets(PATHS, max_size=3))
@BOUNDED
def test_no_rule_stops_a_seed_or_a_forced_url(
    tight: Bucket, known: dict[str, tuple[str | None, bool]], forced: set[str]
) -> None:
    tight.know([page(path, text, is_seed=is_seed) for path, (text, is_seed) in known.items()])
    found = tight.planned(forced=[HOST + path for path in forced])
    seeds = {path for path, (_, is_seed) in known.items() if is_seed}
    assert not stopped(found) & (seeds | forced)


@given(known=KNOWN, arriving=st.lists(st.tuples(PATHS, st.integers(1, 3)), max_size=12), chance=st.randoms())
@BOUNDED
def test_what_is_stopped_does_not_depend_on_the_order_of_rows(
    tight: Bucket, known: dict[str, tuple[str | None, bool]], arriving: list[tuple[str, int]], chance: Any
) -> None:
    rows = [page(path, text, is_seed=is_seed) for path, (text, is_seed) in known.items()]
    links = [link(path, depth=depth) for path, depth in dict(arriving).items() if path not in known]
    outcomes = []
    for _ in range(2):
        tight.know(rows)
        outcomes.append((tight.planned(), tight.merged(links), tight.rejected()))
        chance.shuffle(rows)
        chance.shuffle(links)
    assert outcomes[0] == outcomes[1]


WHOLE = {
    "trap/large_pattern": "SELECT pattern_key FROM watched UNION SELECT pattern_key FROM arriving_url",
    "trap/large_host": "SELECT host_key FROM trap_page "
    "GROUP BY host_key HAVING count(text) >= $max_barren_pages_per_host",
}


@pytest.fixture(scope="module")
def generous(tmp_path_factory: pytest.TempPathFactory) -> Bucket:
    return Bucket(tmp_path_factory.mktemp("generous"), **{**TIGHT, "min_new_share": 0.1, "max_urls_per_text": 9})


@settings(BOUNDED, max_examples=6)
@given(count=st.integers(4, 60), texts=st.integers(1, 60), unread=st.integers(0, 60), near=st.integers(0, 3))
def test_what_a_sample_clears_comparing_all_texts_clears_too(
    generous: Bucket, count: int, texts: int, unread: int, near: int
) -> None:
    rows = [page(f"/p/{n}", f"text {n % texts}", near_of=f"{HOST}/p/1" if n < near else None) for n in range(count)]
    generous.know([*rows, *numbered(unread, start=count)])
    links = [link(f"/p/{n}") for n in range(200, 205)]
    by_sample = generous.barren(), generous.planned(), generous.merged(links), generous.rejected()
    text_of = query.sql_text
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(query, "sql_text", lambda name: WHOLE.get(name) or text_of(name))
        assert by_sample == (generous.barren(), generous.planned(), generous.merged(links), generous.rejected())
