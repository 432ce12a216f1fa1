"""Which parameters of a URL name a visit instead of a page, and what a host's settings say of its paths.

Reads `dropped_parameters.txt` once, when it is imported; the settings come as values. Built once from them, given to
whoever makes identities, and pickled to the processes that read pages. Parses no URL.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from ada_url import URL

from crawler.core.escapes import encode, normalise_escapes

if TYPE_CHECKING:  # parse workers import this module, and have no use for what settings are checked with
    from crawler.core.url_settings import HostUrlSettings, UrlSettings

DATA_FILE = "dropped_parameters.txt"
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,}")
_LETTERS = re.compile(r"(?:%[0-9A-F]{2})+|[A-Z]+")


class _Word(NamedTuple):
    """What is done with the parameters of one name. rule: who says so, e.g. `dropped_parameters.txt query utm_*`."""

    drops: bool
    rule: str
    tokens_only: bool = False


@dataclass(frozen=True, slots=True)
class HostRules:
    """The rules for the URLs of one host: by exact name, then by how a name begins, the strongest first.

    path_sessions: finds what names a session in a path. changes_paths: whether `letters` or `slash` may change one.
    """

    exact: Mapping[str, _Word]
    prefixes: tuple[tuple[str, _Word], ...]
    path_sessions: re.Pattern[str]
    ignore_path_case: bool = False
    trailing_slash: str = "keep"
    changes_paths: bool = field(init=False, compare=False)
    _starts: tuple[str, ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "changes_paths", self.ignore_path_case or self.trailing_slash != "keep")
        object.__setattr__(self, "_starts", tuple(start for start, _ in self.prefixes))

    def dropped_by(self, name: str, value: str) -> str | None:
        """The rule that drops the query parameter `name`, in lower case, with `value`; None if it is kept."""
        word = self.exact.get(name)
        if word is None:
            if not name.startswith(self._starts):
                return None
            word = next(word for start, word in self.prefixes if name.startswith(start))
        if not word.drops or (word.tokens_only and _TOKEN.fullmatch(value) is None):
            return None
        return word.rule

    def letters(self, path: str) -> str:
        """The path, whose escapes are normal, in lower case if the host's settings ignore case."""
        return _LETTERS.sub(_lower_letters, path) if self.ignore_path_case else path

    def slash(self, path: str) -> str:
        """The path with or without its final slash, as the host's settings want it. A file's name gets none."""
        if self.trailing_slash == "drop":
            return path.rstrip("/") or "/"
        if self.trailing_slash == "add" and "." not in path[path.rfind("/") :]:
            return path if path.endswith("/") else f"{path}/"
        return path


@dataclass(frozen=True, slots=True, eq=False)
class UrlRules:
    """The rules of all hosts. Compared by identity, so that what is remembered under it costs no comparison."""

    everywhere: HostRules
    hosts: Mapping[str, HostRules] = field(default_factory=dict)

    def of(self, host: str) -> HostRules:
        """The rules for a host as it stands in a canonical URL."""
        return self.hosts.get(host, self.everywhere)

    @property
    def is_default(self) -> bool:
        """Whether no setting says anything."""
        return not self.hosts and not self.changes_queries_everywhere

    @property
    def changes_queries_everywhere(self) -> bool:
        """Whether the settings say something about parameters of all hosts."""
        return self.everywhere != NO_RULES.everywhere


def url_rules(everywhere: "UrlSettings", hosts: "Mapping[str, HostUrlSettings]") -> UrlRules:
    """The rules that the settings `urls` and `host` make; `NO_RULES` if they say nothing."""
    general = _named(everywhere, "urls")
    own = {
        _host(name): _rules([*_named(settings, f'host."{name}"'), *general], settings)
        for name, settings in hosts.items()
        if _says_something(settings)
    }
    if not own and not general:
        return NO_RULES
    return UrlRules(_rules(general) if general else NO_RULES.everywhere, own)


def _says_something(settings: "HostUrlSettings") -> bool:
    from crawler.core.url_settings import HostUrlSettings

    unset = HostUrlSettings()
    return any(getattr(settings, key) != getattr(unset, key) for key in HostUrlSettings.model_fields)


def _host(name: str) -> str:
    """A host of the settings as canonical URLs write it; what is no host stays as it is, and is never met."""
    try:
        return URL(f"http://[{name}]/" if ":" in name and name[0] != "[" else f"http://{name}/").hostname.removesuffix(
            "."
        )
    except ValueError:
        return name


_Named = tuple[str, _Word]


def _named(settings: "UrlSettings", where: str) -> list[_Named]:
    """What one table of the settings says, the stronger first."""
    kept = [(_as_found(name), _Word(False, f"{where}.keep_parameters {name}")) for name in settings.keep_parameters]
    dropped = [(_as_found(name), _Word(True, f"{where}.drop_parameters {name}")) for name in settings.drop_parameters]
    return kept + dropped


def _as_found(name: str) -> str:
    """A parameter's name as it is compared: its escapes as canonical URLs write them, in lower case."""
    return normalise_escapes(encode(name)).lower()


def _rules(named: Iterable[_Named], settings: "HostUrlSettings | None" = None) -> HostRules:
    """What `named` says, the stronger first, and after it the file."""
    exact: dict[str, _Word] = {}
    prefixes: list[tuple[str, _Word]] = []
    for name, word in [*named, *_QUERY]:
        if any(name.startswith(start) for start, _ in prefixes):
            continue  # something stronger has decided it
        if name.endswith("*"):
            prefixes.append((name[:-1], word))
        else:
            exact.setdefault(name, word)
    kept = {name for name, word in named if not word.drops}
    names = [name for name in _PATH if name not in kept and not any(map(name.startswith, _starts(kept)))]
    sessions = re.compile(rf";(?:{'|'.join(map(re.escape, names)) or '(?!)'})=[^;/]*", re.IGNORECASE)
    if settings is None:
        return HostRules(exact, tuple(prefixes), sessions)
    return HostRules(exact, tuple(prefixes), sessions, settings.ignore_path_case, settings.trailing_slash)


def _starts(names: Iterable[str]) -> list[str]:
    return [name[:-1] for name in names if name.endswith("*")]


def _lower_letters(found: re.Match[str]) -> str:
    text = found.group()
    return text if text[0] == "%" else text.lower()


def _read_file() -> tuple[list[_Named], list[str]]:
    """The names that are dropped from queries, and those that are dropped from paths."""
    query: list[_Named] = []
    path = []
    for line in files("crawler.core").joinpath(DATA_FILE).read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            kind, name = line.split()
            if kind == "path":
                path.append(name)
            else:
                query.append((name, _Word(True, f"{DATA_FILE} {kind} {name}", tokens_only=kind == "token")))
    return query, path


_QUERY, _PATH = _read_file()
NO_RULES = UrlRules(_rules(()))
"""What holds without settings: the file alone."""
