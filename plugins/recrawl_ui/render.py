"""Makes HTML of plain values. Everything is escaped: hosts, URLs and titles come from strangers.

Characters that a browser would obey or hide (controls, direction marks) are shown as their escapes besides.
"""

from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

NOTHING = "\N{EN DASH}"
_UNITS = ("B", "kB", "MB", "GB", "TB")


def render(template: str, **values: Any) -> str:
    """The text of `templates/<template>` with `values`."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    from crawler.cli.show import printable

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    environment.filters.update(count=count, percent=percent, volume=volume, when=when, age=age, number=number)
    return environment


def count(value: float | None) -> str:
    """12345 as `12,345`; nothing for None."""
    return "" if value is None else f"{value:,.0f}"


def percent(part: float | None, whole: float | None) -> str:
    """`part` of `whole` as `12.3 %`, never rounded up to 100 %; a dash without a whole."""
    if not whole or part is None:
        return NOTHING
    share = 100 * part / whole
    return "100 %" if part == whole else f"{min(share, 99.9):.1f} %"


def number(value: float | None, unit: str = "") -> str:
    """A measured value with its unit; a dash for None."""
    if value is None:
        return NOTHING
    return f"{value:.3g} {unit}".strip() if abs(value) < 1000 else f"{value:,.0f} {unit}".strip()


def age(days: float | None) -> str:
    """An age in days as `20 min`, `5.0 h` or `2.3 d`; a dash for None."""
    if days is None:
        return NOTHING
    if days < 1 / 24:
        return f"{max(days, 0) * 1440:.0f} min"
    return f"{days * 24:.1f} h" if days < 1 else f"{days:.1f} d"


def volume(size: float | None) -> str:
    """Bytes as `1.2 MB`; nothing for None."""
    if size is None:
        return ""
    power = 0
    while size >= 1000 and power < len(_UNITS) - 1:
        size, power = size / 1000, power + 1
    return f"{size:.0f} {_UNITS[power]}" if size >= 100 or not power else f"{size:.1f} {_UNITS[power]}"


def when(instant: str | datetime | None) -> str:
    """An instant as `2026-11-25 07:30`, UTC."""
    if not instant:
        return NOTHING
    return f"{datetime.fromisoformat(instant) if isinstance(instant, str) else instant:%Y-%m-%d %H:%M}"
