"""The command line: exit codes, one-line errors, and output that no crawled string can abuse."""

import io
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import duckdb
import pytest

from crawler import __version__
from crawler.cli.show import cell, printable, show
from crawler.core.clock import SystemClock
from crawler.core.config import load_settings
from crawler.core.cycle import Cycle
from crawler.core.progress import Progress
from crawler.stages import admit, plan
from crawler.store.ask import Answer, questions
from crawler.store.lake import SCHEMA_VERSION, Lake
from crawler.store.live import LiveProgress
from tests.command import CONTACT, Recrawl, is_refused, write_settings
from tests.store.small_lake import NOON, asked_robots, bucket_of_url, observed, write


@pytest.fixture
def lake(recrawl: Recrawl, tmp_path: Path) -> Path:
    """The folder of a fresh lake whose settings name a contact."""
    assert recrawl("init").code == 0
    write_settings(tmp_path, f"[crawl]\n{CONTACT}")
    return tmp_path


def test_init_writes_settings_seeds_and_a_lake_and_touches_nothing_that_is_there(recrawl, tmp_path) -> None:
    first = recrawl("init")
    assert first.code == 0
    assert (tmp_path / "lake/meta/0001.json").exists()
    assert load_settings(tmp_path / "recrawl.toml", {}).lake.buckets == 8
    write_settings(tmp_path, "[lake]\nbuckets = 8")
    again = recrawl("init")
    assert again.code == 0
    assert "is there already" in again.out
    assert (tmp_path / "recrawl.toml").read_text() == "[lake]\nbuckets = 8\n"


def test_init_makes_a_folder_for_a_crawl_and_settings_may_name_it(recrawl, tmp_path) -> None:
    made = recrawl("init", "mycrawl", "--user-agent", "mybot/1.0 (+https://example.org/bot)")
    assert made.code == 0
    assert "recrawl seed --settings mycrawl" in made.out
    load_settings(tmp_path / "mycrawl/recrawl.toml", {}).require_contact()
    assert recrawl("seed", "--settings", "mycrawl", "https://example.org/").code == 0
    assert recrawl("status", "--settings", "mycrawl/recrawl.toml").code == 0
    is_refused(recrawl("status"), "Run `recrawl init`")


def test_a_wrong_setting_ends_with_exit_code_2_and_the_nearest_key(recrawl, lake) -> None:
    write_settings(lake, "[politeness]\ndelay_second = 1")
    for command in (["seed"], ["run"], ["status"], ["report"], ["sql", "-c", "select 1"], ["migrate"], ["init"]):
        is_refused(recrawl(*command), "Did you mean politeness.delay_seconds?")


def test_without_settings_a_command_says_how_to_begin(recrawl) -> None:
    is_refused(recrawl("run"), "recrawl.toml: there is no such file", "Run `recrawl init`")


def test_without_a_lake_a_command_says_how_to_begin(recrawl, tmp_path) -> None:
    write_settings(tmp_path, f"[crawl]\n{CONTACT}")
    for command in (["seed", "https://example.org/"], ["run"], ["status"], ["sql", "cycles"], ["migrate"]):
        is_refused(recrawl(*command), "no lake at", "Run `recrawl init`")


