"""The command `recrawl`. Owns the names of the commands and how a failure ends: one line, and an exit code.

Exit codes: 0 done, 1 our failure, 2 something the operator wrote is wrong, 3 another process holds it (try again),
130 or 143 ended by Ctrl-C or SIGTERM. Commands are thin: they read settings, call one function, show what came back.
"""

import sys
from typing import Annotated

import typer

from crawler import __version__
from crawler.cli import look, operate, sql, start, steer, trial, upkeep, work
from crawler.cli.show import say, warn
from crawler.core.errors import RecrawlError

app = typer.Typer(
    name="recrawl",
    help="Keeps a large set of web pages fresh, politely, on schedule.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line; a RecrawlError becomes one line on standard error and its exit code."""
    try:
        app()
    except RecrawlError as error:
        warn(str(error))
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)


def _version(wanted: bool) -> None:
    if wanted:
        say(f"recrawl {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Say it.")] = False,
) -> None:
    pass


def demo(
    short: Annotated[bool, typer.Option("--short", help="Fewer days and hosts; for a quick look.")] = False,
) -> None:
    """Run daily cycles under a throw-away Airflow against a web made for it, and show what SQL says of them."""
    from crawler.demo.run import run_demo  # a web server and an Airflow driver, which no other command loads

    raise typer.Exit(run_demo(short=short, explain=look.tell))


_COMMANDS = (
    start.init,
    start.seed,
    work.run,
    look.status,
    look.explain,
    operate.doctor,
    operate.hold,
    operate.release,
    operate.purge,
    upkeep.upkeep,
    steer.force,
    trial.plan,
    trial.backtest,
    sql.sql,
    work.report,
    start.migrate,
    demo,
)
for _command in _COMMANDS:
    app.command()(_command)
