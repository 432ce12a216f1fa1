"""A real forward proxy on a loopback socket that leads to a scripted server; it looks names up by itself."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.web.names import intercepted
from tests.web.server import ScriptedServer

NAME, ADDRESS, PORT = "proxy.test", "127.0.0.50", 3128
URL = f"http://{NAME}:{PORT}"
REFUSAL = b"HTTP/1.1 407 X\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@dataclass(slots=True)
class Heard:
    """A request to the proxy. line: its first line; headers: by name in lower case."""

    line: str
    headers: dict[str, str]


@dataclass
class ForwardProxy:
    """Forwards; a context manager.

    login: value of Proxy-Authorization without which it answers 407. connect_answer: bytes that it answers CONNECT
    with in place of connecting, `pause` seconds after each of them. heard: its log. looked_up: names that this process
    has looked up for others than the proxy.
    """

    login: str | None = None
    connect_answer: bytes | None = None
    pause: float = 0.0
    heard: list[Heard] = field(default_factory=list)
    looked_up: list[str] = field(default_factory=list)

    def __enter__(self) -> "ForwardProxy":
        self._stopping = threading.Event()
        self._server: ScriptedServer | None = None
        self._listener = socket.socket()
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(16)
        threading.Thread(target=self._accept, name="proxy", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    @contextlib.contextmanager
    def intercept(self, server: ScriptedServer) -> Iterator[None]:
        """As `server.intercept()`, with the proxy at URL."""
        self._server = server
        with intercepted(self):
            yield

    def resolve(self, host: str) -> list[str]:
        assert self._server is not None
        if not threading.current_thread().name.startswith("proxy"):
            self.looked_up.append(host)
        return [ADDRESS] if host == NAME else self._server.resolve(host)

    def dial(self, address: str, port: int) -> tuple[str, int]:
        assert self._server is not None
        if (address, port) == (ADDRESS, PORT):
            where: tuple[str, int] = self._listener.getsockname()
            return where
        return self._server.dial(address, port)

    def _accept(self) -> None:
        while not self._stopping.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), name="proxy of one", daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError), client:
            client.settimeout(10)
            head = b""
            while b"\r\n\r\n" not in head and (octets := client.recv(65_536)):
                head += octets
            if not head:
                return
            line, *lines = head.decode("latin-1").split("\r\n\r\n")[0].split("\r\n")
            headers = {n.strip().lower(): v.strip() for n, _, v in (each.partition(":") for each in lines)}
            self.heard.append(Heard(line, headers))
            method, target, _ = line.split(" ")
            if self.login is not None and headers.get("proxy-authorization") != self.login:
                client.sendall(REFUSAL)
            elif method != "CONNECT":
                self._forward(client, target, lines)
            elif self.connect_answer is None:
                host, _, port = target.rpartition(":")
                with socket.create_connection((host.strip("[]"), int(port)), 5) as origin:
                    client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                    self._relay(client, origin)
            else:
                self._drip(client, self.connect_answer)

    def _drip(self, client: socket.socket, octets: bytes) -> None:
        if not self.pause:
            client.sendall(octets)
            return
        for octet in octets:
            client.sendall(bytes([octet]))
            if self._stopping.wait(self.pause):
                return

    def _forward(self, client: socket.socket, target: str, lines: list[str]) -> None:
        parts = urlsplit(target)
        kept = [line for line in lines if not line.lower().startswith(("proxy-", "connection:"))]
        path = target.partition("://")[2].partition("/")[2]
        head = "\r\n".join([f"GET /{path} HTTP/1.1", *kept, "Connection: close"])
        with socket.create_connection((parts.hostname or "", parts.port or 80), 5) as origin:
            origin.sendall(f"{head}\r\n\r\n".encode("latin-1"))
            origin.shutdown(socket.SHUT_WR)
            while octets := origin.recv(65_536):
                client.sendall(octets)

    def _relay(self, client: socket.socket, origin: socket.socket) -> None:
        def back() -> None:
            with contextlib.suppress(OSError):
                while octets := origin.recv(65_536):
                    client.sendall(octets)
                client.shutdown(socket.SHUT_WR)

        returning = threading.Thread(target=back, name="proxy back", daemon=True)
        returning.start()
        with contextlib.suppress(OSError):
            while octets := client.recv(65_536):
                origin.sendall(octets)
            origin.shutdown(socket.SHUT_WR)
        returning.join(10)
