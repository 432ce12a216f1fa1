"""The page of a crawl as it is made of a lake, without Airflow: what it says, what it offers, what it escapes."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from recrawl_ui import render, view
from recrawl_ui.links import places

from crawler.core.config import load_settings
from crawler.core.errors import NoLake
from crawler.core.progress import Progress
from crawler.stages import seed
from crawler.store.lake import Lake
from crawler.store.live import LiveProgress
from tests.plugins.lakes import HOSTILE, Morning, add_hostile_summary, lake_with_gaps, settings_file
from tests.store.small_cycle import CYCLES, prepare
from tests.store.small_web import A, B, bucket_of_url

UI = Path(render.__file__).parent
DAYS = [str(cycle) for cycle in CYCLES]


@dataclass
class Run:
    cycle: str
    run_id: str = "manual__1"
    state: str = "running"
    stages: list[Any] = field(default_factory=list)


class Parsed(HTMLParser):
    """The tags, attributes and texts of a page as a browser sees them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def page(shown: view.View, crawls: list[str] | None = None) -> str:
    return render.render("page.html", static="../static", view=shown, crawls=crawls or ["docs"])


@pytest.fixture(scope="module")
def gaps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    settings = settings_file(tmp_path_factory.mktemp("gaps"))
    add_hostile_summary(lake_with_gaps(settings), DAYS[3])
    return settings


def test_the_grid_marks_missing_and_failed_partitions_and_today_as_due(gaps: Path) -> None:
    shown = view.look("docs", gaps, [])
    states = {day.cycle: (day.state, {part.bucket: part.state for part in day.parts}) for day in shown.days}
    both = {0: "finished", 1: "finished"}
    assert states["2026-03-05"] == ("due", {})
    assert states[DAYS[3]] == ("published", both)
    assert states[DAYS[2]] == ("failed", {bucket_of_url(A): "finished", bucket_of_url(B): "failed"})
    assert states[DAYS[1]] == ("missing", {0: "missing", 1: "missing"})
    assert states[DAYS[0]] == ("published", both)
    cells = [
        attributes for tag, attributes in Parsed(page(shown)).tags if "cell" in (attributes.get("class") or "").split()
    ]
    assert [cell["class"] for cell in cells].count("cell missing") == 2
    assert [cell["class"] for cell in cells].count("cell failed") == 1


def test_days_in_a_row_get_one_backfill_command_to_copy_and_a_running_one_none(gaps: Path) -> None:
    (gap,) = view.look("docs", gaps, []).gaps
    assert gap.command == (
        f"airflow backfill create --dag-id docs --from-date {DAYS[1]} --to-date {DAYS[2]} "
        "--reprocess-behavior completed --max-active-runs 1"
    )
    parsed = Parsed(page(view.look("docs", gaps, [])))
    assert [attributes["data-copy"] for _, attributes in parsed.tags if "data-copy" in attributes] == [gap.command]
    (gap,) = view.look("docs", gaps, [Run(DAYS[1])]).gaps
    assert (gap.first, gap.last) == (DAYS[2], DAYS[2])


def test_nothing_crawled_becomes_markup_or_reaches_the_reader_with_hidden_characters(gaps: Path) -> None:
    html = page(view.look("docs", gaps, []))
    parsed = Parsed(html)
    for place in ("host", "early", "http://example/", "http://changed/", "title"):
        assert f"{place}<script>alert('x')</script>\"'>&\\u202eevil\\x1b[31m" in parsed.text
    assert HOSTILE not in parsed.text
    scripts = [attributes for tag, attributes in parsed.tags if tag == "script"]
    assert {script["src"] for script in scripts} == {
        f"../static/{name}" for name in ("theme.js", "page.js", "uPlot.iife.min.js")
    }
    assert "style" not in {tag for tag, _ in parsed.tags}
    assert [
        name for _, attributes in parsed.tags for name in attributes if name == "style" or name.startswith("on")
    ] == []


