"""requests, reduced to what a crawler may do: one request, to a checked address, nothing followed, nothing kept.

Owns the session class, its adapter and the idle connections of a task. Never reads the environment or a netrc file,
never keeps a cookie, never follows a redirect, never retries by itself.
"""

import math
import ssl
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import certifi
from requests import PreparedRequest, Response, Session
from requests.adapters import BaseAdapter
from requests.structures import CaseInsensitiveDict

from crawler.net.access import Proxy
from crawler.net.wire import Limits, PinnedConnection, PinnedTLSConnection, Wire

Connection: TypeAlias = PinnedConnection | PinnedTLSConnection

_MOST_IDLE = 256


@dataclass(frozen=True, slots=True)
class Place:
    """Where an origin is asked: a host name (or an address without brackets) and a port."""

    scheme: str
    host: str
    port: int

    @property
    def parts(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port


class PinnedRequest(PreparedRequest):
    """A GET of `target` at `place`, on a connection to one of `addresses`: its own, or those of its `proxy`."""

    def __init__(self, url: str, place: Place, target: str, headers: Mapping[str, str]) -> None:
        super().__init__()
        self.method = "GET"
        self.url = url
        self.headers = CaseInsensitiveDict(headers)
        self.place = place
        self.target = target
        self.addresses: Sequence[str] = ()
        self.proxy: Proxy | None = None
        self.limits: Limits
        self.connection: Connection | None = None
        self.may_reuse = True
        self.is_reused = False
        self.on_send: Callable[[], None] = _nothing

    def use_proxy(self, proxy: Proxy) -> None:
        """Go through `proxy`: by CONNECT for https, else by naming the whole URL (RFC 9112 3.2.2)."""
        self.proxy = proxy
        if self.place.scheme == "http":
            host = f"[{self.place.host}]" if ":" in self.place.host else self.place.host
            port = "" if self.place.port == 80 else f":{self.place.port}"
            self.target = f"http://{host}{port}{self.target}"
            self.headers.update(proxy.headers())

    def abandon(self) -> None:
        """Let it end now, wherever another thread is with it."""
        if hasattr(self, "limits"):
            self.limits.deadline = -math.inf
        if self.connection is not None:
            self.connection.abandon()

    @property
    def address(self) -> str | None:
        """Where the host was asked; behind a proxy nobody knows."""
        return None if self.connection is None or self.proxy else self.connection.address


class SingleSession(Session):
    """A session of one thread."""

    def __init__(self, adapter: BaseAdapter) -> None:
        super().__init__()
        self.trust_env = False
        self.adapters.clear()
        self.mount("http://", adapter)
        self.mount("https://", adapter)

    def get_redirect_target(self, resp: Response) -> str | None:
        """None: redirects are facts about a page, never followed here."""
        return None


class PinnedAdapter(BaseAdapter):
    """Sends a PinnedRequest; the errors of sockets, TLS and HTTP come out as they are."""

    def __init__(self, idle: "IdleConnections") -> None:
        super().__init__()
        self._idle = idle

    def send(self, request: PreparedRequest, *_: Any, **__: Any) -> Response:
        if not isinstance(request, PinnedRequest):
            raise TypeError("only PinnedRequests are sent")
        connection = self._idle.take(request.place, request.addresses) if request.may_reuse else None
        request.is_reused = connection is not None
        if connection is None:
            connection = self._idle.make(request.place, request.proxy)
            connection.addresses = request.addresses
            connection.limits = request.limits
            request.connection = connection
            connection.connect()
        else:
            request.connection = connection
            if isinstance(connection.sock, Wire):
                connection.sock.limits = request.limits
        request.on_send()
        connection.request("GET", request.target, headers=request.headers, preload_content=False, decode_content=False)
        raw = connection.getresponse()
        raw._original_response = None  # nobody but us ends the exchange, and no cookie is looked for
        response = Response()
        response.status_code = raw.status
        response.raw = raw
        response.url = request.url or ""
        response.request = request
        return response

    def close(self) -> None:
        """Nothing: the idle connections belong to the client."""


class IdleConnections:
    """Connections that wait for the next request of their origin, at most one an origin. Thread-safe."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._lock = threading.Lock()
        self._idle: OrderedDict[Place, Connection] = OrderedDict()

    def take(self, place: Place, addresses: Sequence[str]) -> Connection | None:
        """The idle connection of `place` if it leads to one of `addresses` and is still silent."""
        with self._lock:
            connection = self._idle.pop(place, None)
        if connection is None:
            return None
        if connection.address in addresses and connection.is_connected:
            return connection
        connection.close()
        return None

    def give(self, place: Place, connection: Connection) -> None:
        """Keep `connection` for later; its last response has been read to the end."""
        wire = connection.sock
        if not isinstance(wire, Wire) or wire.surplus:
            connection.close()
            return
        with self._lock:
            evicted = [self._idle.pop(place, None)]
            self._idle[place] = connection
            if len(self._idle) > _MOST_IDLE:
                evicted.append(self._idle.popitem(last=False)[1])
        for old in evicted:
            if old is not None:
                old.close()

    def make(self, place: Place, proxy: Proxy | None = None) -> Connection:
        """A connection to `place`, through `proxy` if there is one, that is not connected yet."""
        host, port = (proxy.host, proxy.port) if proxy else (place.host, place.port)
        if place.scheme == "http":
            return PinnedConnection(host, port)
        with self._lock:
            self._tls = self._tls or trusting_context()
        connection = PinnedTLSConnection(host, port, ssl_context=self._tls, cert_reqs="CERT_REQUIRED")
        if proxy:
            connection.set_tunnel(place.host, place.port, proxy.headers(), scheme="http")
        return connection

    def close(self) -> None:
        """Close all idle connections."""
        with self._lock:
            idle, self._idle = list(self._idle.values()), OrderedDict()
        for connection in idle:
            connection.close()


def trusting_context() -> ssl.SSLContext:
    """What a server must show: a certificate of an authority that the system or certifi knows."""
    context = ssl.create_default_context()  # the system's authorities, or those that SSL_CERT_FILE names
    context.load_verify_locations(certifi.where())
    context.set_alpn_protocols(["http/1.1"])
    return context


def _nothing() -> None:
    pass
