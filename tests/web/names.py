"""Logical names, addresses and ports of a script, led to loopback sockets. Nothing leaves the machine."""

import contextlib
import ipaddress
import re
import socket
from collections.abc import Iterator
from typing import Any, Protocol
from urllib.parse import urlsplit

DEFAULT_PORTS = {"http": 80, "https": 443}


class Names(Protocol):
    """What knows the script's names and where its addresses are in truth."""

    def resolve(self, host: str) -> list[str]: ...
    def dial(self, address: str, port: int) -> tuple[str, int]: ...


def normal(address: str) -> str:
    """One spelling per address (Python versions differ on ::ffff:a.b.c.d)."""
    parsed = ipaddress.ip_address(address.split("%")[0])
    return parsed.exploded if parsed.version == 6 else str(parsed)


def literal(host: str) -> str | None:
    """The address that a literal host means, in whatever notation the C library takes; None for a name."""
    bare = host.strip("[]").split("%")[0]
    with contextlib.suppress(ValueError):
        return normal(bare)
    if re.fullmatch(r"[0-9a-fA-FxX.]+", bare):
        with contextlib.suppress(OSError):
            return socket.inet_ntoa(socket.inet_aton(bare))
    return None


def split(url: str) -> tuple[str, str, int, str]:
    """Scheme, host, port and target of a URL."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if not host.isascii():
        host = host.encode("idna").decode()
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return parts.scheme, host, parts.port or DEFAULT_PORTS.get(parts.scheme, 0), target


@contextlib.contextmanager
def intercepted(names: Names) -> Iterator[None]:
    """Patch look-ups and connections of this process, so that a client written in Python meets `names`."""
    real_look_up, real_connect, real_try = socket.getaddrinfo, socket.socket.connect, socket.socket.connect_ex

    def look_up(
        host: str | None, port: Any, family: int = 0, kind: int = 0, proto: int = 0, _: int = 0, **more: int
    ) -> Any:
        found = []
        for address in names.resolve(host or "localhost"):
            own = socket.AF_INET6 if ":" in address else socket.AF_INET
            if family in (0, own):
                where = (address, int(port or 0), 0, 0) if ":" in address else (address, int(port or 0))
                found.append((own, kind or more.get("type") or socket.SOCK_STREAM, proto or 6, "", where))
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "no address of this family")
        return found

    def connect(sock: socket.socket, address: Any) -> None:
        return real_connect(sock, led(sock, address))

    def try_to_connect(sock: socket.socket, address: Any) -> int:
        return real_try(sock, led(sock, address))

    def led(sock: socket.socket, address: Any) -> Any:
        if sock.family not in (socket.AF_INET, socket.AF_INET6):
            return address
        return names.dial(literal(address[0]) or names.resolve(address[0])[0], address[1])

    socket.getaddrinfo, socket.socket.connect = look_up, connect  # type: ignore[assignment, method-assign]
    socket.socket.connect_ex = try_to_connect  # type: ignore[method-assign]
    try:
        yield
    finally:
        socket.getaddrinfo = real_look_up
        socket.socket.connect, socket.socket.connect_ex = real_connect, real_try  # type: ignore[method-assign]