def test_settings_come_from_the_option_else_from_the_environment(recrawl, lake, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("RECRAWL_SETTINGS", str(tmp_path / "absent.toml"))
    is_refused(recrawl("status"), "absent.toml")
    assert recrawl("status", "--settings", str(lake / "recrawl.toml")).code == 0


def test_explain_of_what_is_no_url_is_refused_and_of_an_unknown_url_is_an_answer(recrawl, lake) -> None:
    is_refused(recrawl("explain", "mailto:x@example.org"), "is no URL to crawl")
    ended = recrawl("explain", "https://example.org/")
    assert (ended.code, ended.err) == (0, "")
    assert "never_found" in ended.out
    assert "no_plan" not in recrawl("explain", "https://example.org/", "--json").err


@pytest.mark.parametrize(
    ("outcome", "body", "said"),
    [
        (
            "denied_by_robots",
            b"user-agent: *\ndisallow: /\n",
            "denied by `disallow: /` in version 761d3cb8cfd7, read at 2026-03-01 12:00 UTC from https://example.org/robots",
        ),
        ("ok", b"", "allowed by no line of version e3b0c44298fc, read at"),
        ("ok", None, "https://example.org/robots.txt, of which there was no version to go by at 2026-03-01 12:01 UTC"),
    ],
)
def test_explain_names_the_line_and_the_version_of_robots_txt_that_decided(
    recrawl, lake: Path, outcome: str, body: bytes | None, said: str
) -> None:
    opened = Lake.open(load_settings(lake / "recrawl.toml"), SystemClock())
    url = "https://example.org/"
    version = None if body is None else sha256(body).digest()
    known = {"body": body, "body_digest": version, "read_at": NOON}
    row = asked_robots("example.org", origin=url[:-1], url=f"{url}robots.txt", **known)
    seen = observed(url, at=NOON + timedelta(minutes=1), outcome=outcome, robots_digest=version)
    write(opened, bucket_of_url(opened, url), {"observation": [seen], "robots": [row]})
    ended = recrawl("explain", url)
    assert (ended.code, ended.err) == (0, "")
    assert said in " ".join(ended.out.split())
    assert recrawl("explain", url, "--json").code == 0


def test_status_says_how_far_a_running_fetch_is(recrawl, lake) -> None:
    assert recrawl("seed", "http://a.test/").code == 0
    opened = Lake.open(load_settings(lake / "recrawl.toml", {}), SystemClock())
    cycle = opened.cycle(f"{datetime.now(UTC):%Y-%m-%d}")
    for bucket in range(opened.buckets):
        plan.run(opened, cycle, bucket)
    admit.run(opened, cycle)
    with opened.own("bucket", 3, cycle) as owner, LiveProgress(opened, owner) as live:
        live.write(Progress(9, observed=4, ready=1, waiting=2, held=1, seconds=2.0, outcomes={"gone": 4}))
        said = "4 of 9 URLs; 2.0 pages/s, 0.0 MB; hosts: 1 ready, 2 waiting, 1 held; 4 gone"
        assert said in recrawl("status").out
        parts = json.loads(recrawl("status", "--json").out)["partitions"]
        assert [part["live"] and part["live"]["outcomes"] for part in parts] == [None] * 3 + [{"gone": 4}] + [None] * 4
    assert "pages/s" not in recrawl("status").out


def test_a_hold_is_seen_in_status_and_explain_until_it_is_released(recrawl, lake) -> None:
    held = recrawl("hold", "https://Example.org/a", "--reason", "they wrote to us")
    assert (held.code, held.err) == (0, "")
    assert "recrawl release example.org" in held.out
    assert "they wrote to us" in recrawl("status").out
    (found,) = json.loads(recrawl("status", "--json").out)["holds"]
    assert (found["host"], found["held"], found["reason"]) == ("example.org", True, "they wrote to us")
    assert "they wrote to us" in recrawl("explain", "https://example.org/").out
    assert json.loads(recrawl("release", "example.org", "--json").out)["held"] is False
    assert json.loads(recrawl("status", "--json").out)["holds"] == []
    is_refused(recrawl("release", "example.org"), "is not held. Held hosts: none")
    is_refused(recrawl("hold", "no host"), "is no host")


def test_a_url_is_forced_for_a_reason_listed_and_let_go(recrawl, lake) -> None:
    url = "https://example.org/urgent"
    is_refused(recrawl("force", url, "--reason", "news"), "is not known", f"`recrawl seed {url}` makes it known")
    assert recrawl("seed", url).code == 0
    is_refused(recrawl("force", url), "is forced for no reason", "--reason")
    is_refused(recrawl("force", "mailto:x@example.org", "--reason", "news"), "is no URL to crawl")
    is_refused(recrawl("force"), "nothing is named")
    assert "nothing is forced" in recrawl("force", "--list").out
    done = recrawl("force", "HTTPS://Example.org/urgent#top", "--reason", "news\x1b[31m")
    assert (done.code, done.err) == (0, "")
    assert f"recrawl force --lift {url}" in done.out
    listed = recrawl("force", "--list").out
    assert url in listed
    assert "\x1b" not in listed
    (found,) = json.loads(recrawl("force", "--list", "--json").out)
    assert (found["url"], found["forced"], found["reason"]) == (url, True, "news\x1b[31m")
    assert json.loads(recrawl("force", "--lift", url, "--json").out)["forced"] is False
    is_refused(recrawl("force", "--lift", url), "is not forced. Forced: none")


def checked_weekly(folder: Path, url: str, weeks: int) -> datetime:
    """Have `url` checked every seven days up to yesterday, every other time changed; returns the first instant."""
    opened = Lake.open(load_settings(folder / "recrawl.toml", {}), SystemClock())
    first = datetime.now(UTC) - timedelta(days=7 * weeks + 1)
    for week in range(weeks + 1):
        at = first + timedelta(days=7 * week)
        seen = observed(url, f"text {week // 2}", at=at, content_changed=None if week == 0 else week % 2 == 0)
        write(opened, bucket_of_url(opened, url), {"observation": [seen]}, cycle=Cycle(at.date()))
    return first


def test_explain_shows_the_belief_the_timeline_the_worth_and_the_next_fetch(recrawl, lake) -> None:
    url = "https://example.org/"
    assert recrawl("seed", url).code == 0
    first = checked_weekly(lake, url, 4)
    ended = recrawl("explain", url)
    assert (ended.code, ended.err) == (0, "")
    assert f"{first:%Y-%m-%d} N=C=C " in ended.out
    assert "What is believed of its changes" in ended.out
    assert "days of freshness for a fetch now" in ended.out
    assert "█" in ended.out
    found = json.loads(recrawl("explain", url, "--json").out)
    assert found["timeline"] == "N=C=C"
    assert sum(found["outlook"]["belief"].values()) == pytest.approx(1)
    assert found["outlook"]["next_cycle"] == f"{datetime.now(UTC):%Y-%m-%d}"
    assert found["outlook"]["next_reason"] == "the budget reaches all that has rested"


def test_a_dry_run_writes_the_candidate_table_where_it_is_told_to(recrawl, lake) -> None:
    assert recrawl("seed", "https://example.org/").code == 0
    is_refused(recrawl("plan"), "plans are made by `recrawl run`")
    ended = recrawl("plan", "--dry-run", "--cycle", "2031-01-01")
    assert (ended.code, ended.err) == (0, "")
    assert "1 of 100000 URLs" in ended.out
    (row,) = duckdb.sql(f"FROM '{lake}/candidates-2031-01-01.parquet'").fetchall()
    assert row[:2] == (True, "new")
    is_refused(recrawl("plan", "--dry-run", "--cycle", "2031-01-01"), "exists already")
    is_refused(recrawl("plan", "--dry-run", "--cycle", "tomorrow"), "is no day")
    found = json.loads(recrawl("plan", "--dry-run", "--output", "all.csv", "--json").out)
    assert (found["admitted"], found["is_planned"], found["reasons"][0]["reason"]) == (1, False, "new")
    assert "https://example.org/" in (lake / "all.csv").read_text()


def test_a_backtest_shows_the_policies_side_by_side_and_says_what_it_assumes(recrawl, lake) -> None:
    is_refused(recrawl("backtest"), "no page was checked a second time")
    is_refused(recrawl("backtest", "--policy", "weekly"), "'weekly' is no policy. Known: index")
    is_refused(recrawl("backtest", "--from", "2026-03-02", "--to", "2026-03-01"), "ends before it begins")
    url = "https://example.org/"
    first = checked_weekly(lake, url, 5)
    ended = recrawl("backtest", "--from", f"{first:%Y-%m-%d}", "--policy", "uniform", "--policy", "fixed:14d")
    assert (ended.code, ended.err) == (0, "")
    for words in ("as it was", "uniform", "fixed:14d", "Assumed: Replayed are the pages that were checked twice"):
        assert words in ended.out
    found = json.loads(recrawl("backtest", "--from", f"{first:%Y-%m-%d}", "--json").out)
    assert [each["policy"] for each in found["results"]][:2] == ["as it was", "index"]
    assert found["results"][0]["fetches"] == 5


def test_a_purge_is_asked_for_recorded_listed_and_lifted(recrawl, lake) -> None:
    url = "https://example.org/taken-down"
    assert recrawl("seed", url).code == 0
    dry = json.loads(recrawl("purge", url, "--dry-run", "--json").out)
    assert (dry["urls"], dry["captures"], dry["is_erased"]) == (1, 0, False)
    is_refused(recrawl("purge", url, "--json"), "add --yes")
    assert "nothing is purged" in recrawl("purge", "--list").out
    done = recrawl("purge", url, "--yes", "--reason", "a letter", "--json")
    assert (done.code, json.loads(done.out)["is_erased"]) == (0, True)
    ((listed,),) = (json.loads(recrawl("purge", "--list", "--json").out),)
    assert (listed["name"], listed["reason"], listed["is_erased"]) == (url, "a letter", True)
    assert f"{url}  erased  (a letter)" in recrawl("purge", "--list").out
    assert "purged" in recrawl("explain", url).out
    is_refused(recrawl("seed", url), "1 purged")
    assert recrawl("purge", "--lift", url).code == 0
    is_refused(recrawl("purge", "--lift", url), "is not purged")
    for wrong, said in (
        ("no host", "is no host"),
        ("mailto:x@example.org", "is no host"),
        ("ftp://a.test/", "is no URL"),
    ):
        is_refused(recrawl("purge", wrong, "--yes"), said)
    is_refused(recrawl("purge"), "nothing is named")


def test_doctor_ends_with_exit_code_1_only_if_something_needs_an_action(recrawl, lake) -> None:
    content = recrawl("doctor")
    assert (content.code, content.err) == (0, "")
    assert "nothing needs an action" in content.out
    (lake / "lake/seed").mkdir()
    (lake / "lake/seed/0001.parquet").write_text("torn")
    sick = recrawl("doctor")
    assert sick.code == 1
    assert "ACTION  torn: 1 file" in sick.out
    assert "seed/0001.parquet" in sick.out
    told = json.loads(recrawl("doctor", "--json").out)
    assert told["actions"] == 1
    assert all(finding["command"] for finding in told["findings"])


def test_a_cycle_that_cannot_fit_on_the_disk_is_refused(recrawl, lake) -> None:
    write_settings(lake, f"[crawl]\n{CONTACT}\n[lake]\nmin_free_bytes = {10**18}")
    is_refused(recrawl("run"), "nothing was planned", "docs/operating.md")
    assert not list((lake / "lake").glob("layout=1/plan/*/*"))


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("env:NOT_THERE", "Set NOT_THERE in the environment"),
        ("airflow:site", "Run the cycle under Airflow, or refer to env:NAME"),
    ],
)
def test_a_secret_that_is_not_there_ends_a_run_before_anything_is_planned(recrawl, lake, reference, said) -> None:
    write_settings(lake, f'[crawl]\n{CONTACT}\n[host."a.test"]\ncredentials = "{reference}"')
    is_refused(recrawl("run"), 'host."a.test".credentials', said)
    assert not list((lake / "lake").glob("layout=1/plan/*/*"))


