"""Requests that we end ourselves, wherever they are."""

import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

import pytest

from crawler.net.client import Client
from crawler.net.reply import Abandoned, Reply
from tests.net.test_client import make_client
from tests.web.site import PAGE, site

URL = "http://a.test/x"
PATIENT = {"connect_seconds": 60, "read_seconds": 60, "total_seconds": 60}


class Asking:
    """A thread that asks for one URL; what came of it."""

    def __init__(self, client: Client, url: str) -> None:
        self.came: Reply | Abandoned | None = None
        self._thread = threading.Thread(target=self._ask, args=(client, url), daemon=True)
        self._thread.start()

    def _ask(self, client: Client, url: str) -> None:
        try:
            self.came = client.get(url)
        except Abandoned as error:
            self.came = error

    def end(self) -> Reply | Abandoned | None:
        self._thread.join(10)
        assert not self._thread.is_alive(), "it is still waiting"
        return self.came


def wait_until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("exchange", "host", "sent"),
    [
        ({"body": PAGE, "delay_before_headers_s": 60}, {}, True),
        ({"body": {"random": [4000, 1]}, "framing": "stall_after:100"}, {}, True),
        ({"body": {"random": [4000, 1]}, "framing": "drip:20"}, {}, True),
        ({"body": PAGE}, {"listen": "blackhole"}, False),
        ({"body": PAGE}, {"dns": "timeout", "dns_time_s": 60}, False),
    ],
    ids=["before the head", "in the body", "byte by byte", "connecting", "looking its host up"],
)
def test_a_request_ends_at_once_wherever_it_is(exchange: dict[str, Any], host: Mapping[str, Any], sent: bool) -> None:
    server, client = site({URL: exchange}, hosts={"a.test": host}), make_client(**PATIENT)
    with server, server.intercept(), closing(client):
        asking = Asking(client, URL)
        wait_until(lambda: bool(server.requests(URL) if sent else server.connects or server.lookups))
        client.abandon()
        came = asking.end()
    assert isinstance(came, Abandoned)
    assert came.reply.sent == sent
    assert came.reply.body is None


def test_a_tls_handshake_that_hangs_ends_too() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = make_client(**PATIENT)
        asking = Asking(client, f"https://127.0.0.1:{listener.getsockname()[1]}/")
        with listener.accept()[0] as connection, closing(client):
            assert connection.recv(1) == b"\x16"
            client.abandon()
            assert isinstance(asking.end(), Abandoned)


def test_a_request_that_has_ended_is_no_affair_of_it_and_one_that_comes_later_is_not_sent() -> None:
    server, client = site({URL: {"body": PAGE}}), make_client()
    with server, server.intercept(), closing(client):
        assert client.get(URL).body
        client.abandon()
        with pytest.raises(Abandoned) as late:
            client.get(URL)
        assert not late.value.reply.sent
        assert len(server.requests(URL)) == 1
