"""`recrawl doctor`, `hold`, `release` and `purge`: what an operator looks at, and does to a crawl that runs."""

import sys
from typing import Annotated

import typer

from crawler.cli.bars import Bars
from crawler.cli.edge import JsonOption, SettingsOption, open_lake, open_lake_to_read
from crawler.cli.show import say, write_json
from crawler.core.errors import BadPurge
from crawler.store import holds, purges
from crawler.store.doctor import examine
from crawler.store.erase import erase, look
from crawler.store.lake import Lake
from crawler.store.mend import Mend, mends

HostArgument = Annotated[str, typer.Argument(help="The host, or a URL of it.", show_default=False)]
ReasonOption = Annotated[str, typer.Option("--reason", help="Why; kept with the decision.", show_default=False)]

_PATHS = 5  # of a finding, on a screen


def doctor(
    repair: Annotated[bool, typer.Option("--repair", help="Show what can be mended without a backup.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --repair: do it, whatever it loses.")] = False,
    settings: SettingsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Look for what is wrong with the lake and say which command mends it. Exit code 1 if something needs an action."""
    if repair:
        _repair(open_lake(settings), yes=yes, as_json=as_json)
        return
    found = examine(open_lake_to_read(settings))
    actions = sum(finding.needs_action for finding in found)
    if as_json:
        write_json({"actions": actions, "findings": [finding.to_dict() for finding in found]})
    else:
        for finding in found:
            say(f"{'ACTION' if finding.needs_action else 'note  '}  {finding.kind}: {finding.what}")
            for path in finding.paths[:_PATHS]:
                say(f"          {path}")
            if finding.files > _PATHS:
                say(f"          ... and {finding.files - _PATHS} more; --json names {len(finding.paths)} of them")
            say(f"        > {finding.command}")
        say(f"{actions} of {len(found)} findings need an action" if actions else "nothing needs an action")
    if actions:
        raise typer.Exit(1)


def _repair(lake: Lake, *, yes: bool, as_json: bool) -> None:
    """Show the mends, and do them if that is wanted; those that other mends make possible come after them."""
    done: list[Mend] = []
    while found := [mend for mend in mends(lake) if mend.what not in {each.what for each in done}]:
        for mend in found:
            if not as_json:
                say(f"{'mended' if yes else 'would '}  {mend.what}")
                say(f"        costs: {mend.costs}")
            if yes:
                mend.act()
        done += found
        if not yes:
            break
    if as_json:
        write_json({"done": yes, "mends": [mend.to_dict() for mend in done]})
    elif not done:
        say("nothing can be mended here; recrawl doctor says what else there is")
    elif not yes:
        say("nothing was changed; with --yes it is done")
    else:
        say("recrawl doctor   says what is left: cycles to run, files to restore from a backup")


def hold(
    host: HostArgument, reason: ReasonOption = "", settings: SettingsOption = None, as_json: JsonOption = False
) -> None:
    """Ask a host for nothing until it is released. A running fetch obeys within a minute; planned URLs stay open."""
    decision = holds.hold(open_lake(settings), host, reason)
    if as_json:
        write_json(decision.to_dict())
    else:
        say(f"{decision.host} is held (bucket {decision.bucket}); a running fetch obeys within a minute")
        say(f"To go on: recrawl release {decision.host}")


def release(
    host: HostArgument, reason: ReasonOption = "", settings: SettingsOption = None, as_json: JsonOption = False
) -> None:
    """Let a held host be asked again: by a running fetch within a minute, else by the next one."""
    decision = holds.release(open_lake(settings), host, reason)
    if as_json:
        write_json(decision.to_dict())
    else:
        say(f"{decision.host} is released (bucket {decision.bucket}); what was left open is fetched by the next fetch")


def purge(
    target: Annotated[
        str, typer.Argument(help="A host, or a URL with its scheme.", show_default=False, metavar="URL|HOST")
    ] = "",
    reason: ReasonOption = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be erased.")] = False,
    lift: Annotated[bool, typer.Option("--lift", help="Let it be found and fetched again.")] = False,
    list_all: Annotated[bool, typer.Option("--list", help="Show what is purged.")] = False,
    settings: SettingsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take down a URL or a host: never ask for it again, and erase from the lake all that was captured there.

    No reader sees half of it. Other URLs with the very same bytes lose them too, and are fetched anew.
    """
    lake = open_lake(settings)
    if list_all:
        _list_purges(lake, as_json=as_json)
    elif not target:
        raise BadPurge("nothing", "is named")
    elif lift:
        lifted = purges.lift(lake, target, reason)
        write_json(lifted.to_dict()) if as_json else say(f"{lifted.name} may be found and fetched again")
    else:
        _purge(lake, target, reason, yes=yes, dry_run=dry_run, as_json=as_json)


def _purge(lake: Lake, target: str, reason: str, *, yes: bool, dry_run: bool, as_json: bool) -> None:
    wanted = purges.intended(lake, target, reason)
    if not (yes or dry_run or sys.stdin.isatty()):
        raise BadPurge(wanted.name, "would be erased for ever, and nobody can be asked here: add --yes")
    if dry_run or not yes:
        found = look(lake, wanted)
        if dry_run and as_json:
            write_json({**wanted.to_dict(), **found.to_dict()})
            return
        say(f"{wanted.kind} {wanted.name}: URLs {found.urls}, captures {found.captures}")
        say(f"other URLs with the very same content: {found.others}")
        if dry_run:
            return
        typer.confirm("Erase it for ever?", abort=True)
    decision = purges.purge(lake, target, reason)
    with Bars(2 * lake.buckets) as bars:
        done = erase(lake, decision, lambda: bars.advance("purge", 0, {}))
    if as_json:
        write_json({**decision.to_dict(), "is_erased": True, **done.to_dict()})
        return
    say(
        f"{decision.name} is purged: {done.urls} URLs, {done.captures} captures erased, {done.files} files written anew"
    )
    if done.others:
        say(f"{done.others} other URLs had the same content; it is erased there too, and they are fetched anew")
    say("Backups, exports and what readers have copied are not the lake's: see to them yourself")


def _list_purges(lake: Lake, *, as_json: bool) -> None:
    found = purges.all_purges(lake)
    if as_json:
        write_json([each.to_dict() for each in found])
        return
    for each in found:
        state = "erased" if each.is_erased else "NOT erased yet"
        say(f"{each.at}  {each.kind}  {each.name}  {state}{f'  ({each.reason})' if each.reason else ''}")
    if not found:
        say("nothing is purged")
