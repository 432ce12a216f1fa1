"""What a settings file may say of secrets, headers and proxies: a reference, never the secret itself.

Checks only, each of which raises ValueError with what was expected and never repeats the text that it was given: it
may be a password that somebody wrote where a reference belongs.
"""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

DIRECT = "direct"
"""The proxy of a host that is asked without one although there is a general one."""

_REFERENCE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*|airflow:[A-Za-z0-9_.\-]+")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"[\x21-\x7e\xa0-\xff](?:[\t\x20-\x7e\xa0-\xff]*[\x21-\x7e\xa0-\xff])?")
_SECRET_HEADERS = frozenset({"authorization", "cookie"})
# What says whom we are, how a body is framed or coded, or what is known of a page is not a host's to change.
_OWN_HEADERS = frozenset(
    {
        "user-agent", "host", "connection", "keep-alive", "content-length", "content-type", "transfer-encoding", "te",
        "trailer", "upgrade", "expect", "accept-encoding", "range", "if-range", "if-match", "if-none-match",
        "if-modified-since", "if-unmodified-since",
    }
)  # fmt: skip


def is_reference(text: str) -> bool:
    """Whether `text` names a secret instead of being a value."""
    return text.startswith(("env:", "airflow:"))


def check_reference(text: str) -> str:
    """`text` if it is a reference. Raises ValueError."""
    if not _REFERENCE.fullmatch(text):
        raise ValueError("is no reference; expected env:NAME or airflow:CONN_ID, never the secret itself")
    return text


def check_headers(headers: Mapping[str, str]) -> None:
    """Raise ValueError for a header that must not be set for a host, or that no server could read."""
    for name, value in headers.items():
        lower = name.lower()
        if not _HEADER_NAME.fullmatch(name):
            raise ValueError(f"header {name!r} is no header's name")
        if lower in _OWN_HEADERS or lower.startswith("proxy-"):
            raise ValueError(f"header {name} is set by the crawler itself")
        if is_reference(value):
            check_reference(value)
        elif lower in _SECRET_HEADERS:
            raise ValueError(f"header {name} holds a secret; expected a reference like env:NAME")
        elif not is_header_value(value):
            raise ValueError(f"header {name} holds characters that no header may hold")
    if len({name.lower() for name in headers}) < len(headers):
        raise ValueError("a header is set twice")


def is_header_value(text: str) -> bool:
    """Whether `text` can stand in a header as it is (RFC 9110 5.5)."""
    return _HEADER_VALUE.fullmatch(text) is not None


def check_proxy(url: str) -> str:
    """`url` if it is that of an HTTP proxy. Raises ValueError."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError("is no proxy; expected http://HOST:PORT") from None
    if "@" in url:
        raise ValueError("holds credentials; write them by reference in proxy_credentials")
    if parts.scheme != "http" or not host or port is None or parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError("is no proxy; expected http://HOST:PORT")
    return url


def origin_parts(origin: str) -> tuple[str, str, int]:
    """Scheme, host (without brackets) and port of `scheme://host[:port]`. Raises ValueError."""
    try:
        parts = urlsplit(origin)
        port = parts.port
    except ValueError:
        raise ValueError(f"{origin!r} is no origin; expected https://HOST or https://HOST:PORT") from None
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    rest = (parts.path.strip("/"), parts.query, parts.fragment, parts.username)
    if usual is None or not parts.hostname or any(rest):
        raise ValueError(f"{origin!r} is no origin; expected https://HOST or https://HOST:PORT")
    return parts.scheme, parts.hostname, port or usual
