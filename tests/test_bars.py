"""The bars of `recrawl run`: what they say on a terminal, and that nothing comes where there is none."""

import io

import pytest
from rich.console import Console

from crawler.cli.bars import Bars
from crawler.core.progress import Progress
from crawler.store.live import Live

SAID = Progress(
    100, observed=40, requests=44, wire_bytes=2_500_000, ready=3, waiting=4, held=1, seconds=8.0,
    outcomes={"ok": 30, "gone": 10},
)  # fmt: skip


def terminal(text: io.StringIO, **how: object) -> Console:
    return Console(file=text, width=200, **how)  # type: ignore[arg-type]


def live(bucket: int, progress: Progress) -> Live:
    return Live(bucket, "2026-11-25", 1, "2026-11-25T00:00:00+00:00", progress)


def test_a_fetch_shows_urls_speed_bytes_hosts_and_outcomes_of_all_buckets() -> None:
    text = io.StringIO()
    with Bars(2, terminal(text, force_terminal=True)) as bars:
        bars.advance("plan", 0, {})
        bars.show_fetches([live(0, SAID), live(1, SAID)])
        bars.advance("fetch", 0, {"planned": 100, "observed": 100, "wire_bytes": 5_000_000, "ok": 90, "gone": 10})
    shown = text.getvalue()
    assert "1/2" in shown  # of the plan's buckets
    assert "140/200" in shown  # one bucket at its end, the other as it said last
    assert "7.5 MB" in shown
    assert "hosts: 3 ready, 4 waiting, 1 held; 120 ok, 20 gone" in shown


def test_nothing_is_shown_where_there_is_no_terminal() -> None:
    text = io.StringIO()
    with Bars(2, terminal(text, force_terminal=False)) as bars:
        assert not bars.is_shown
        bars.show_fetches([live(0, SAID)])
        bars.advance("fetch", 0, {"planned": 1, "observed": 1})
        bars.advance("merge", 0, {})
    assert text.getvalue().strip() == ""


def test_a_stage_s_name_and_its_detail_are_no_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Progress, "detail", property(lambda _: "[red]a.test[/red]\x1b[31m"))
    text = io.StringIO()
    with Bars(1, terminal(text, force_terminal=True, no_color=True)) as bars:
        bars.show_fetches([live(0, SAID)])
    assert "[red]a.test[/red]\\x1b[31m" in text.getvalue()