def test_a_lake_of_another_schema_version_is_refused_with_the_cure(recrawl, lake) -> None:
    fixed = json.loads((lake / "lake/meta/0001.json").read_text())
    for version, cure in ((99, "Install a newer Recrawl"), (0, "Run `recrawl migrate`")):
        (lake / "lake/meta/0002.json").write_text(json.dumps({**fixed, "schema_version": version}))
        is_refused(recrawl("status"), f"has schema version {version}", cure)


def test_a_lake_of_other_buckets_is_refused_with_the_cure(recrawl, lake) -> None:
    write_settings(lake, f"[crawl]\n{CONTACT}\n[lake]\nbuckets = 4")
    is_refused(recrawl("status"), "Set lake.buckets to 8")


def test_migrate_of_a_current_lake_changes_nothing(recrawl, lake) -> None:
    ended = recrawl("migrate")
    assert ended.code == 0
    assert f"is at version {SCHEMA_VERSION} already" in ended.out


def test_after_migrate_any_duckdb_client_reads_the_views_with_the_new_columns(recrawl, lake) -> None:
    content = json.loads((lake / "lake/meta/0001.json").read_text())
    (lake / "lake/meta/0001.json").write_text(json.dumps({**content, "schema_version": 1}))
    assert recrawl("status").code == 2
    assert f"schema version 1 -> {SCHEMA_VERSION}" in recrawl("migrate").out
    with duckdb.connect(str(lake / "lake/recrawl.duckdb"), read_only=True) as con:
        assert con.execute("SELECT max(connections) FROM observation").fetchone() == (None,)
    assert recrawl("status").code == 0


