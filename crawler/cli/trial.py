"""`recrawl plan` and `backtest`: what a cycle would fetch, and what other rules would have. The lake stays as it is."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from crawler.cli.bars import Bars
from crawler.cli.edge import JsonOption, SettingsOption, open_lake_to_read
from crawler.cli.show import say, show, write_json
from crawler.core.cycle import Cycle
from crawler.core.errors import BadQuery
from crawler.dry_run import dry_run as run_dry
from crawler.store.ask import Answer
from crawler.store.backtest import ASSUMPTIONS, POLICIES, Backtest
from crawler.store.backtest import backtest as run_backtest


def backtest(
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            help="A policy; may be given several times: index (this product's own), uniform, fixed:7d (any days), "
            "nutch, proportional.",
            show_default="all",
        ),
    ] = None,
    since: Annotated[str, typer.Option("--from", help="First cycle, YYYY-MM-DD.", show_default="the lake's")] = "",
    until: Annotated[str, typer.Option("--to", help="Last cycle, YYYY-MM-DD.", show_default="today")] = "",
    settings: SettingsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Replay what the lake has observed under other policies, and compare how fresh each would have kept the pages.

    Every policy may fetch as many pages a cycle as the lake did. What is assumed is said with the result.
    """
    lake = open_lake_to_read(settings)
    wanted = tuple(policy or POLICIES)
    first, last = (Cycle.parse(text) if text else None for text in (since, until))
    with Bars(len(wanted)) as bars:
        found = run_backtest(lake, wanted, since=first, until=last, advance=lambda: bars.advance("backtest", 0, {}))
    if as_json:
        write_json(found.to_dict())
        return
    columns = ("policy", "freshness", "age_days", "fetches", "changed")
    title = f"{found.urls} pages in {found.cycles} cycles from {found.since} to {found.until}"
    show(Answer(columns, _rows(found)), title=f"{title}, {found.budget} fetches")
    say("freshness: share of time that a copy was current; age: mean days since it went out of date, 0 while current;")
    say("changed: fetches that found a change.")
    for assumption in ASSUMPTIONS:
        say(f"Assumed: {assumption}")


def plan(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be planned. Needed.")] = False,
    cycle: Annotated[
        str, typer.Option("--cycle", help="UTC day, YYYY-MM-DD; may come yet.", show_default="today")
    ] = "",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            help="New file for the candidate table, .parquet or .csv.",
            show_default="candidates-CYCLE.parquet",
        ),
    ] = None,
    settings: SettingsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write down for every known URL whether a cycle would fetch it, and why or why not. The lake stays as it is.

    `recrawl run` makes the plan that counts. What a cycle does that is planned already, its plan says.
    """
    lake = open_lake_to_read(settings)
    if not dry_run:
        raise BadQuery("plans are made by `recrawl run`", "`recrawl plan --dry-run` shows what one would hold")
    wanted = Cycle.parse(cycle or f"{lake.clock.now():%Y-%m-%d}")
    with Bars(lake.buckets) as bars:
        file = output or Path(f"candidates-{wanted}.parquet")
        found = run_dry(lake, wanted, file, advance=lambda: bars.advance("plan", 0, {}))
    if as_json:
        write_json(found.to_dict())
        return
    columns = ("in", "reason", "urls", "expected_bytes")
    rows = ((row["is_in"], row["reason"], row["urls"], row["expected_bytes"]) for row in found.reasons)
    show(Answer(columns, rows), title=f"What cycle {wanted} would fetch")
    cut = "reaches every one that may be fetched" if found.cutoff_value is None else f"ends at {found.cutoff_value:.4g}"
    say(f"{found.admitted} of {found.budget_urls} URLs, {found.expected_bytes} bytes expected; the budget {cut}")
    if found.is_planned:
        say(f"{wanted} is planned already: its plan stands, and this is what a plan made now would hold")
    say(f"Every URL with its reason: {found.output}")


def _rows(found: Backtest) -> Iterator[tuple[object, ...]]:
    for each in found.results:
        yield each.policy, f"{each.freshness:.1%}", round(each.age_days, 3), each.fetches, each.changed
