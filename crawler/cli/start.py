"""`recrawl init`, `seed` and `migrate`: what stands before the first cycle."""

import sys
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from crawler.cli.edge import SETTINGS_FILE, JsonOption, SettingsOption, open_lake, read_settings, settings_file
from crawler.cli.show import facts, say, write_json
from crawler.core import settings_text
from crawler.core.clock import open_clock
from crawler.core.errors import BadSeeds
from crawler.stages import seed as seed_stage
from crawler.store.lake import Lake
from crawler.store.migrate import migrate as migrate_lake
from crawler.store.reader import write_views_file

SEEDS_FILE = "seeds.txt"
_SEEDS_TEXT = """\
# Where the crawl starts: one absolute http or https URL a line. Then: recrawl seed
# https://example.org/
"""


def init(
    folder: Annotated[
        Path | None, typer.Argument(help="Folder of the crawl, made if absent.", show_default="this one")
    ] = None,
    user_agent: Annotated[
        str, typer.Option("--user-agent", help="Who asks, with a URL or an e-mail address of yours.")
    ] = "",
    settings: SettingsOption = None,
) -> None:
    """Write recrawl.toml and seeds.txt, and create the lake. Leaves alone what is there."""
    path = settings_file(settings) if folder is None else folder / SETTINGS_FILE
    seeds = path.with_name(SEEDS_FILE)
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = {path: settings_text.settings_file(user_agent=user_agent), seeds: _SEEDS_TEXT}
    written = {file: _write_new(file, text) for file, text in texts.items()}
    read = read_settings(path)
    lake = Lake.create(read, open_clock(read.clock.simulated))
    for file, is_new in written.items():
        say(f"{file}: {'written' if is_new else 'is there already, left as it is'}")
    say(f"{lake.files.root}: lake of {lake.buckets} buckets")
    where = "" if path == SETTINGS_FILE else f" --settings {path.parent if path.name == SETTINGS_FILE.name else path}"
    who = "" if read.crawl.user_agent else f"say who you are in {path} (crawl.user_agent), "
    say(f"Next: {who}put URLs into {seeds}, then recrawl seed{where}, recrawl run{where}")


def seed(
    sources: Annotated[
        list[str] | None,
        typer.Argument(help="URLs, files with one URL a line, or - for standard input.", show_default=SEEDS_FILE),
    ] = None,
    sitemap: Annotated[list[str] | None, typer.Option(help="URL of a sitemap or feed; may be repeated.")] = None,
    settings: SettingsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add URLs to the seeds; the next cycle plans them."""
    lake = open_lake(settings)
    sitemaps = sitemap or []
    named = sources or ([] if sitemaps else [str(settings_file(settings).with_name(SEEDS_FILE))])
    lines = chain.from_iterable(map(_lines, named))
    counts = seed_stage.run(lake, lines, sitemaps=sitemaps, source=", ".join([*named, *sitemaps]))
    write_json(counts) if as_json else facts(counts.items())


def migrate(settings: SettingsOption = None) -> None:
    """Bring a lake of an older schema version to this Recrawl's. May be run again after a crash."""
    root = read_settings(settings).lake.root
    before, after = migrate_lake(root)
    if after != before:
        write_views_file(open_lake(settings))  # its views know the columns that the tables had
    say(f"{root}: schema version {before} -> {after}" if after != before else f"{root}: is at version {after} already")


def _lines(source: str) -> list[str]:
    if source == "-":
        return sys.stdin.read().splitlines()
    if "://" in source:
        return [source]
    try:
        return Path(source).read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError as error:
        raise BadSeeds(source, "is neither a file nor a URL") from error
    except (OSError, UnicodeDecodeError) as error:
        raise BadSeeds(source, f"cannot be read: {error}") from error


def _write_new(path: Path, text: str) -> bool:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        return False
    return True