def test_no_request_goes_out_without_a_contact(recrawl, lake) -> None:
    write_settings(lake, '[crawl]\nuser_agent = "mybot/1.0"')
    is_refused(recrawl("run"), "names no contact", "user_agent = ")


@pytest.mark.parametrize("cycle", ["yesterday", "2026-13-01", "26-01-01", "1999-01-01", "2999-01-01"])
def test_a_cycle_that_cannot_be_run_is_refused(recrawl, lake, cycle: str) -> None:
    is_refused(recrawl("run", "--cycle", cycle), f"cycle '{cycle}'", "Expected a UTC day")


@pytest.mark.parametrize("content", ["", "# only comments\n\n", "not a url\nmailto:bot@example.org\n"])
def test_seeds_that_hold_no_url_are_refused(recrawl, lake, content: str) -> None:
    (lake / "seeds.txt").write_text(content)
    is_refused(recrawl("seed"), "seeds", "Expected one absolute http or https URL a line", "nothing was added")


def test_a_source_of_seeds_that_is_neither_file_nor_url_is_refused(recrawl, lake) -> None:
    is_refused(recrawl("seed", "example.org"), "example.org: is neither a file nor a URL")
    (lake / "binary").write_bytes(b"\xff\xfe\x00")
    is_refused(recrawl("seed", "binary"), "cannot be read")


