"""What may be crawled: hosts, schemes, ports and path rules of the `[scope]` settings.

The same rules exist twice on purpose: `decide` in Python for one URL, `host_rules` as regexes for a query over many.
Patterns follow robots.txt: a prefix of path and query, `*` for any run, a final `$` for the end.
Out of scope deletes nothing; it only keeps a URL out of a plan.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from tldextract import TLDExtract

from crawler.core.config import ScopeSettings
from crawler.core.errors import BadSettings
from crawler.core.urls import CanonicalUrl, canonicalize, normalise_path

HostRule = tuple[int, bool, str | None, str]
"""Ordinal, whether it allows, regex anchored at the start (None: every path), name."""

OUT_OF_SCOPE = "scope.hosts"
BY_DEFAULT = "scope.default"


@dataclass(frozen=True, slots=True)
class _Rule:
    allow: bool
    host: str
    regex: str
    name: str


class Scope:
    """The scope of one crawl. Raises BadSettings for a host that is none."""

    def __init__(self, settings: ScopeSettings, seed_hosts: frozenset[str]) -> None:
        self._hosts = tuple(_host_pattern(host) for host in settings.hosts)
        self._seed_hosts = seed_hosts
        self._schemes = frozenset(settings.schemes)
        self._ports = frozenset(settings.ports)
        self._rules = tuple(
            _Rule(
                allow=bool(rule.allow),
                host=_host_pattern(rule.host),
                regex=path_regex(rule.pattern),
                name=f"scope.rules {'allow' if rule.allow else 'deny'} {rule.pattern}",
            )
            for rule in settings.rules
        )

    def covers(self, host: str) -> bool:
        """Whether the host is in scope. Without `scope.hosts`: whether a seed is on it."""
        if not self._hosts:
            return host in self._seed_hosts
        return any(_matches(pattern, host) for pattern in self._hosts)

    def host_rules(self, host: str, *, any_host: bool = False) -> list[HostRule]:
        """The path rules of a host in order; the first whose regex matches path and query decides.

        The last one has no regex. any_host: give the rules also where the host is out of scope (for hops).
        """
        if not any_host and not self.covers(host):
            return [(0, False, None, OUT_OF_SCOPE)]
        rules = [rule for rule in self._rules if _matches(rule.host, host)]
        found: list[HostRule] = [(n, rule.allow, rule.regex, rule.name) for n, rule in enumerate(rules)]
        return [*found, (len(rules), True, None, BY_DEFAULT)]

    def decide(self, url: str, *, any_host: bool = False) -> tuple[bool, str]:
        """Whether a canonical URL is in scope, and the name of the rule that says so."""
        parts = urlsplit(url)
        if parts.scheme not in self._schemes:
            return False, "scope.schemes"
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
        if self._ports and (parts.port or (443 if parts.scheme == "https" else 80)) not in self._ports:
            return False, "scope.ports"
        path_and_query = url.split("/", 3)[3:]
        text = "/" + (path_and_query[0] if path_and_query else "")
        for _, allow, regex, name in self.host_rules(host, any_host=any_host):
            if regex is None or re.match(regex, text):
                return allow, name
        raise AssertionError("the last rule of a host has no regex")


def path_regex(pattern: str) -> str:
    """The regex (the same in Python and RE2) of a path pattern; it begins with `^`."""
    anchored = pattern.endswith("$")
    runs = re.split(r"\*+", pattern.removesuffix("$") if anchored else pattern)
    return "^" + ".*".join(re.escape(normalise_path(run)) for run in runs) + ("$" if anchored else "")


def _host_pattern(text: str) -> str:
    """`text` with its host in canonical form: lower case, IDNA."""
    if text == "*":
        return text
    kind = next((kind for kind in ("*.", "domain:") if text.startswith(kind)), "")
    host = canonicalize(f"http://{text.removeprefix(kind)}:1/")  # a second port makes it unreadable
    if not isinstance(host, CanonicalUrl) or host.url != f"http://{host.host}:1/":
        cure = "Write `example.org`, `*.example.org` or `domain:example.org`, without port"
        raise BadSettings("scope", f"{text!r} is no host", cure)
    return kind + host.host


def _matches(pattern: str, host: str) -> bool:
    if pattern == "*":
        return True
    if pattern.startswith("*."):
        return host == pattern[2:] or host.endswith(pattern[1:])
    if pattern.startswith("domain:"):
        return registrable_domain(host) == pattern.removeprefix("domain:")
    return host == pattern


@lru_cache(maxsize=65_536)
def registrable_domain(host: str) -> str:
    """The public suffix and one label more, e.g. `example.co.uk`; the host itself where there is none."""
    return _public_suffixes(host).top_domain_under_public_suffix or host


# No list is downloaded: the snapshot inside the package decides, the same on every machine.
_public_suffixes = TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)
