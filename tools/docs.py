"""`python -m tools.docs [--check]`: the pages of docs/ that are generated from the product itself.

Reads sql/schema, the outcome table, the settings models and the command line. Writes docs/data-dictionary.md,
docs/settings.md and docs/cli.md; with --check it writes nothing and fails when one of them lags.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any  # the classes of commands and parameters are private to typer

import typer.main
from typer.core import TyperOption

from crawler.cli import app
from crawler.core.clock import SystemClock
from crawler.core.config import parse_settings
from crawler.core.outcomes import CONSEQUENCES, RETIRED_DAYS
from crawler.core.settings_text import settings_page
from crawler.store.ask import questions
from crawler.store.lake import Lake
from crawler.store.query import catalogue, scripts
from crawler.store.reader import open_reader

DOCS = Path(__file__).resolve().parents[1] / "docs"
_RULE = "Generated from {} by `make docs`; do not edit."


def main() -> int:
    """Write the pages, or with --check say which of them lag (exit code 1)."""
    checking = sys.argv[1:] == ["--check"]
    lagging = [name for name, text in pages().items() if _current(DOCS / name) != text]
    for name in lagging:
        if checking:
            print(f"docs/{name} lags behind the product. Run `make docs` and commit it", file=sys.stderr)
        else:
            (DOCS / name).write_text(pages()[name], encoding="utf-8")
            print(f"docs/{name} written")
    if not lagging:
        print("docs: the generated pages are current")
    return 1 if checking and lagging else 0


def pages() -> dict[str, str]:
    """Every generated page by name."""
    makers: dict[str, Callable[[], str]] = {
        "data-dictionary.md": data_dictionary,
        "settings.md": settings_page,
        "cli.md": command_page,
    }
    return {name: make().rstrip() + "\n" for name, make in makers.items()}


def data_dictionary() -> str:
    """The tables with their columns, the outcomes and the named questions."""
    con = catalogue()
    columns = con.execute(
        "SELECT t.table_name, t.comment, c.column_name, c.data_type, c.is_nullable, c.comment "
        "FROM duckdb_tables() AS t JOIN duckdb_columns() AS c USING (database_name, table_oid) "
        "WHERE t.database_name = current_database() AND t.schema_name = 'main' AND NOT t.temporary "
        "ORDER BY t.table_name, c.column_index"
    ).fetchall()
    parts = [
        "# Data dictionary",
        _RULE.format("`sql/schema`, `crawler/core/outcomes.py` and `sql/reports`"),
        "Every table is Parquet in the lake. Times are UTC, keys are 64-bit xxh3; NULL is possible where it says yes.",
        "## Tables",
    ]
    last = None
    for table, comment, column, kind, nullable, meaning in columns:
        if table != last:
            parts.append(f"### {table}\n\n{comment}\n\n| column | type | NULL | meaning |\n| --- | --- | --- | --- |")
            last = table
        parts[-1] += f"\n| `{column}` | {kind} | {'yes' if nullable else ''} | {_cell(meaning or '')} |"
    parts += ["## Views", "What SQL sees beside the tables; a column of the same name means the same.", *_views()]
    parts += ["## Outcomes", "The closed list of what an observation can be."]
    parts.append("| outcome | kind | meaning | days until it may be planned again |\n| --- | --- | --- | --- |")
    for outcome, follows in CONSEQUENCES.items():
        days = ", ".join("retired" if days == RETIRED_DAYS else str(days) for days in follows.rest_days) or "-"
        parts[-1] += f"\n| `{outcome}` | {follows.kind} | {_cell(follows.sentence)} | {days} |"
    parts.append(
        "Several numbers stand for the first, second, ... time in a row that the kind is met; the last repeats. "
        "No rest is shorter than `plan.min_interval_days`, and a 410 counts as the second 404. A retired URL is not "
        "planned again unless it is forced; a seed is, after a year."
    )
    parts += [
        "## Named questions",
        "`recrawl sql NAME [KEY=VALUE ...]`",
        "| name | needs | answer |\n| --- | --- | --- |",
    ]
    for question in questions().values():
        needs = ", ".join(f"`{parameter}`" for parameter in question.parameters)
        parts[-1] += f"\n| `{question.name}` | {needs} | {_cell(question.sentence)} |"
    return "\n\n".join(parts)


def _views() -> Iterator[str]:
    """A passage for each view of sql/views, with its columns as an empty lake shows them."""
    with TemporaryDirectory() as root:
        settings = parse_settings({"lake": {"root": root, "buckets": 1}})
        con = open_reader(Lake.create(settings, SystemClock()))
        for name, text in scripts("views"):
            view = name.partition("_")[2]
            header = [line.removeprefix("-- ") for line in text.splitlines() if line.startswith("-- ")]
            grain = next(line.removeprefix("Grain: ") for line in header if line.startswith("Grain: "))
            found = con.execute(f'DESCRIBE "{view}"').fetchall()
            columns = ", ".join(f"`{column}`" for column, *_ in found)
            yield f"### {view} (view)\n\n{header[0]} {grain[0].upper()}{grain[1:]}"
            if view != "page":
                yield columns


def command_page() -> str:
    """Every command with its arguments and options."""
    group = typer.main.get_group(app)
    parts = [
        "# The command line",
        _RULE.format("`crawler/cli`"),
        (
            "Exit codes: 0 done; 1 our failure; 2 what you wrote is wrong, and the message names the cure; "
            "3 another process holds it, try again; 130 interrupted."
        ),
    ]
    for name, command in group.commands.items():
        arguments = " ".join(_usage(parameter) for parameter in command.params)
        parts.append(f"## recrawl {name}\n\n{command.help or ''}\n\n```\nrecrawl {name} {arguments}".rstrip() + "\n```")
        rows = list(_parameters(command))
        if rows:
            parts.append("| parameter | meaning |\n| --- | --- |\n" + "\n".join(rows))
    return "\n\n".join(parts)


def _parameters(command: Any) -> Iterator[str]:
    for parameter in command.params:
        meaning = parameter.help or ""
        if isinstance(parameter.envvar, str):
            meaning += f" Environment: `{parameter.envvar}`."
        names = parameter.opts if isinstance(parameter, TyperOption) else [parameter.name.upper()]
        yield f"| {', '.join(f'`{name}`' for name in names)} | {_cell(meaning)} |"


def _usage(parameter: Any) -> str:
    if isinstance(parameter, TyperOption):
        return (
            f"[{parameter.opts[0]}]" if parameter.is_flag else f"[{parameter.opts[0]} {(parameter.name or '').upper()}]"
        )
    shown = parameter.name.upper() + (" ..." if parameter.nargs == -1 else "")
    return shown if parameter.required else f"[{shown}]"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _current(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main())
