"""`recrawl hold` and `release`: what an operator does to a crawl that runs."""

from typing import Annotated

import typer

from crawler.cli.edge import JsonOption, SettingsOption, open_lake
from crawler.cli.show import say, write_json
from crawler.store import holds

HostArgument = Annotated[str, typer.Argument(help="The host, or a URL of it.", show_default=False)]
ReasonOption = Annotated[str, typer.Option("--reason", help="Why; kept with the decision.", show_default=False)]


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
