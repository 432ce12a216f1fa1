"""The settings in words: a settings file with every key explained, and the page docs/settings.md.

Reads the models of `crawler.core.config` only, so that neither can lag behind them.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic.fields import FieldInfo

from crawler.core import config
from crawler.core.config import Settings

_UNITS = {
    **{word: word for word in ("seconds", "bytes", "hours", "days", "pages", "hops")},
    "urls": "URLs",
    "length": "characters",
    "share": "share, 0 to 1",
    "factor": "factor",
}
_EXAMPLE_HOST = '"example.org"'
_FILE_HEAD = """\
# Settings of one crawl. `#key = value` shows a default; remove the # to change it.
# RECRAWL_SECTION__KEY in the environment wins over this file, e.g. RECRAWL_PLAN__BUDGET_URLS=5000.
"""
_PAGE_HEAD = """\
# Settings

Generated from `crawler/core/config.py` by `make docs`; do not edit.

`recrawl.toml` is read once, when a command or a task starts. `recrawl init` writes one with every key in it.
`--settings` or `RECRAWL_SETTINGS` names another file. A variable `RECRAWL_SECTION__KEY` wins over the file, e.g.
`RECRAWL_PLAN__BUDGET_URLS=5000`; its value is TOML, or a plain string. Relative paths are relative to the file.
An unknown key is an error that names the nearest known one.
"""


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a section: its name, its default and an example as TOML, its unit, its range and its meaning."""

    name: str
    default: str
    example: str
    unit: str
    limits: str
    meaning: str


def settings_file(*, user_agent: str = "") -> str:
    """A `recrawl.toml` that holds every key as a comment, and `crawl.user_agent` to be filled in."""
    lines = [_FILE_HEAD]
    for heading, _, keys in sections():
        if heading == "crawl":
            lines += ["[crawl]", *_wrapped(keys[0]), f"user_agent = {json.dumps(user_agent)}", ""]
            continue
        lines.append(f"[{heading}]" if "NAME" not in heading else f"#[{heading.replace('NAME', _EXAMPLE_HOST)}]")
        for key in keys:
            lines += [*_wrapped(key), f"#{key.name} = {key.default or key.example}"]
        lines.append("")
    return "\n".join(lines)


def settings_page() -> str:
    """The text of docs/settings.md."""
    parts = [_PAGE_HEAD]
    for heading, meaning, keys in sections():
        parts.append(f"## [{heading.replace('NAME', _EXAMPLE_HOST)}]\n\n{meaning}\n")
        parts.append("| key | default | unit | range | meaning and consequence |\n| --- | --- | --- | --- | --- |")
        parts += [
            f"| `{key.name}` | {f'`{key.default}`' if key.default else 'none'} | {key.unit} | {key.limits} "
            f"| {key.meaning.replace('|', chr(92) + '|')} |"
            for key in keys
        ]
        parts.append("")
    return "\n".join(parts)


def sections() -> Iterator[tuple[str, str, list[Key]]]:
    """Every section as (heading, meaning, keys), in the order of the models; `host.NAME` stands for any host."""
    for name, model in config.sections().items():
        heading = name if Settings.model_fields[name].annotation is model else f"{name}.NAME"
        meaning = " ".join((model.__doc__ or "").split())
        yield heading, meaning, [_key(key, field) for key, field in model.model_fields.items()]


def _key(name: str, field: FieldInfo) -> Key:
    unit = next((meaning for suffix, meaning in _UNITS.items() if name.rpartition("_")[2] == suffix), "")
    default = _toml(field.get_default(call_default_factory=True))
    example = _toml((field.examples or [None])[0])
    return Key(name, default, example, unit, _limits(field), field.description or "")


def _limits(field: FieldInfo) -> str:
    words = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
    found = [
        f"{words[name]} {getattr(limit, name)}" for limit in field.metadata for name in words if hasattr(limit, name)
    ]
    return ", ".join(found)


def _toml(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{}"
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


def _wrapped(key: Key) -> list[str]:
    lines = [""]
    for word in " ".join((key.meaning, f"({key.limits})" if key.limits else "")).split():
        if len(lines[-1]) + len(word) > 115:
            lines.append("")
        lines[-1] += f" {word}"
    return [f"#{line}" for line in lines]
