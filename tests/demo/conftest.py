"""A full demo web, served once for all tests of this folder, and a plain client for it."""

import http.client
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from crawler.core.clock import SimulatedClock
from crawler.demo.truth import Truth
from crawler.demo.web import DEFAULT_START, DemoWeb

START = datetime(DEFAULT_START.year, DEFAULT_START.month, DEFAULT_START.day, tzinfo=UTC)


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes


class Browser:
    """Keeps one connection per address; asks what it is told to and follows nothing."""

    def __init__(self, resolve: dict[str, str], port: int) -> None:
        self._resolve = resolve
        self._port = port
        self._connections: dict[str, http.client.HTTPConnection] = {}

    def get(self, url: str, headers: dict[str, str] | None = None, method: str = "GET") -> Reply:
        parts = urlsplit(url)
        address = self._resolve[parts.hostname or ""]
        if address not in self._connections:
            self._connections[address] = http.client.HTTPConnection(address, self._port, timeout=20)
        connection = self._connections[address]
        connection.putrequest(method, url.split(parts.netloc, 1)[1] or "/", skip_host=True, skip_accept_encoding=True)
        for name, value in ({"Host": parts.netloc} | (headers or {})).items():
            connection.putheader(name, value)
        connection.endheaders()
        response = connection.getresponse()
        return Reply(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()


@dataclass
class Served:
    web: DemoWeb
    clock: SimulatedClock
    truth: Truth
    browser: Browser
    log: Path

    def url(self, host: str, path: str) -> str:
        return f"http://{host}.demo.test:{self.web.port}{path}"

    def get(self, host: str, path: str, headers: dict[str, str] | None = None) -> Reply:
        return self.browser.get(self.url(host, path), headers)

    def log_lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("demo-web")
    clock = SimulatedClock(folder / "clock.json")
    clock.set(START + timedelta(days=3, hours=1))
    with DemoWeb(7, clock.path, log_path=folder / "requests.jsonl") as web:
        browser = Browser(web.resolve, web.port)
        yield Served(web, clock, Truth(web.site.plan), browser, folder / "requests.jsonl")
        browser.close()