def test_seeds_come_from_files_arguments_and_standard_input(recrawl, lake, monkeypatch) -> None:
    (lake / "seeds.txt").write_text("https://one.example/\n# two\n")
    assert json.loads(recrawl("seed", "--json").out) == {"added": 1, "rejected": {}}
    monkeypatch.setattr(sys, "stdin", io.StringIO("https://two.example/\nhttps://three.example/\n"))
    assert json.loads(recrawl("seed", "-", "https://four.example/", "--json").out)["added"] == 3


def test_every_named_question_can_be_asked_of_an_empty_lake(recrawl, lake) -> None:
    for name, question in questions().items():
        needs = [f"{parameter}=https://example.org/" for parameter in question.parameters]
        ended = recrawl("sql", name, *needs)
        assert (ended.code, ended.err) == (0, "")
    assert recrawl("report").code == 0
    told = set(json.loads(recrawl("report", "--json").out))
    assert {"coverage", "rejected", "traps", "identity"} <= told <= set(questions())


def test_one_value_is_written_bare_and_rows_as_lines_or_json(recrawl, lake) -> None:
    assert recrawl("sql", "-c", "select count(*) from politeness_audit").out == "0\n"
    query = "select 1 as a, 'x' as b, null as c union all select 2, 'y', true order by a"
    assert recrawl("sql", "-c", query).out == "a\tb\tc\n1\tx\t\n2\ty\tyes\n"
    assert json.loads(recrawl("sql", "--json", "-c", query).out)[1] == {"a": 2, "b": "y", "c": True}