def test_every_file_that_the_page_names_exists_and_says_its_licence() -> None:
    named = set(re.findall(r"\{\{ static \}\}/([\w.]+)", (UI / "templates/base.html").read_text()))
    assert named == {path.name for path in (UI / "static").rglob("*") if path.suffix in (".js", ".css")}
    (chart,) = (UI / "static").glob("uplot-*")
    assert {path.name for path in chart.iterdir()} == {"LICENSE", "README", "uPlot.iife.min.js", "uPlot.min.css"}
    assert f"v{chart.name.removeprefix('uplot-')}" in (chart / "uPlot.iife.min.js").read_text()[:100]


def test_a_running_cycle_shows_how_far_it_is(tmp_path: Path) -> None:
    settings = settings_file(tmp_path)
    lake = Lake.create(load_settings(settings), Morning())
    seed.run(lake, [f"{A}/", f"{B}/"])
    prepare(lake, CYCLES[0])
    shown = view.look("docs", settings, [Run(DAYS[0]), Run("2026-02-01", "backfill__1")])
    assert [day.cycle for day in shown.active] == [DAYS[0], "2026-02-01"]
    html = page(shown)
    assert "0 of 2" in html
    assert "backfill__1" in html
    assert "Nothing is published yet" in html
    assert [gap.first for gap in shown.gaps] == [DAYS[1]]


def test_a_running_fetch_shows_its_speed_its_hosts_and_what_it_has_not_written_down(tmp_path: Path) -> None:
    settings = settings_file(tmp_path)
    lake = Lake.create(load_settings(settings), Morning())
    seed.run(lake, [f"{A}/", f"{B}/"])
    prepare(lake, CYCLES[0])
    said = Progress(1, observed=1, wire_bytes=2_500_000, ready=3, waiting=4, held=5, seconds=0.5, outcomes={"gone": 1})
    with lake.own("bucket", 0, CYCLES[0]) as owner, LiveProgress(lake, owner) as live:
        live.write(said)
        text = Parsed(page(view.look("docs", settings, [Run(DAYS[0])]))).text
    assert "1 of 2 URLs asked for" in text
    assert (
        text.count("2.0 pages/s, 2.5 MB; hosts: 3 ready, 4 waiting, 5 held; 1 gone") == 2
    )  # in all, and of its bucket


def test_a_lake_without_a_cycle_says_what_to_do_and_no_lake_is_an_error_of_ours(tmp_path: Path) -> None:
    settings = settings_file(tmp_path)
    with pytest.raises(NoLake):
        view.look("docs", settings, [])
    Lake.create(load_settings(settings), Morning())
    assert "missing" in page(view.look("docs", settings, []))


def test_a_look_that_takes_too_long_is_stopped(gaps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def count_for_ever(lake: Lake, **_: object) -> None:
        lake.connect().execute("SELECT count(*) FROM range(1000000000000) AS a WHERE random() > 2").fetchall()

    monkeypatch.setattr(view, "MOST_SECONDS", 0.3)
    monkeypatch.setattr(view, "KEEP_SECONDS", 0.0)
    monkeypatch.setattr(view.overview, "partitions", count_for_ever)
    with pytest.raises(view.TookTooLong, match="recrawl status"):
        view.look("docs", gaps, [])


def test_links_lead_below_the_path_of_airflow_s_address() -> None:
    assert [each["href"] for each in places("http://127.0.0.1:8080")] == ["/recrawl/", "/recrawl/dag/{DAG_ID}"]
    assert [each["href"] for each in places("https://x.test/air/")] == ["/air/recrawl/", "/air/recrawl/dag/{DAG_ID}"]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (render.percent(999, 1000), "99.9 %"),
        (render.percent(9999, 10000), "99.9 %"),
        (render.percent(1, 1), "100 %"),
        (render.percent(0, 0), render.NOTHING),
        (render.age(0.0005), "1 min"),
        (render.age(0.5), "12.0 h"),
        (render.age(3.46), "3.5 d"),
        (render.volume(999), "999 B"),
        (render.volume(12_345), "12.3 kB"),
        (render.volume(5e15), "5000 TB"),
        (render.count(1234567), "1,234,567"),
        (render.number(0.05, "s"), "0.05 s"),
        (render.number(None), render.NOTHING),
        (render.when("2026-11-25T07:30:59+00:00"), "2026-11-25 07:30"),
    ],
)
def test_numbers_are_said_as_people_say_them(said: str, expected: str) -> None:
    assert said == expected
