"""`recrawl upkeep`: merge small files of old cycles, let expire what the rules say, delete what nothing needs."""

from typing import Annotated

import typer

from crawler.cli.bars import Bars
from crawler.cli.edge import JsonOption, SettingsOption, open_lake
from crawler.cli.show import say, warn, write_json
from crawler.store.upkeep import PASSES, Report
from crawler.store.upkeep import upkeep as keep

_LINE = "{action:<8}{rule:<14}{files:>9}{bytes:>14}  {oldest}"


def upkeep(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    settings: SettingsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Merge small files of old cycles, let expire what [upkeep] says, delete what nobody needs. See --dry-run first.

    Runs beside cycles and readers: a bucket at work is left for the next time.
    """
    lake = open_lake(settings)
    with Bars(2 * lake.buckets * PASSES) as bars:
        report = keep(lake, dry_run=dry_run, advance=lambda: bars.advance("upkeep", 0, {}))
    if as_json:
        write_json(report.to_dict())
    else:
        _show(report)


def _show(report: Report) -> None:
    rows = report.rows()
    if rows:
        say(_LINE.format(action="", rule="rule", files="files", bytes="MB", oldest="oldest"))
    for row in rows:
        say(_LINE.format(**{**row, "bytes": f"{row['bytes'] / 1e6:,.1f}"}))
    for skipped in report.skipped:
        warn(f"left alone: {skipped}")
    if not rows:
        say("nothing is to be done")
    elif report.dry_run:
        say("nothing was changed; the same without --dry-run does it")
