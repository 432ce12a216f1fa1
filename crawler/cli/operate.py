"""`recrawl doctor`, `hold` and `release`: what an operator looks at, and does to a crawl that runs."""

from typing import Annotated

import typer

from crawler.cli.edge import JsonOption, SettingsOption, open_lake, open_lake_to_read
from crawler.cli.show import say, write_json
from crawler.store import holds
from crawler.store.doctor import examine

HostArgument = Annotated[str, typer.Argument(help="The host, or a URL of it.", show_default=False)]
ReasonOption = Annotated[str, typer.Option("--reason", help="Why; kept with the decision.", show_default=False)]

_PATHS = 5  # of a finding, on a screen


def doctor(settings: SettingsOption = None, as_json: JsonOption = False) -> None:
    """Look for what is wrong with the lake and say which command mends it. Exit code 1 if something needs an action."""
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
