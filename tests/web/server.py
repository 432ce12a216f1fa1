"""A real, misbehaving web server, told by a script what to do (README.md is the format).

One loopback socket for each logical (address, port); a thread for each connection. Logs every request and every
attempt to connect.
"""

import base64
import contextlib
import re
import select
import socket
import ssl
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from tests.web.answer import Answer, Exchange
from tests.web.certificates import certificates
from tests.web.names import DEFAULT_PORTS, intercepted, literal, normal, split
from tests.web.recipes import RECIPES

Script = Mapping[str, Any]

SETTINGS: dict[str, Any] = {
    "user_agent": "testbot/1.0 (+http://contact.test/)", "connect_time_s": 1, "read_time_s": 1, "total_time_s": 2,
    "max_body_bytes": 1 << 20, "max_header_bytes": 65536, "max_redirects": 5, "min_delay_s": 0.05, "delay_factor": 0,
    "retry_after_cap_s": 86400, "robots_max_bytes": 512000, "robots_max_age_s": 86400, "window_s": 2.5,
    "allow_private": True, "in_cycle_discovery": False, "env": {}, "netrc": None,
}  # fmt: skip
_CHUNK = 4096


@dataclass(slots=True)
class Request:
    """A line of the log; all instants are monotonic.

    ended: before the last write, so that a gap to the next request is never smaller than the one that the client kept.
    released: when the server was done with it.
    """

    url: str
    method: str
    headers: list[tuple[str, str]]
    address: str
    started: float
    ended: float | None = None
    released: float | None = None

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


@dataclass(slots=True)
class _Route:
    rules: list[Exchange]
    queue: list[Exchange]
    position: int = 0


@dataclass(slots=True)
class _Host:
    answers: list[list[str]]
    given: Mapping[str, Any] = field(default_factory=dict)


def plan_of(script: Script) -> list[dict[str, Any]]:
    """The plan with a cycle for each entry."""
    return [{"url": p, "cycle": 0} if isinstance(p, str) else {"cycle": 0} | p for p in script["plan"]]


