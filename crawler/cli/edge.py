"""Where a command meets the machine: which settings file, which clock, which lake.

Reads the settings once; everything behind gets them as a value.
"""

from pathlib import Path
from typing import Annotated

import typer

from crawler.cli.show import warn
from crawler.core.clock import open_clock
from crawler.core.config import Settings, load_settings
from crawler.store.lake import Lake

SETTINGS_FILE = Path("recrawl.toml")
DEMO_SETTINGS_FILE = Path(".demo/recrawl.toml")

SettingsOption = Annotated[
    Path | None,
    typer.Option(
        "--settings",
        envvar="RECRAWL_SETTINGS",
        help="Settings file or the folder of its crawl; recrawl.toml of this folder without it.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Write one JSON document, for machines.")]


def settings_file(path: Path | None) -> Path:
    """The settings file that `path`, a file or a crawl's folder, stands for."""
    if path is None:
        return SETTINGS_FILE
    return path / SETTINGS_FILE.name if path.is_dir() else path


def read_settings(path: Path | None) -> Settings:
    """The settings of a command that changes something. Raises BadSettings."""
    return load_settings(settings_file(path))


def open_lake(path: Path | None) -> Lake:
    """The lake of the settings file at `path`. Raises BadSettings, NoLake, OtherLake, SchemaMismatch."""
    settings = read_settings(path)
    return Lake.open(settings, open_clock(settings.clock.simulated))


def settings_to_read(path: Path | None) -> Settings | None:
    """Like `read_settings`, but None where none are named and none are here."""
    return None if path is None and not SETTINGS_FILE.exists() else read_settings(path)


def open_lake_to_read(path: Path | None) -> Lake:
    """Like `open_lake`, but the demo's lake serves where there are no other settings, so that one can look around."""
    if path is None and not SETTINGS_FILE.exists() and DEMO_SETTINGS_FILE.exists():
        warn(f"no {SETTINGS_FILE} here, so this is the demo's lake ({DEMO_SETTINGS_FILE})")
        path = DEMO_SETTINGS_FILE
    return open_lake(path)
