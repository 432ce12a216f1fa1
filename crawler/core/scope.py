"""What may be crawled: hosts, schemes, ports and path rules of the `[scope]` settings.

The same rules exist twice on purpose: `decide` in Python for one URL, `host_rules` as regexes for a query over many.
Out of scope deletes nothing; it only keeps a URL out of a plan.
"""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from crawler.core.config import ScopeSettings
from crawler.core.errors import BadSettings
from crawler.core.patterns import host_pattern, is_host_of, path_regex

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
        return any(is_host_of(pattern, host) for pattern in self._hosts)

    def host_rules(self, host: str, *, any_host: bool = False) -> list[HostRule]:
        """The path rules of a host in order; the first whose regex matches path and query decides.

        The last one has no regex. any_host: give the rules also where the host is out of scope (for hops).
        """
        if not any_host and not self.covers(host):
            return [(0, False, None, OUT_OF_SCOPE)]
        rules = [rule for rule in self._rules if is_host_of(rule.host, host)]
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


def _host_pattern(text: str) -> str:
    try:
        return host_pattern(text)
    except ValueError as error:
        cure = "Write `example.org`, `*.example.org` or `domain:example.org`, without port"
        raise BadSettings("scope", str(error), cure) from error
