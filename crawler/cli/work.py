"""`recrawl run` and `report`: cycles, and what they came to."""

from collections import Counter
from collections.abc import Mapping
from typing import Annotated

import typer

from crawler.cli.bars import Bars
from crawler.cli.edge import JsonOption, SettingsOption, open_lake, open_lake_to_read
from crawler.cli.show import as_dicts, facts, say, show, warn, write_json
from crawler.core.errors import RecrawlError, Stopped
from crawler.core.stop import stop_on_signals
from crawler.cycle_run import run_cycle
from crawler.store.ask import ask_named, questions
from crawler.store.live import running
from crawler.store.reader import open_reader

# A report of the lake is these named questions, in this order.
_REPORT = (
    "cycles",
    "coverage",
    "freshness",
    "outcomes",
    "late",
    "politeness",
    "copies",
    "rejected",
    "traps",
    "identity",
)


def run(
    cycle: Annotated[str, typer.Option("--cycle", help="UTC day to fetch, YYYY-MM-DD.", show_default="today")] = "",
    processes: Annotated[
        int | None, typer.Option("--processes", help="Buckets at work at the same time.", min=1, show_default="all")
    ] = None,
    settings: SettingsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run all stages of one cycle without Airflow. Run again, it goes on from what is there.

    Ctrl-C or SIGTERM ends it within seconds, with exit code 130 or 143; a second one at once.
    """
    lake = open_lake(settings)
    lake.settings.require_contact()
    wanted = lake.cycle(cycle or f"{lake.clock.now():%Y-%m-%d}")
    totals: dict[str, Counter[str]] = {}
    try:
        with stop_on_signals(second_kills=True) as stop, Bars(lake.buckets) as bars:

            def watch() -> None:
                if bars.is_shown:
                    bars.show_fetches(running(lake))

            for stage, part, result in run_cycle(lake.settings, wanted, processes=processes, stop=stop, watch=watch):
                if isinstance(result, RecrawlError):
                    warn(f"{stage} of part {part} failed: {result}")
                    result = {}
                bars.advance(stage, part, result)
                totals.setdefault(stage, Counter()).update(_counts(result))
    except Stopped as stopped:
        warn(str(stopped))
        raise typer.Exit(128 + (stop.number or 0)) from stopped
    finally:  # what was done before a failure is told as well
        shown = {stage: dict(counts) for stage, counts in totals.items()}
        write_json({"cycle": str(wanted), **shown}) if as_json else facts(shown.items())


def report(settings: SettingsOption = None, as_json: JsonOption = False) -> None:
    """Answer the named questions that together describe the crawl."""
    con = open_reader(open_lake_to_read(settings))
    known = questions()
    if as_json:
        write_json({name: as_dicts(ask_named(con, name, {})) for name in _REPORT})
        return
    for name in _REPORT:
        show(ask_named(con, name, {}), title=known[name].sentence)
    say("Each table is also `recrawl sql NAME`: " + " ".join(_REPORT))


def _counts(result: Mapping[str, object]) -> dict[str, int]:
    """What of a stage's result adds up over its parts."""
    return {
        name: value
        for name, value in result.items()
        if isinstance(value, int) and name not in ("bucket", "shard", "number")
    }
