"""`recrawl force`: the one part of an operator's steering that is no setting, since it is for once only."""

from typing import Annotated

import typer

from crawler.cli.edge import JsonOption, SettingsOption, open_lake
from crawler.cli.show import say, write_json
from crawler.core.errors import BadForce
from crawler.store.forces import Force, all_forces, lift_force
from crawler.store.forces import force as force_url


def force(
    url: Annotated[str, typer.Argument(help="A known URL, in any spelling.", show_default=False)] = "",
    reason: Annotated[str, typer.Option("--reason", help="Why; shown by explain. Needed.", show_default=False)] = "",
    lift: Annotated[bool, typer.Option("--lift", help="Let it rank as any other again.")] = False,
    list_all: Annotated[bool, typer.Option("--list", help="Show what is forced and not asked for yet.")] = False,
    settings: SettingsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Have a URL fetched by the next cycle that is planned, whatever it is worth and whenever it was fetched last.

    It counts until the URL is asked for once. Scope, purges, holds, blackouts, robots.txt and the cap of its host
    stand above it. A cycle that is planned already does not change.
    """
    lake = open_lake(settings)
    if list_all:
        waiting = all_forces(lake)
        if as_json:
            write_json([each.to_dict() for each in waiting])
            return
        for each in waiting:
            say(_line(each))
        if not waiting:
            say("nothing is forced")
        return
    if not url:
        raise BadForce("nothing", "is named", "Name a URL, or `recrawl force --list` shows what is forced")
    decision = lift_force(lake, url, reason) if lift else force_url(lake, url, reason)
    if as_json:
        write_json(decision.to_dict())
    elif lift:
        say(f"{decision.url} ranks as any other again")
    else:
        say(f"{decision.url} is forced (bucket {decision.bucket}): the next cycle that is planned fetches it first")
        say(f"To take that back: recrawl force --lift {decision.url}")


def _line(each: Force) -> str:
    return f"{each.at}  {each.url}  ({each.reason})"
