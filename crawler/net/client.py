"""One polite GET: a reply with an outcome, whatever the server does.

Owns the limits of a request (connect, silence, total time, head, body after decoding) and the mapping of everything
that can go wrong to an outcome. Reads the network, writes nothing. Never follows a redirect, never keeps a cookie,
never raises for a site's failure; a proxy that does not serve us is no site.
"""

import http.client
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import TypeAlias
from urllib.parse import quote, urlsplit

from requests import RequestException
from urllib3.exceptions import HTTPError, SSLError

from crawler.core.clock import Clock
from crawler.core.errors import ProxyFailed
from crawler.core.fetch_settings import FetchSettings
from crawler.core.outcomes import Outcome, of_status
from crawler.net.access import Access, Proxy
from crawler.net.answer import Answer
from crawler.net.decoding import OFFERED, Undecodable, decoded
from crawler.net.reply import Abandoned, Reply, first_value, media_type, printable
from crawler.net.resolver import BlockedAddress, DnsFailed, Resolver
from crawler.net.transport import IdleConnections, PinnedAdapter, PinnedRequest, PinnedResponse, Place, SingleSession
from crawler.net.wire import Limits

_PIECE = 1 << 18
_LONGEST_REST = 1 << 15
_PORTS = {"http": 80, "https": 443}
_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.5"
_FAILURES = (OSError, http.client.HTTPException, HTTPError, RequestException, Undecodable, ValueError)
_CONDITIONS = frozenset({"if-none-match", "if-modified-since"})


BeforeSend: TypeAlias = Callable[[str | None, Callable[[], None]], None]
"""Waits until a request to an address may go out, and then calls what it was given."""