class ScriptedServer:
    """Serves a script; a context manager. Names lead to it inside `intercept()`.

    is_literal: listen at the addresses and ports that the script names, for clients that are not intercepted; else
    anywhere on loopback. later: what its clock is ahead of the machine's; it shows in dates.
    """

    def __init__(self, script: Script, *, is_literal: bool = False) -> None:
        self._is_literal = is_literal
        self.log: list[Request] = []
        self.connects: list[tuple[str, int]] = []
        self.lookups: list[str] = []
        self._lock = threading.RLock()
        self._stopping = threading.Event()
        self._sockets: list[socket.socket] = []
        self._listeners: dict[tuple[str, int], tuple[str, int]] = {}
        self.later = timedelta()
        self.script = script
        self.settings: dict[str, Any] = SETTINGS | dict(script.get("settings", {}))
        self._hosts: dict[str, _Host] = {}
        for position, (name, given) in enumerate(script["servers"].items(), 2):
            answers = given.get("address") or literal(name) or f"127.0.0.{position}"
            listed = answers if isinstance(answers, list) else [answers]
            spelled = [[normal(one) for one in (each if isinstance(each, list) else [each])] for each in listed]
            self._hosts[name] = _Host(spelled, given)
        self._routes: dict[str, _Route] = {}
        for url, exchanges in script.get("routes", {}).items():
            listed = exchanges if isinstance(exchanges, list) else [exchanges]
            self._routes[url] = _Route([e for e in listed if "match" in e], [e for e in listed if "match" not in e])

    def __enter__(self) -> "ScriptedServer":
        for name, host in self._hosts.items():
            kind = host.given.get("tls", "plain_text")
            if kind != "plain_text":
                certificates().context(name, kind)
            for address in {address for answer in host.answers for address in answer}:
                for port, scheme in self._ports().items():
                    if self._is_literal and ((address, port) in self._listeners or port in DEFAULT_PORTS.values()):
                        continue
                    mode = host.given.get("listen", "accept")
                    self._listeners[address, port] = self._listen(address, port, scheme, mode)
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        for sock in self._sockets:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()

    @contextlib.contextmanager
    def intercept(self) -> Iterator["ScriptedServer"]:
        """Lead the look-ups and connections of this process here."""
        with intercepted(self):
            yield self

    def requests(self, url: str) -> list[Request]:
        """The requests of a URL (or of those with a prefix `*`) so far."""
        return [r for r in self.log if r.url == url or (url.endswith("*") and r.url.startswith(url[:-1]))]

    # Names

    def resolve(self, host: str) -> list[str]:
        host = host.decode() if isinstance(host, bytes) else host
        if not host.isascii():
            host = host.encode("idna").decode()
        host = host.lower().rstrip(".")
        with self._lock:
            times = self.lookups.count(host)
            self.lookups.append(host)
        found = self._hosts.get(host)
        address = literal(host)
        if found is None and address:
            return [address]
        dns = found.given.get("dns", "ok") if found else "nxdomain"
        if found is None or dns == "nxdomain":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        if dns != "ok":
            if dns == "timeout":
                self._stopping.wait(found.given.get("dns_time_s", 1))
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return found.answers[min(times, len(found.answers) - 1)]

    def dial(self, address: str, port: int) -> tuple[str, int]:
        address = normal(address)
        with self._lock:
            self.connects.append((address, port))
            if (address, port) not in self._listeners:
                self._listeners[address, port] = self._listen(address, port, "http", "refuse")
            return self._listeners[address, port]

    # Sockets

    def _ports(self) -> dict[int, str]:
        found = {80: "http"}
        if any("tls" in host.given for host in self._hosts.values()):
            found[443] = "https"
        for url in [entry["url"] for entry in plan_of(self.script)] + list(self._routes):
            scheme, _, port, _ = split(url.replace("*", ""))
            if port:
                found.setdefault(port, scheme)
        return found

    def _listen(self, address: str, port: int, scheme: str, mode: str) -> tuple[str, int]:
        family, own = (socket.AF_INET6, "::1") if ":" in address else (socket.AF_INET, "127.0.0.1")
        try:
            sock = socket.socket(family)
            if self._is_literal:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind((address, port) if self._is_literal else (own, 0))
        except OSError:  # a machine without IPv6
            if self._is_literal:
                raise
            sock = socket.socket(socket.AF_INET)
            sock.bind(("127.0.0.1", 0))
        self._sockets.append(sock)
        where: tuple[str, int] = sock.getsockname()[:2]
        if mode == "accept":
            sock.listen(64)
            threading.Thread(target=self._accept, args=(sock, address, port, scheme), daemon=True).start()
        elif mode == "blackhole":  # a full queue: further SYNs are dropped
            sock.listen(0)
            for _ in range(4):
                filler = socket.socket(sock.family)
                filler.setblocking(False)
                filler.connect_ex(where)
                self._sockets.append(filler)
            time.sleep(0.05)
        return where  # mode refuse: bound, not listening

    def _accept(self, sock: socket.socket, address: str, port: int, scheme: str) -> None:
        while not self._stopping.is_set():
            try:
                connection, _ = sock.accept()
            except OSError:
                return
            arguments = (connection, address, port, scheme)
            threading.Thread(target=self._serve, args=arguments, daemon=True).start()

    def _serve(self, sock: socket.socket, address: str, port: int, scheme: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            sock.settimeout(10)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            secured = self._secured(sock, address) if scheme == "https" else sock
            if secured is None:
                return
            sock = secured
            heads, after = _heads(sock), "keep"
            for head in heads:
                if after == "drop_next":
                    break
                after = self._answer(sock, head, address, port, scheme)
                if after == "close":
                    break
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_WR)  # let the peer read what is in flight, then close
            sock.settimeout(0.2)
            sock.recv(1)
        sock.close()

    def _secured(self, sock: socket.socket, address: str) -> ssl.SSLSocket | None:
        name = next(name for name, host in self._hosts.items() if any(address in answer for answer in host.answers))
        kind = self._hosts[name].given.get("tls", "valid")
        if kind == "plain_text":
            if sock.recv(1, socket.MSG_PEEK) == b"\x16":  # a ClientHello, to a server that speaks plain HTTP
                sock.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            sock.close()
            return None

        def named(connection: ssl.SSLSocket, server_name: str | None, _: ssl.SSLContext) -> None:
            host = self._hosts.get(server_name or "")
            if host:
                connection.context = certificates().context(server_name or "", host.given.get("tls", "valid"))

        context = certificates().context(name, kind)
        context.sni_callback = named  # type: ignore[assignment]
        return context.wrap_socket(sock, server_side=True)

    # Answers

    def _answer(self, sock: socket.socket, head: str, address: str, port: int, scheme: str) -> str:
        started = time.monotonic()
        line, *lines = head.split("\r\n")
        method, target, _ = [*line.split(" "), "", ""][:3]
        headers = [(name.strip(), value.strip()) for name, _, value in (each.partition(":") for each in lines)]
        host = next((value for name, value in headers if name.lower() == "host"), address)
        suffix = "" if port == DEFAULT_PORTS[scheme] else f":{port}"
        # An absolute target: the client takes us for a proxy.
        url = target if "://" in target else f"{scheme}://{re.sub(r':[0-9]+$', '', host)}{suffix}{target}"
        request = Request(url, method, headers, address, started)
        with self._lock:
            self.log.append(request)
        try:
            return self._play(sock, self._pick(url, request), request)
        finally:
            request.released = time.monotonic()
            request.ended = request.ended or request.released

    def _pick(self, url: str, request: Request) -> Exchange:
        with self._lock:
            route = self._routes.get(url)
            if route is None:
                prefixes = [key for key in self._routes if key.endswith("*") and url.startswith(key[:-1])]
                route = self._routes[max(prefixes, key=len)] if prefixes else None
            if route is None and urlsplit(url).path == "/robots.txt":
                robots = self.script.get("robots", {"status": 404})
                is_exchange = isinstance(robots, dict) and not RECIPES & robots.keys()
                return robots if is_exchange else {"headers": [["Content-Type", "text/plain"]], "body": robots}
            if route is None:
                return {"status": 404, "body": "no route\n"}
            for exchange in route.rules:
                if all(_holds(request.header(name), wanted) for name, wanted in exchange["match"].items()):
                    return exchange
            if not route.queue:
                return {"status": 500, "headers": [["X-Script", "no rule holds"]], "body": "no rule\n"}
            exchange = route.queue[min(route.position, len(route.queue) - 1)]
            route.position += 1
            return exchange

    def _wait(self, sock: socket.socket, seconds: float) -> bool:
        """Wait; True if the client went away or the server stops."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if self._stopping.is_set():
                return True
            if isinstance(sock, ssl.SSLSocket):
                self._stopping.wait(min(left, 0.05))
            elif select.select([sock], [], [], min(left, 0.1))[0]:
                try:
                    if not sock.recv(1, socket.MSG_PEEK):
                        return True
                except OSError:
                    return True
                self._stopping.wait(min(left, 0.05))
        return False

    def _play(self, sock: socket.socket, exchange: Exchange, request: Request) -> str:
        if self._wait(sock, exchange.get("delay_before_headers_s", 0)):
            return "close"
        if not self._send_interim(sock, exchange, request):
            return "close"
        if "raw" in exchange:
            _send(sock, request, base64.b64decode(exchange["raw"]))
            return str(exchange.get("after", "close"))
        answer = Answer(exchange, self.later)
        _send(sock, request, answer.line)
        block = b""
        for name, value, times in answer.head:
            if times == "endless":
                _send(sock, request, block)
                number = 0
                while not self._wait(sock, 0.05):
                    _send(sock, request, name.replace("{i}", str(number)).encode() + b": " + value + b"\r\n")
                    number += 1
                return "close"
            for number in range(times):
                block += name.replace("{i}", str(number)).encode("latin-1") + b": " + value + b"\r\n"
        _send(sock, request, block + b"\r\n")
        return answer.after if request.method == "HEAD" else self._send_body(sock, answer, request)

    def _send_interim(self, sock: socket.socket, exchange: Exchange, request: Request) -> bool:
        for interim in exchange.get("interim", []):
            times, sent = interim.get("times", 1), 0
            lines = "".join(f"{name}: {value}\r\n" for name, value in interim.get("headers", []))
            while times == "endless" or sent < times:
                _send(sock, request, f"HTTP/1.1 {interim['status']} X\r\n{lines}\r\n".encode("latin-1"))
                sent += 1
                if self._wait(sock, interim.get("every_s", 0)):
                    return False
        return True

    def _send_body(self, sock: socket.socket, answer: Answer, request: Request) -> str:
        match answer.framing:
            case "drip":
                step = max(1, int(float(answer.argument) / 20))
                for piece in answer.body:
                    for at in range(0, len(piece), step):
                        _send(sock, request, piece[at : at + step])
                        if self._wait(sock, step / float(answer.argument)):
                            return "close"
            case "stall_after" | "reset_after":
                _send_first(sock, answer.body, int(answer.argument), request)
                if answer.framing == "stall_after":
                    self._wait(sock, 30)
                    return "close"
                self._wait(sock, 0.05)
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                sock.close()
                return "close"
            case "chunked" | "bad_chunk" | "cut_chunk":
                is_first = True
                for piece in answer.body:
                    for at in range(0, len(piece), _CHUNK):
                        chunk = piece[at : at + _CHUNK]
                        if answer.framing == "bad_chunk" and not is_first:
                            _send(sock, request, b"zz\r\n" + chunk + b"\r\n")
                            return "close"
                        _send(sock, request, b"%x\r\n" % len(chunk) + chunk + b"\r\n")
                        is_first = False
                _send(
                    sock, request, {"chunked": b"0\r\n\r\n", "bad_chunk": b"zz\r\n", "cut_chunk": b""}[answer.framing]
                )
            case _:
                for piece in answer.body:
                    _send(sock, request, piece)
                if answer.framing == "declare":
                    self._wait(sock, 30)
                    return "close"
        return answer.after


def _heads(sock: socket.socket) -> Iterator[str]:
    buffer = b""
    while True:
        while b"\r\n\r\n" not in buffer:
            received = sock.recv(65536)
            if not received:
                return
            buffer += received
        head, buffer = buffer.split(b"\r\n\r\n", 1)
        yield head.decode("latin-1")


def _send(sock: socket.socket, request: Request, octets: bytes) -> None:
    if octets:  # an empty body adds nothing to an answer that the peer may have by now
        request.ended = time.monotonic()
        sock.sendall(octets)


def _send_first(sock: socket.socket, body: Iterator[bytes], count: int, request: Request) -> None:
    for piece in body:
        _send(sock, request, piece[:count])
        count -= len(piece[:count])
        if count <= 0:
            return


def _holds(value: str | None, wanted: Any) -> bool:
    if wanted is None or wanted is False:
        return value is None
    if wanted is True:
        return value is not None
    if isinstance(wanted, dict):
        return value is not None and wanted["contains"] in value
    return bool(value == wanted)
