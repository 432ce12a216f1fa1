"""Settings: read once at the edge from `recrawl.toml` and `RECRAWL_*` variables, then frozen.

Every key carries its unit and its consequence; `docs/settings.md` is generated from them.
"""

import difflib
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, get_args

from pydantic import Field, ValidationError, field_validator

from crawler.core.errors import BadSettings, NoContact
from crawler.core.fetch_settings import FetchSettings, HostSettings, PolitenessSettings
from crawler.core.patterns import check_path_pattern, host_pattern
from crawler.core.plan_settings import PlanSettings
from crawler.core.references import origin_parts
from crawler.core.section import Section
from crawler.core.sitemap_settings import SitemapSettings
from crawler.core.upkeep_settings import UpkeepSettings
from crawler.core.url_rules import UrlRules, url_rules
from crawler.core.url_settings import UrlSettings

ENVIRONMENT_PREFIX = "RECRAWL_"
_CONTACT = re.compile(r"https?://\S+|\S+@\S+\.\S+")
_TOKEN = re.compile(r"[A-Za-z_-]+")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_UNSHOWN = frozenset({"credentials", "headers", "proxy", "proxy_credentials"})  # may hold a secret by mistake


class CrawlSettings(Section):
    """Who we are."""

    user_agent: str = Field(
        default="",
        description="Sent with every request; starts with the product token that robots.txt rules name, and must "
        "hold a URL or an e-mail address where a site can reach you.",
    )

    @property
    def product_token(self) -> str:
        """The product token of RFC 9309 2.2.1: the leading letters, `-` and `_` of the user agent."""
        found = _TOKEN.match(self.user_agent)
        return found.group() if found else ""


class LakeSettings(Section):
    """Where everything is kept."""

    root: str = Field(default="lake", description="Folder of the lake; relative to the settings file.")
    buckets: int = Field(
        default=8,
        ge=1,
        le=1024,
        description="Number of buckets, a power of two; fixed when the lake is made. Each is one mapped task.",
    )
    checkpoint_share: float = Field(
        default=0.2,
        gt=0,
        description="A bucket's state is materialised when its log holds about this share of the checkpoint's rows: "
        "lower reads less and writes more. By up to a quarter more or less from bucket to bucket.",
    )

    checkpoint_min_rows: int = Field(
        default=5_000, ge=1, description="Rows that a bucket's log must hold before a checkpoint is written at all."
    )

    seen_false_positive_rate: float = Field(
        default=0.001,
        gt=0,
        le=0.5,
        description="Share of the new URLs that the seen filter of a bucket takes for known: they are fetched a day "
        "later than they might be, never lost. 0.001 takes three bytes a URL, in the lake and in the memory of a "
        "fetch; a tenth of it one more.",
    )

    min_free_bytes: int = Field(
        default=0,
        ge=0,
        description="Free space on the lake's disk without which no cycle begins. 0: twice what the newest published "
        "cycle wrote, and its checkpoints again.",
    )

    @field_validator("buckets")
    @classmethod
    def _power_of_two(cls, buckets: int) -> int:
        if buckets & (buckets - 1):
            raise ValueError("is no power of two (1, 2, 4, 8, ... 1024)")
        return buckets


class ScopeRule(Section):
    """One line of the scope; the first that matches decides."""

    allow: str = Field(default="", description="Path pattern to crawl.")
    deny: str = Field(default="", description="Path pattern to leave out.")
    host: str = Field(default="*", description="Hosts it is for, written as in scope.hosts; `*` is all.")

    @property
    def pattern(self) -> str:
        return self.allow or self.deny

    def model_post_init(self, _context: object) -> None:
        if bool(self.allow) == bool(self.deny):
            raise ValueError("needs exactly one of allow and deny")
        check_path_pattern(self.pattern)


class ScopeSettings(Section):
    """What may be crawled. Checked when a URL is found and again when it is planned."""

    hosts: tuple[str, ...] = Field(
        default=(),
        description="Hosts in scope: `example.org` (that host), `*.example.org` (its subdomains as well), "
        "`domain:example.org` (its registrable domain). Empty: the seeds' hosts.",
    )
    schemes: tuple[str, ...] = Field(default=("http", "https"), description="URL schemes in scope.")
    ports: tuple[int, ...] = Field(default=(), description="Ports in scope. Empty: any.")
    rules: tuple[ScopeRule, ...] = Field(
        default=(),
        description='Path rules, first match wins, default allow: `{allow = "/docs/"}`, `{deny = "*.zip$"}`; '
        "prefix match with `*` and a final `$` as in robots.txt.",
    )
    max_hops: int = Field(
        default=0, ge=0, description="How many links away from the hosts in scope a URL of another host may be."
    )


NEAR_BITS = 3
"""Bits of 64 by which two SimHashes may differ that are near; docs/near-duplicates.md says why."""


