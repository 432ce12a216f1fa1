"""Patterns of settings: which hosts, and which paths of them, a rule is for. Pure functions.

A host is written `example.org` (that host), `*.example.org` (its subdomains as well), `domain:example.org` (its
registrable domain) or `*` (all). A path pattern follows robots.txt: a prefix of path and query, `*` for any run, a
final `$` for the end.
"""

import re
from functools import lru_cache

from tldextract import TLDExtract

from crawler.core.urls import CanonicalUrl, canonicalize, normalise_path


def host_pattern(text: str) -> str:
    """`text` with its host in canonical form: lower case, IDNA. Raises ValueError for what is no host."""
    if text == "*":
        return text
    kind = next((kind for kind in ("*.", "domain:") if text.startswith(kind)), "")
    host = canonicalize(f"http://{text.removeprefix(kind)}:1/")  # a second port makes it unreadable
    if not isinstance(host, CanonicalUrl) or host.url != f"http://{host.host}:1/":
        raise ValueError(f"{text!r} is no host")
    return kind + host.host


def is_host_of(pattern: str, host: str) -> bool:
    """Whether `pattern`, as `host_pattern` gives it, is for the canonical `host`."""
    if pattern == "*":
        return True
    if pattern.startswith("*."):
        return host == pattern[2:] or host.endswith(pattern[1:])
    if pattern.startswith("domain:"):
        return registrable_domain(host) == pattern.removeprefix("domain:")
    return host == pattern


def check_path_pattern(pattern: str) -> None:
    """Raise ValueError for a path pattern that can match no path."""
    if not pattern.startswith(("/", "*")):
        raise ValueError(f"pattern {pattern!r} starts with neither `/` nor `*`")


def path_regex(pattern: str) -> str:
    """The regex (the same in Python and RE2) of a path pattern; it begins with `^`."""
    anchored = pattern.endswith("$")
    runs = re.split(r"\*+", pattern.removesuffix("$") if anchored else pattern)
    return "^" + ".*".join(re.escape(normalise_path(run)) for run in runs) + ("$" if anchored else "")


@lru_cache(maxsize=65_536)
def registrable_domain(host: str) -> str:
    """The public suffix and one label more, e.g. `example.co.uk`; the host itself where there is none."""
    return _public_suffixes(host).top_domain_under_public_suffix or host


# No list is downloaded: the snapshot inside the package decides, the same on every machine.
_public_suffixes = TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)
