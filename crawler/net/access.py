"""What a host gets besides what every host gets, and the way there: headers, credentials, proxies.

Decides by the place that a request goes to and by nothing else, so what is meant for one host, scheme and port is sent
to no other, whatever redirects there. Sends nothing itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from crawler.core.config import Settings
from crawler.core.fetch_settings import HostSettings
from crawler.core.references import DIRECT, is_reference, origin_parts
from crawler.core.secrets import Secret, Secrets

_NONE: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy. secret: the value of Proxy-Authorization, None without one."""

    host: str
    port: int
    secret: Secret | None = None

    def headers(self) -> dict[str, str]:
        """What the proxy gets, and nobody behind it."""
        return {} if self.secret is None else {"Proxy-Authorization": self.secret.reveal()}

    def __str__(self) -> str:
        return f"http://{_bracketed(self.host)}:{self.port}"


@dataclass(frozen=True, slots=True)
class _Headers:
    plain: Mapping[str, str]
    secret: Mapping[str, Secret]
    origins: frozenset[tuple[str, str, int]]


class Access:
    """The headers and proxies of the settings. Thread-safe."""

    def __init__(self, settings: Settings, secrets: Secrets) -> None:
        named = {name.lower().strip("[]"): own for name, own in settings.host.items()}
        self._headers = {
            host: _headers(host, own, secrets) for host, own in named.items() if own.headers or own.credentials
        }
        self._general = _proxy(settings.fetch.proxy, settings.fetch.proxy_credentials, secrets)
        self._proxies = {
            host: _proxy(own.proxy, own.proxy_credentials, secrets) for host, own in named.items() if own.proxy
        }

    def headers(self, scheme: str, host: str, port: int) -> Mapping[str, str]:
        """What a request to that place carries besides. host: in lower case, without brackets."""
        own = self._headers.get(host)
        if own is None:
            return _NONE
        if (scheme, host, port) not in own.origins:
            return own.plain
        return {**own.plain, **{name: secret.reveal() for name, secret in own.secret.items()}}

    def proxy(self, host: str) -> Proxy | None:
        """The proxy that requests to `host` go through."""
        return self._proxies.get(host.strip("[]"), self._general)


def _headers(host: str, own: HostSettings, secrets: Secrets) -> _Headers:
    plain = {name: value for name, value in own.headers.items() if not is_reference(value)}
    secret = {name: secrets.text[value] for name, value in own.headers.items() if is_reference(value)}
    if own.credentials:
        secret["Authorization"] = secrets.login[own.credentials]
    origins = own.secret_origins or (f"https://{_bracketed(host)}",)
    return _Headers(plain, secret, frozenset(origin_parts(origin) for origin in origins))


def _proxy(url: str, credentials: str, secrets: Secrets) -> Proxy | None:
    if url in ("", DIRECT):
        return None
    _, host, port = origin_parts(url)
    return Proxy(host, port, secrets.login[credentials] if credentials else None)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
