"""One connection to a checked address, under a deadline.

Owns the socket and the reading from it: every wait is cut by the silence that is allowed and by the end of the whole
request, so a server that sends a byte a second is dropped in time; response heads are counted. urllib3 and http.client
do the protocol on top. Never resolves a name: it is given the addresses that the Resolver has checked.
"""

import contextlib
import http.client
import io
import os
import re
import socket
import ssl
import time
from collections.abc import Sequence
from typing import Any

from urllib3.connection import HTTPConnection, HTTPSConnection

_LONGEST_LINE = 1 << 16
_READ_BUFFER = 1 << 16
_BLANK = (b"\r\n", b"\n", b"")
_HEAD_END = re.compile(rb"\n\r?\n")
_SHOWN = 100  # bytes of a strange answer


class DeadlinePassed(TimeoutError):
    """The request as a whole took too long."""


class HeadTooLong(http.client.HTTPException):
    """The response's head is longer than is accepted."""


class Wire:
    """A connected socket that http.client can use, with the limits of the request that runs on it."""

    def __init__(self, sock: socket.socket, limits: "Limits") -> None:
        self._sock = sock
        self.limits = limits
        self.surplus = False
        self._is_read = False
        self._is_closing = False

    def sendall(self, octets: Any) -> None:
        self._sock.settimeout(self.limits.left())
        self._sock.sendall(octets)

    def recv_into(self, buffer: Any) -> int:
        self._sock.settimeout(self.limits.left())
        return self._sock.recv_into(buffer)

    def makefile(self, _mode: str, *_: Any) -> "Inlet":
        self._is_read = True
        return Inlet(self)

    def inlet_closed(self, *, surplus: bool) -> None:
        self._is_read = False
        self.surplus = self.surplus or surplus
        if self._is_closing:
            self._sock.close()

    def settimeout(self, _seconds: float | None) -> None:
        """Nothing: the limits of the request hold, not those of a layer above."""

    def close(self) -> None:
        # As with a real socket, a response that is still being read keeps the connection.
        self._is_closing = True
        if not self._is_read:
            self._sock.close()

    def fileno(self) -> int:
        return self._sock.fileno()


class Limits:
    """How long one request may take and how long its response's head may be.

    deadline: monotonic instant at which the request must be over. silence: seconds between two bytes of the server.
    """

    __slots__ = ("connect", "deadline", "head_bytes", "silence")

    def __init__(self, deadline: float, connect: float, silence: float, head_bytes: int) -> None:
        self.deadline = deadline
        self.connect = connect
        self.silence = silence
        self.head_bytes = head_bytes

    def left(self, longest: float | None = None) -> float:
        """Seconds that may now be waited. Raises DeadlinePassed."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise DeadlinePassed("the request took too long as a whole")
        return min(left, longest or self.silence)


class _Source(io.RawIOBase):
    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.is_sealed = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        return None if self.is_sealed else self.wire.recv_into(buffer)


class Inlet(io.BufferedReader):
    """What a response is read from. Counts the bytes of the head until `head_is_over` is set."""

    def __init__(self, wire: Wire) -> None:
        self._source = _Source(wire)
        super().__init__(self._source, _READ_BUFFER)
        self._head_left = wire.limits.head_bytes
        self.head_is_over = False

    def read_head(self) -> bytes:
        """A status line and fields, up to and with the empty line.

        Raises HeadTooLong; BadStatusLine as soon as the first line is none; RemoteDisconnected if nothing comes;
        IncompleteRead if it ends before the empty line.
        """
        end = _HEAD_END.search(self.peek(1))
        if end is not None:
            self._count(end.end())
            return self.read(end.end())
        lines = [self.readline(_LONGEST_LINE)]
        if not lines[0]:
            raise http.client.RemoteDisconnected("the connection was closed without an answer")
        if not lines[0].startswith(b"HTTP/"):
            raise http.client.BadStatusLine(lines[0][:_SHOWN].decode("latin-1"))
        while lines[-1] not in _BLANK:
            lines.append(self.readline(_LONGEST_LINE))
        if not lines[-1]:
            raise http.client.IncompleteRead(b"".join(lines))  # what is missing may be what counts (RFC 9112 8)
        return b"".join(lines)

    def readline(self, size: int | None = -1) -> bytes:
        line = super().readline(size)
        if not self.head_is_over:
            self._count(len(line))
        return line

    def close(self) -> None:
        if not self.closed:
            self._source.is_sealed = True
            surplus = bool(self.peek(1))
            super().close()
            self._source.wire.inlet_closed(surplus=surplus)

    def _count(self, octets: int) -> None:
        self._head_left -= octets
        if self._head_left < 0:
            raise HeadTooLong("the response's head is too long")


class PinnedConnection(HTTPConnection):
    """A connection to one of the checked `addresses`; the Host header stays the name."""

    addresses: Sequence[str] = ()
    limits: Limits
    address: str | None = None
    descriptor: int | None = None

    def _new_conn(self) -> socket.socket:
        return _connect(self)

    def connect(self) -> None:
        super().connect()
        self.sock = _wrapped(self)

    def abandon(self) -> None:
        """End what another thread waits for on this connection, be it that it is being made."""
        if self.descriptor is not None:
            with contextlib.suppress(OSError), socket.socket(fileno=os.dup(self.descriptor)) as twin:
                twin.shutdown(socket.SHUT_RDWR)


class PinnedTLSConnection(PinnedConnection, HTTPSConnection):
    """The same over TLS; the server name that is asked for and checked stays the name."""

    def _tunnel(self) -> None:
        # What a proxy says to CONNECT is under the request's limits, as all that is read.
        sock = self.sock
        if not isinstance(sock, socket.socket):
            raise TypeError(f"{type(sock).__name__} is no socket")
        self.sock = Wire(sock, self.limits)
        try:
            super()._tunnel()
        finally:
            self.sock = sock
        sock.settimeout(self.limits.left(self.limits.connect))


def _connect(connection: PinnedConnection | PinnedTLSConnection) -> socket.socket:
    failure: OSError | None = None
    limits = connection.limits
    give_up = time.monotonic() + limits.connect
    for left, address in zip(range(len(connection.addresses), 0, -1), connection.addresses, strict=True):
        share = (give_up - time.monotonic()) / left  # so that one that does not answer leaves time for the others
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM)
        connection.descriptor = sock.fileno()
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.settimeout(limits.left(max(share, 0.001)))
            sock.connect((address, connection.port))
        except OSError as error:
            sock.close()
            failure = error
            continue
        connection.address = address
        sock.settimeout(limits.left(limits.connect))  # for the TLS handshake, as a whole
        return sock
    raise failure or OSError("no address to connect to")


def _wrapped(connection: PinnedConnection | PinnedTLSConnection) -> Any:
    sock = connection.sock
    if not isinstance(sock, socket.socket | ssl.SSLSocket):
        raise TypeError(f"{type(sock).__name__} is no socket")
    return Wire(sock, connection.limits)