def test_every_type_of_the_lake_becomes_json(recrawl, lake) -> None:
    query = (
        "select date '2026-11-25' as day, timestamptz '2026-11-25 12:00:00+00' as at, 'ab'::blob as body, "
        "12.5::decimal(5,2) as price, 'nan'::double as nan, [1, 2] as list, {'k': date '2026-11-25'} as struct, "
        "18446744073709551615::ubigint as key, interval 1 day as span"
    )
    assert json.loads(recrawl("sql", "--json", "-c", query).out) == [
        {
            "day": "2026-11-25",
            "at": "2026-11-25T12:00:00+00:00",
            "body": "6162",
            "price": 12.5,
            "nan": None,
            "list": [1, 2],
            "struct": {"k": "2026-11-25"},
            "key": 18446744073709551615,
            "span": "1 day, 0:00:00",
        }
    ]


def test_a_long_result_is_complete_when_no_terminal_reads_it(recrawl, lake) -> None:
    assert recrawl("sql", "-c", "select * from range(5000)").out.count("\n") == 5001


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("select * from observatoin", "observatoin does not exist"),
        ("selec 1", "syntax error"),
        ("select 'x'::int", "Could not convert"),
        ("-- nothing", "there is no statement"),
        ("select $x", "x"),
    ],
)
def test_a_wrong_query_is_one_line(recrawl, lake, query: str, said: str) -> None:
    is_refused(recrawl("sql", "-c", query), said)


def test_a_wrong_question_names_the_nearest_and_its_parameters(recrawl, lake) -> None:
    is_refused(recrawl("sql", "coverge"), "Did you mean 'coverage'?")
    is_refused(recrawl("sql", "why"), "The question why needs url=...")
    is_refused(recrawl("sql", "why", "https://example.org/"), "has no =")
    is_refused(recrawl("sql", "why", "url=mailto:x"), "is no URL to crawl")
    is_refused(recrawl("sql", "cycles", "-c", "select 1"), "Give one of them")


def test_the_query_may_come_from_standard_input(recrawl, lake, monkeypatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("select 40 + 2;\n"))
    assert recrawl("sql").out == "42\n"


def test_the_prompt_goes_on_after_a_mistake(recrawl, lake, monkeypatch) -> None:
    lines = iter(["select", "  40 + 2;", "", "selec;", ".tables", "cycles", "why", ".help", ".questions", ".quit"])
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda _prompt: next(lines))
    ended = recrawl("sql")
    assert ended.code == 0
    assert "42\n" in ended.out
    assert "politeness_audit" in ended.out
    assert "syntax error" in ended.err
    assert "The question why needs url=..." in ended.err


def test_version_and_help_need_no_settings(recrawl) -> None:
    assert recrawl("--version").out == f"recrawl {__version__}\n"
    assert "demo" in recrawl("--help").out
    assert recrawl("no-such-command").code == 2