class CopySettings(Section):
    """When two pages count as copies."""

    min_text_bytes: int = Field(
        default=256,
        ge=0,
        description="Main text shorter than this (UTF-8 bytes) makes no page a copy of another, and gets no SimHash; "
        "equal bodies are copies at any length.",
    )
    max_distance: int = Field(
        default=NEAR_BITS,
        ge=0,
        le=6,
        description="Bits by which the SimHashes of near copies may differ. They are grouped and shown, never dropped. "
        "Each bit more makes the search dearer and groups more pages that only share a template; 0: no search. "
        f"On a noisy host a page has not changed within as many bits ({NEAR_BITS} without a search).",
    )

    @property
    def noise_bits(self) -> int:
        """Bits by which the SimHashes of two versions of a page may differ that count as one on a noisy host."""
        return self.max_distance or NEAR_BITS


class TrapSettings(Section):
    """Limits on URLs that a site can make without end. `recrawl sql traps` tells what they stop; none stops a seed."""

    max_depth: int = Field(default=30, ge=1, description="Links from a seed.")
    max_url_length: int = Field(default=2000, ge=100, description="Characters of a canonical URL.")
    max_path_segments: int = Field(default=20, ge=1, description="Segments of a URL's path.")
    max_repeated_segments: int = Field(
        default=3,
        ge=1,
        description="Times that one path segment, or one query parameter's name, may occur in a URL; a sequence of "
        "segments (`/a/b/a/b/a/b`) must stay below it.",
    )
    max_query_parameters: int = Field(default=12, ge=0, description="Query parameters of a URL.")
    max_years_ahead: int = Field(
        default=3,
        ge=0,
        description="Years after the day on which it is found that a date in a URL may lie, if it is a whole path "
        "segment or parameter value like `2031-12` or `2031-12-24`: a calendar's pages have no end. 0: any date.",
    )
    max_urls_per_host: int = Field(default=1_000_000, ge=1, description="Known URLs of one host.")
    max_urls_per_pattern: int = Field(
        default=500,
        ge=1,
        description="Pages of one path pattern (digits and long tokens folded) that are fetched on trust. A pattern "
        "gets more as its pages bring new texts: up to its distinct texts divided by `min_new_share`.",
    )
    min_new_share: float = Field(
        default=0.1,
        gt=0,
        le=1,
        description="Share of distinct main texts among the fetched pages of a pattern, or of a host, below which new "
        "content in it is rare. Lower wastes more fetches; higher stops parts of sites that repeat themselves.",
    )
    max_urls_per_text: int = Field(
        default=100,
        ge=1,
        description="Pages of one host with the same main text (pages that answer 200 for what does not exist, "
        "sessions, calendars). Links of such pages are not followed beyond it, nor further ones fetched again.",
    )
    max_query_combinations: int = Field(
        default=3,
        ge=1,
        description="Sets of two and more query parameters that one path is linked with. With more, and more than "
        "`max_urls_per_value` URLs for each value of its most varied parameter, it is a faceted search: it gets "
        "`max_urls_per_pattern` such URLs.",
    )
    max_urls_per_value: int = Field(default=10, ge=1, description="See `max_query_combinations`.")
    max_barren_pages_per_host: int = Field(
        default=1_000,
        ge=1,
        description="Pages of one host after which the share of distinct texts among them counts: below "
        "`min_new_share`, a cycle plans no more URLs of the host than it has distinct texts.",
    )
    exempt_hosts: tuple[str, ...] = Field(
        default=(),
        description="Hosts, written as in scope.hosts, whose patterns, texts and queries are not counted: the limits "
        "per pattern, text and query do not hold there, nor does it lose budget.",
    )

    @field_validator("exempt_hosts")
    @classmethod
    def _are_hosts(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(host_pattern(host) for host in hosts)


class EngineSettings(Section):
    """DuckDB, in each task."""

    threads: int = Field(default=2, ge=1, description="Threads of one task's DuckDB.")
    memory_limit: str = Field(default="1GB", description="Memory of one task's DuckDB; beyond it spills to disk.")


class ClockSettings(Section):
    """What time it is."""

    simulated: str = Field(
        default="", description="Path of a simulated clock's file; empty: the machine's clock. For demos and tests."
    )


class Settings(Section):
    """All settings of one crawl. Frozen; paths are absolute once loaded."""

    crawl: CrawlSettings = CrawlSettings()
    lake: LakeSettings = LakeSettings()
    scope: ScopeSettings = ScopeSettings()
    urls: UrlSettings = UrlSettings()
    fetch: FetchSettings = FetchSettings()
    politeness: PolitenessSettings = PolitenessSettings()
    plan: PlanSettings = PlanSettings()
    copies: CopySettings = CopySettings()
    traps: TrapSettings = TrapSettings()
    sitemaps: SitemapSettings = SitemapSettings()
    upkeep: UpkeepSettings = UpkeepSettings()
    engine: EngineSettings = EngineSettings()
    clock: ClockSettings = ClockSettings()
    host: Annotated[dict[str, HostSettings], Field(default_factory=dict)]

    @field_validator("host")
    @classmethod
    def _secrets_stay_home(cls, hosts: dict[str, HostSettings]) -> dict[str, HostSettings]:
        for name, own in hosts.items():
            for origin in own.secret_origins:
                if origin_parts(origin)[1] != name.lower().strip("[]"):
                    raise ValueError(f"host {name!r} has the secret origin {origin!r}, which is another host")
        return hosts

    @property
    def url_rules(self) -> UrlRules:
        """What `urls` and `host` say of URLs; made anew at each call, so a caller that needs it often keeps it."""
        return url_rules(self.urls, self.host)

    def require_contact(self) -> None:
        """Raise NoContact unless the user agent has a product token and says whom to write to."""
        if not self.crawl.product_token or not _CONTACT.search(self.crawl.user_agent):
            raise NoContact(self.crawl.user_agent)


def load_settings(path: str | os.PathLike[str], environment: Mapping[str, str] | None = None) -> Settings:
    """The settings in the TOML file at `path`, with `RECRAWL_SECTION__KEY` of `environment` laid over them.

    Relative paths in the file are relative to its folder. Raises BadSettings, which names the nearest known key.
    """
    path = Path(path).resolve()
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise BadSettings(
            path, "there is no such file", "Run `recrawl init` or name another with --settings"
        ) from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadSettings(path, str(error), "Correct the file; it is TOML") from error
    variables = _overlay(tables, os.environ if environment is None else environment)
    settings = parse_settings(tables, where=" with ".join([str(path), *variables]))
    return _absolute(settings, path.parent)


def parse_settings(tables: Mapping[str, Any], *, where: str = "given") -> Settings:
    """Validate `tables`. Raises BadSettings for the first problem, with `where` in its message."""
    try:
        return Settings.model_validate(dict(tables))
    except ValidationError as error:
        unknown_first = sorted(error.errors(), key=lambda found: found["type"] != "extra_forbidden")
        problem = unknown_first[0]  # a key that is missing may be a misspelt one
        if problem["type"] == "extra_forbidden":
            raise BadSettings(where, f"unknown key {_dotted(problem['loc'])}", _nearest(problem["loc"])) from error
        said = "is no table" if problem["type"] in ("model_type", "dict_type") else problem["msg"]
        is_shown = _UNSHOWN.isdisjoint(problem["loc"]) and not isinstance(problem["input"], dict)
        found = f" = {problem['input']!r}" if is_shown else ""
        raise BadSettings(
            where,
            f"{_dotted(problem['loc'])}{found}: {said.removeprefix('Value error, ')}",
            "See docs/settings.md for its unit and range",
        ) from error


def sections() -> dict[str, type[Section]]:
    """Every table of the settings file with its model, in the order of the documentation."""
    return {name: _section_of(field.annotation) for name, field in Settings.model_fields.items()}


def _nearest(location: Sequence[str | int]) -> str:
    """What was probably meant by the unknown key at `location`: a sister, else a key of another table."""
    *path, wrong = map(str, location)
    section: type[Section] = Settings
    for part in path:
        if part in section.model_fields:
            section = _section_of(section.model_fields[part].annotation)
    general_first = reversed(sections().items())  # a key of several tables is meant in the general one
    elsewhere = {key: f"{name}.{key}" for name, model in general_first for key in model.model_fields}
    sisters = difflib.get_close_matches(wrong, section.model_fields, n=1, cutoff=0.6)
    if sisters and wrong not in elsewhere:
        return f"Did you mean {_dotted([*location[:-1], sisters[0]])}?"
    close = difflib.get_close_matches(wrong, elsewhere, n=1, cutoff=0.6)
    if close:
        return f"Did you mean {elsewhere[close[0]]}?"
    return f"Known {'keys' if path else 'tables'} there: {', '.join(section.model_fields)}"


def _section_of(annotation: Any) -> type[Section]:
    """The model behind a field: its own, or that of the values of a table or a list."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation
    models = [_section_of(inner) for inner in get_args(annotation)]
    return next((model for model in models if model is not Section), Section)


def _dotted(location: Sequence[str | int]) -> str:
    """`location` as a TOML file would write it, e.g. `host."example.org".delay_seconds`."""
    return ".".join(
        str(part) if isinstance(part, int) or _BARE_KEY.fullmatch(part) else f'"{part}"' for part in location
    )


def _overlay(tables: dict[str, Any], environment: Mapping[str, str]) -> list[str]:
    """Lay the variables over `tables`; returns the names of those that were taken."""
    taken = []
    for variable, text in environment.items():
        if not variable.startswith(ENVIRONMENT_PREFIX) or "__" not in variable:
            continue
        section, _, key = variable.removeprefix(ENVIRONMENT_PREFIX).lower().partition("__")
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = text
        table = tables.setdefault(section, {})
        if isinstance(table, dict):  # else validation names the file's mistake
            table[key] = value
            taken.append(variable)
    return taken


def _absolute(settings: Settings, folder: Path) -> Settings:
    root = settings.lake.root
    if "://" not in root:
        root = str(folder / root)
    clock = settings.clock.simulated
    return settings.model_copy(
        update={
            "lake": settings.lake.model_copy(update={"root": root}),
            "clock": settings.clock.model_copy(update={"simulated": str(folder / clock) if clock else ""}),
        }
    )
