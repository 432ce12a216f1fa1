"""requests, reduced to what a crawler may do: one request, to a checked address, nothing followed, nothing kept.

Owns the session class, its adapter and the idle connections of a task. Never reads the environment or a netrc file,
never keeps a cookie, never follows a redirect, never retries by itself.
"""

import math
import re
import resource
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
from crawler.net.answer import Answer
from crawler.net.wire import Limits, PinnedConnection, PinnedTLSConnection, Wire

Connection: TypeAlias = PinnedConnection | PinnedTLSConnection

_LEAST_IDLE, _MOST_IDLE = 64, 2048  # connections, as far as half of the file descriptors that we may have allow
_PORTS = {"http": 80, "https": 443}
_LINE_END = re.compile(r"[\r\n]")


@dataclass(frozen=True, slots=True)
class Place:
    """Where an origin is asked: a host name (or an address without brackets) and a port."""

    scheme: str
    host: str
    port: int

    @property
    def authority(self) -> str:
        """Host and port as a URL and a Host header have them: no port if it is the scheme's."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

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

    def octets(self) -> bytes:
        """The request as it goes out. Raises ValueError if a header would be more than one, or is not Latin-1."""
        lines = [f"GET {self.target} HTTP/1.1"]
        if "host" not in self.headers:
            lines.append(f"Host: {self.place.authority}")
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        text = "\r\n".join(lines)
        if len(_LINE_END.findall(text)) != 2 * (len(lines) - 1) or "\0" in text:
            raise ValueError("a line of the request would be more than one")
        return f"{text}\r\n\r\n".encode("latin-1")

    def use_proxy(self, proxy: Proxy) -> None:
        """Go through `proxy`: by CONNECT for https, else by naming the whole URL (RFC 9112 3.2.2)."""
        self.proxy = proxy
        if self.place.scheme == "http":
            self.target = f"http://{self.place.authority}{self.target}"
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


class PinnedResponse(Response):
    """The response to a PinnedRequest; `raw` is an Answer.

    requests would set up twelve more attributes for it, a jar of cookies among them, that nobody here looks at.
    """

    def __init__(self, request: PinnedRequest, answer: Answer) -> None:
        self.request = request
        self.raw: Answer = answer
        self.status_code = answer.status


class SingleSession(Session):
    """A session of one thread."""

    def __init__(self, adapter: BaseAdapter) -> None:
        super().__init__()
        self.trust_env = False
        self.adapters.clear()
        self.mount("http://", adapter)
        self.mount("https://", adapter)

    def send(self, request: PreparedRequest, **_: Any) -> PinnedResponse:
        """Send a PinnedRequest through its adapter, and nothing else.

        Session's own would look for cookies, hooks and redirects: all facts about a page here, never acted upon.
        """
        response = self.get_adapter(request.url or "").send(request)
        if not isinstance(response, PinnedResponse):
            raise TypeError("only a PinnedAdapter is asked")
        return response


class PinnedAdapter(BaseAdapter):
    """Sends a PinnedRequest; the errors of sockets, TLS and HTTP come out as they are."""

    def __init__(self, idle: "IdleConnections") -> None:
        super().__init__()
        self._idle = idle

    def send(self, request: PreparedRequest, *_: Any, **__: Any) -> PinnedResponse:
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
        octets = request.octets()
        request.on_send()
        if connection.sock is None:
            raise ConnectionError("the connection has been closed")
        connection.sock.sendall(octets)
        answer = Answer(connection.sock, method="GET")
        try:
            answer.begin()
        except BaseException:
            answer.close()
            raise
        return PinnedResponse(request, answer)

    def close(self) -> None:
        """Nothing: the idle connections belong to the client."""


class IdleConnections:
    """Connections that wait for the next request of their origin, at most one an origin. Thread-safe."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        is_unlimited = descriptors == resource.RLIM_INFINITY
        self._most = _MOST_IDLE if is_unlimited else min(max(descriptors // 2, _LEAST_IDLE), _MOST_IDLE)
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
            if len(self._idle) > self._most:
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