class Client:
    """Sends the requests of one task. Thread-safe; a session per thread, idle connections shared.

    access: headers and proxies of some hosts. tls: the context for https instead of the usual authorities.
    """

    def __init__(
        self,
        settings: FetchSettings,
        user_agent: str,
        resolver: Resolver,
        clock: Clock,
        *,
        access: Access | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._settings = settings
        self._resolver = resolver
        self._clock = clock
        self._access = access
        self._idle = IdleConnections(tls)
        self._own = threading.local()
        self._under_way: set[PinnedRequest] = set()
        self._is_abandoned = False
        self._headers = {"User-Agent": user_agent, "Accept": _ACCEPT, "Accept-Encoding": OFFERED}
        self._accepted = frozenset({"", *(kind.lower() for kind in settings.accepted_types)})

    def get(
        self,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        any_type: bool = False,
        max_body_bytes: int | None = None,
        before_send: BeforeSend | None = None,
    ) -> Reply:
        """Ask for `url` once, verbatim but for its fragment and user information.

        headers: validators and the like, sent as they are. any_type: accept bodies of every content type.
        max_body_bytes: instead of the setting. before_send: called when the connection is there, with its address, None
        behind a proxy; what it calls sets `fetched_at`, and the request goes out when it returns. What it raises ends
        the request unsent. Raises ProxyFailed; Abandoned if `abandon` has ended it.
        """
        request: PinnedRequest | None = None
        exchange = _Exchange(self._clock, max_body_bytes or self._settings.max_body_bytes)
        try:
            request = _request(url, self._headers | dict(headers or {}))
            request.on_send = exchange.start
            if before_send is not None:
                request.on_send = partial(_start, request, exchange, before_send)
            self._under_way.add(request)
            if self._access is not None:
                request.headers.update(self._access.headers(*request.place.parts))
            self._exchange(request, exchange, any_type=any_type)
        except _FAILURES as error:
            if request is not None and request.proxy and not self._is_abandoned and _is_of_proxy(error, request):
                raise ProxyFailed(str(request.proxy), printable(f"{type(error).__name__}: {error}")) from error
            exchange.fail(*_failure(error, request_is_sent=exchange.sent))
        except (DnsFailed, BlockedAddress) as error:
            exchange.fail(Outcome.DNS_FAILED if isinstance(error, DnsFailed) else Outcome.BLOCKED_ADDRESS, error)
        finally:
            if request is not None:
                self._under_way.discard(request)
        if self._is_abandoned and exchange.has_failed:
            raise Abandoned(exchange.reply())
        return exchange.reply()

    def proxy_of(self, host: str) -> str | None:
        """The proxy that requests to `host` go through, which then looks it up; ProxyFailed names it the same."""
        proxy = self._access.proxy(host) if self._access else None
        return str(proxy) if proxy else None

    def abandon(self) -> None:
        """End the requests under way; `get` raises Abandoned for them, and for all that come."""
        self._is_abandoned = True
        self._resolver.abandon()
        for request in tuple(self._under_way):
            request.abandon()

    def close(self) -> None:
        """Close the idle connections."""
        self._idle.close()

    def _exchange(self, request: PinnedRequest, exchange: "_Exchange", *, any_type: bool) -> None:
        settings = self._settings
        deadline = self._clock.monotonic() + settings.total_seconds
        request.limits = Limits(deadline, settings.connect_seconds, settings.read_seconds, settings.max_header_bytes)
        if self._is_abandoned:
            request.abandon()
        place = request.place
        host = f"[{place.host}]" if ":" in place.host else place.host
        proxy = self._access.proxy(place.host) if self._access else None
        if proxy is None:
            request.addresses = self._resolver.resolve(host, place.port, request.limits.left(settings.total_seconds))
        else:
            self._resolver.refuse_literal(host)  # the proxy resolves names; an address can be checked here as well
            request.addresses = self._addresses_of(proxy, request.limits.left(settings.total_seconds))
            request.use_proxy(proxy)
        try:
            response = self._send(request)
            exchange.address = request.address
            if exchange.address not in (None, request.addresses[0]):
                self._resolver.prefer(host, exchange.address)
            try:
                if exchange.judge(response, request, None if any_type else self._accepted):
                    exchange.read(response)
                else:
                    _read_rest(response.raw, request.limits, self._clock.monotonic())
                if response.raw.isclosed() and not response.raw.will_close and request.connection:
                    self._idle.give(place, request.connection)
                    request.connection = None
            finally:
                response.raw.close()
        finally:
            if request.connection:
                exchange.address = request.address
                request.connection.close()

    def _addresses_of(self, proxy: Proxy, timeout: float) -> Sequence[str]:
        try:
            return self._resolver.resolve(f"[{proxy.host}]" if ":" in proxy.host else proxy.host, proxy.port, timeout)
        except (DnsFailed, BlockedAddress) as error:
            if self._is_abandoned:
                raise
            raise ProxyFailed(str(proxy), str(error)) from error

    def _send(self, request: PinnedRequest) -> PinnedResponse:
        session = getattr(self._own, "session", None)
        if session is None:
            session = self._own.session = SingleSession(PinnedAdapter(self._idle))
        try:
            return session.send(request)
        except (http.client.RemoteDisconnected, ConnectionError):
            # A server may close an idle connection at any moment. It has not answered, so it is asked once more.
            if not request.is_reused or request.connection is None:
                raise
            request.connection.close()
            request.may_reuse = False
            return session.send(request)


class _Exchange:
    """The reply in the making."""

    def __init__(self, clock: Clock, max_body_bytes: int) -> None:
        self._clock = clock
        self._max_body_bytes = max_body_bytes
        self.outcome = Outcome.PROTOCOL_ERROR
        self.status: int | None = None
        self.headers: list[tuple[str, str]] = []
        self.body: bytes | None = None
        self.wire_bytes = 0
        self.truncated = False
        self.address: str | None = None
        self.error: str | None = None
        self.sent = False
        self.has_failed = False
        self.begin()

    def begin(self) -> None:
        self.fetched_at = self._clock.now()
        self._started = self._clock.monotonic()

    def start(self) -> None:
        """The connection is there; the request goes out now."""
        self.begin()
        self.sent = True

    def fail(self, outcome: Outcome, error: Exception) -> None:
        self.outcome = outcome
        self.has_failed = True
        self.body = None
        self.truncated = False
        self.error = printable(f"{type(error).__name__}: {error}")

    def judge(self, response: PinnedResponse, request: PinnedRequest, accepted: frozenset[str] | None) -> bool:
        """Set the outcome by the head; whether the body is wanted. accepted: content types, None for all."""
        self.status = response.status_code
        self.headers = response.raw.fields
        self.outcome = of_status(self.status, retry_after=first_value(self.headers, "retry-after") is not None)
        if self.outcome is Outcome.REDIRECTED and not (first_value(self.headers, "location") or "").strip():
            self.outcome, self.error = Outcome.PROTOCOL_ERROR, "a redirect without a Location"
        if self.outcome is Outcome.NOT_MODIFIED and not _CONDITIONS.intersection(
            name.lower() for name in request.headers
        ):
            self.outcome, self.error = Outcome.PROTOCOL_ERROR, "304 to a request without validators"
        if self.status == 407 and request.proxy and request.place.scheme == "http":
            # The proxy's own answer, or a site's that feigns it: it must neither count as the site's nor end the task.
            self.outcome, self.status, self.error = Outcome.CONNECT_FAILED, None, "407: the proxy refuses us"
        if self.outcome is not Outcome.OK:
            return False
        if self.status in (204, 205):
            self.outcome, self.error = Outcome.BAD_CONTENT, f"status {self.status} has no content"
        elif self.status == 206:
            self.outcome, self.error = Outcome.PROTOCOL_ERROR, "a part of the page, which was not asked for"
        elif accepted is not None and (media_type(self.headers) or "") not in accepted:
            self.outcome, self.error = Outcome.UNWANTED_TYPE, printable(media_type(self.headers) or "")
        return self.outcome is Outcome.OK

    def read(self, response: PinnedResponse) -> None:
        """Read the body, decoded, up to the limit."""
        kept: list[bytes] = []
        left = self._max_body_bytes
        try:
            for piece in decoded(self._pieces(response.raw), response.raw.all_values("content-encoding")):
                kept.append(piece)
                left -= len(piece)
                if left < 0:
                    self.truncated = True
                    kept[-1] = piece[:left]
                    break
        except Undecodable:
            if not self.truncated:  # else it is we who cut it
                raise
        self.body = b"".join(kept)

    def _pieces(self, answer: Answer) -> Iterator[bytes]:
        while piece := answer.piece(_PIECE):
            self.wire_bytes += len(piece)
            yield piece
            if self.wire_bytes > self._max_body_bytes:
                self.truncated = True
                return

    def reply(self) -> Reply:
        # The calendar first: the delay counts from the later of the two, so the log shows it as kept.
        ended_at = self._clock.now()
        ended = self._clock.monotonic()
        return Reply(
            outcome=self.outcome,
            status=self.status,
            headers=self.headers,
            body=self.body,
            wire_bytes=self.wire_bytes,
            truncated=self.truncated,
            address=self.address,
            sent=self.sent,
            error=self.error,
            fetched_at=self.fetched_at,
            ended_at=ended_at,
            ended=ended,
            elapsed=ended - self._started,
        )


def _start(request: PinnedRequest, exchange: _Exchange, before_send: BeforeSend) -> None:
    before_send(request.address, exchange.start)


def _request(url: str, headers: Mapping[str, str]) -> PinnedRequest:
    whole = url.partition("#")[0]
    start = whole.find("://") + 3
    cut = min((at for at in (whole.find("/", start), whole.find("?", start)) if at >= 0), default=len(whole))
    place = _place(whole[:cut])
    target = whole[cut:]
    if not target.startswith("/"):
        target = f"/{target}"
    # What cannot stand in a request line is encoded; all else stays as it is written.
    target = quote(target, safe="!\"$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
    return PinnedRequest(url, place, target, headers)


@lru_cache(4096)
def _place(origin: str) -> Place:
    parts = urlsplit(origin)
    host = (parts.hostname or "").rstrip(".")
    if parts.scheme not in _PORTS or not host:
        raise ValueError(f"{origin} is no http or https URL")
    return Place(parts.scheme, host, parts.port or _PORTS[parts.scheme])


def _failure(error: Exception, *, request_is_sent: bool) -> tuple[Outcome, Exception]:
    seen: BaseException | None = error
    while seen is not None:  # what a library wraps is what happened
        if isinstance(seen, TimeoutError):
            return Outcome.TIMED_OUT, error
        if isinstance(seen, ssl.SSLError | ssl.CertificateError | SSLError) and not request_is_sent:
            return Outcome.TLS_FAILED, error
        if isinstance(seen, Undecodable):
            return Outcome.BAD_CONTENT, error
        seen = seen.__cause__ or seen.__context__
    if isinstance(error, OSError) and not request_is_sent:
        return Outcome.CONNECT_FAILED, error
    return Outcome.PROTOCOL_ERROR, error


def _is_of_proxy(error: Exception, request: PinnedRequest) -> bool:
    """Whether the proxy itself could not be reached, or does not let us in."""
    is_refused = str(error).startswith("Tunnel connection failed: 407")
    return is_refused or (request.connection is not None and request.connection.address is None)


def _read_rest(answer: Answer, limits: Limits, now: float) -> None:
    # A short body that is not wanted is read, so that the connection can be used again; not for long.
    if not (answer.chunked or (answer.length is not None and answer.length <= _LONGEST_REST)):
        return
    limits.deadline = min(limits.deadline, now + 1)
    try:
        left = _LONGEST_REST
        while left > 0 and (piece := answer.piece(_PIECE)):
            left -= len(piece)
    except _FAILURES:
        return