@pytest.fixture
def site(tmp_path: Path) -> Iterator[int]:
    """A site of three pages on loopback; its port."""
    pages = tmp_path / "site"
    pages.mkdir()
    (pages / "index.html").write_text('<title>Front</title><a href="a.html">a</a> <a href="b.html">b</a>')
    (pages / "a.html").write_text('<title>A</title><a href="http://elsewhere.example/">away</a>')
    (pages / "b.html").write_text("<title>B</title>")
    handler = partial(SimpleHTTPRequestHandler, directory=str(pages))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def test_a_cycle_runs_from_seeds_to_answers_and_running_it_again_changes_nothing(recrawl, site, tmp_path) -> None:
    write_settings(
        tmp_path,
        f"[crawl]\n{CONTACT}\n[lake]\nbuckets = 1\n[fetch]\nallow_private = ['127.0.0.0/8']\n"
        "resolve = {'site.example' = '127.0.0.1'}\n[politeness]\ndelay_seconds = 0.01\naddress_delay_seconds = 0",
    )
    front = f"http://site.example:{site}/"
    recrawl("init")
    assert recrawl("seed", front).code == 0
    first = json.loads(recrawl("run", "--json").out)
    fetched = first["fetch"]
    assert (fetched["observed"], fetched["discovered"], fetched["ok"], first["merge"]["new"]) == (1, 2, 3, 0)
    again = recrawl("run", "--json")
    assert (again.code, again.err) == (0, "")
    assert json.loads(again.out)["fetch"]["observed"] == 0
    assert recrawl("sql", "-c", "select count(*) from observation").out == "3\n"
    assert recrawl("sql", "-c", "select count(*) from politeness_audit").out == "0\n"
    (cycle,) = json.loads(recrawl("status", "--json").out)["cycles"]
    assert (cycle["planned"], cycle["done"], cycle["open"], cycle["state"]) == (1, 1, 0, "published")
    story = json.loads(recrawl("sql", "why", f"url=HTTP://SITE.example:{site}/#top", "--json").out)
    assert [event["event"] for event in story] == ["known", "planned", "asked", "now"]
    explained = json.loads(recrawl("explain", f"HTTP://SITE.example:{site}/#top", "--json").out)
    assert (explained["url"], explained["last_plan"]["code"], explained["next_plan"]["code"]) == (
        front,
        "fetched",
        "resting",
    )
    assert [row["outcome"] for row in explained["history"]] == ["ok"]
    told = recrawl("explain", f"{front}a.html").out
    assert "discovered" in told
    assert "resting" in told
    shown = recrawl("status", "--buckets").out
    assert "published" in shown
    assert "finished" in shown
    followed = json.loads(recrawl("sql", "why", f"url={front}a.html", "--json").out)
    assert [event["event"] for event in followed] == ["link", "found", "asked", "now"]


def test_the_demos_lake_serves_readers_where_there_are_no_settings(recrawl, lake) -> None:
    (lake / ".demo").mkdir()
    (lake / "recrawl.toml").rename(lake / ".demo/recrawl.toml")
    (lake / "lake").rename(lake / ".demo/lake")
    ended = recrawl("sql", "-c", "select count(*) from politeness_audit")
    assert ended.out == "0\n"
    assert "this is the demo's lake" in ended.err
    is_refused(recrawl("run"), "there is no such file")


HOSTILE = "\x1b]0;owned\x07\x1b[31m[bold]red[/bold]\r\nnext\u202etxt.exe\ud800"


@pytest.mark.parametrize("title", ["", f"A title {HOSTILE}"])
def test_no_crawled_character_commands_the_terminal(capsys, title: str) -> None:
    show(Answer((f"column {HOSTILE}", "b"), iter([(HOSTILE, {"k": HOSTILE}), ([HOSTILE], None)])), title=title)
    out = capsys.readouterr().out
    assert not {character for character in out if not character.isprintable()} - {"\n", "\t"}
    assert "[bold]" in out.replace("\n", "")


def test_a_table_that_is_too_wide_is_turned_so_that_every_name_and_value_stays_whole(capsys) -> None:
    columns = tuple(f"a_column_with_a_long_name_{number}" for number in range(30))
    show(Answer(columns, iter([tuple(range(1000, 1030))])), title="Wide")
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [columns[7], "1007"] in lines


def test_a_long_table_says_that_there_is_more(capsys) -> None:
    show(Answer(("n",), ((number,) for number in range(1000))), title="Long")
    assert "the first 200 rows are shown" in capsys.readouterr().out
    show(Answer(("n",), iter(())), title="Empty")
    assert "no row" in capsys.readouterr().out


def test_an_error_that_quotes_a_crawled_string_is_one_printable_line(recrawl, lake) -> None:
    ended = recrawl("sql", f"why\x1b[31m{chr(7)}\n")
    is_refused(ended, "\\x1b[31m\\x07\\n")


def test_printable_keeps_every_letter_and_shows_what_was_hidden() -> None:
    assert printable("naïve 日本語 🙂 [x]") == "naïve 日本語 🙂 [x]"
    assert printable("a\tb\x7f\u200b\U000e0001") == "a\\x09b\\x7f\\u200b\\U000e0001"
    assert cell(0.1 + 0.2) == "0.3"
