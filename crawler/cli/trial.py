"""`recrawl backtest`: what other rules would have made of the lake's pages. Writes nothing."""

from collections.abc import Iterator
from typing import Annotated

import typer

from crawler.cli.bars import Bars
from crawler.cli.edge import JsonOption, SettingsOption, open_lake_to_read
from crawler.cli.show import say, show, write_json
from crawler.core.cycle import Cycle
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


def _rows(found: Backtest) -> Iterator[tuple[object, ...]]:
    for each in found.results:
        yield each.policy, f"{each.freshness:.1%}", round(each.age_days, 3), each.fetches, each.changed
