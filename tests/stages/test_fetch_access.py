"""Credentials, headers and proxies through the whole fetch stage: where they go, and that nothing tells of them."""

import json
import logging
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import pytest

from crawler.core.clock import SystemClock
from crawler.core.config import Settings, parse_settings
from crawler.core.cycle import Cycle
from crawler.core.errors import MissingSecret, ProxyFailed
from crawler.core.secrets import Secrets, resolve_secrets
from crawler.stages import fetch
from tests.stages.memory_ledger import MemoryLedger, make_settings
from tests.web import proxy
from tests.web.proxy import ForwardProxy
from tests.web.server import ScriptedServer
from tests.web.site import PAGE, site

SECRETS = ("hunter2", "am9lOmh1bnRlcjI=", "t0ken-s3cret", "cHJveHlqb2U6aHVudGVyMg==")
ENVIRONMENT = {"LOGIN": "joe:hunter2", "KEY": "t0ken-s3cret", "PROXY_LOGIN": "proxyjoe:hunter2"}
GUARDED = {
    "credentials": "env:LOGIN",
    "headers": {"X-Key": "env:KEY", "Accept-Language": "de"},
    "secret_origins": ["http://a.test"],
}


def settings_of(host: dict[str, Any], **more: Any) -> Settings:
    return parse_settings({**make_settings(**more).model_dump(), "host": host})


def run(ledger: MemoryLedger, settings: Settings, secrets: Secrets | None = None) -> dict[str, int]:
    cycle = Cycle(datetime.now(UTC).date())
    return fetch.fetch(ledger, settings, SystemClock(), cycle, 0, 1, secrets=secrets)


def got(server: ScriptedServer) -> list[tuple[str, str | None, str | None, str | None]]:
    names = ("authorization", "x-key", "accept-language")
    return [(request.url, *(request.header(name) for name in names)) for request in server.log]  # type: ignore[misc]


def test_secrets_reach_their_origin_and_neither_another_host_nor_another_port() -> None:
    routes = {
        "http://a.test/robots.txt": {"status": 301, "headers": [["Location", "http://b.test/r"]]},
        "http://b.test/r": {"body": ""},
        "http://a.test/0": {"status": 302, "headers": [["Location", "http://b.test/1"]]},
        "http://a.test:8080/0": {"body": PAGE},
    }
    settings = settings_of({"a.test": GUARDED})
    ledger = MemoryLedger(["http://a.test/0", "http://a.test:8080/0", "http://b.test/1"])
    with site(routes, hosts=["a.test", "b.test"]) as server, server.intercept():
        run(ledger, settings, resolve_secrets(settings, ENVIRONMENT))
        found = sorted(got(server))
    full, own, none = ("Basic am9lOmh1bnRlcjI=", "t0ken-s3cret", "de"), (None, None, "de"), (None, None, None)
    assert found == [
        ("http://a.test/0", *full),
        ("http://a.test/robots.txt", *full),
        ("http://a.test:8080/0", *own),
        ("http://a.test:8080/robots.txt", *own),
        ("http://b.test/1", *none),
        ("http://b.test/r", *none),
        ("http://b.test/robots.txt", *none),
    ]


@pytest.mark.parametrize("answer", [{"body": PAGE}, {"status": 401}, {"raw": ""}, {"raw": "eHh4DQoNCg=="}])
def test_nothing_that_is_written_down_or_logged_tells_a_secret(
    answer: dict[str, Any], caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    settings = settings_of({"a.test": GUARDED})
    secrets = resolve_secrets(settings, ENVIRONMENT)
    ledger = MemoryLedger(["http://a.test/0", "http://a.test/1"])
    with caplog.at_level(logging.DEBUG), site({"http://a.test/0": answer}) as server, server.intercept():
        run(ledger, settings, secrets)
        assert server.requests("http://a.test/0")[0].header("x-key") == "t0ken-s3cret"
    told = [json.dumps(ledger.rows, default=repr), repr(settings), repr(secrets), repr(vars(secrets)), caplog.text]
    told += capfd.readouterr()
    assert not [secret for secret in SECRETS for text in told if secret in text]


def test_a_missing_secret_ends_the_task_before_any_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOGIN", raising=False)
    ledger = MemoryLedger(["http://a.test/0", "http://b.test/0"])
    with site(hosts=["a.test", "b.test"]) as server, server.intercept():
        with pytest.raises(MissingSecret, match="Set LOGIN in the environment"):
            run(ledger, settings_of({"a.test": GUARDED}))
        assert (server.log, server.connects, ledger.rows) == ([], [], {})


def test_a_secret_that_is_not_given_is_looked_up_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    with site() as server, server.intercept():
        run(MemoryLedger(["http://a.test/0"]), settings_of({"a.test": GUARDED}))
        assert {request.header("x-key") for request in server.log} == {"t0ken-s3cret"}


def test_hosts_behind_a_proxy_share_no_address_and_are_not_looked_up_here() -> None:
    hosts = [f"h{number}.test" for number in range(5)]
    settings = make_settings(fetch={"proxy": proxy.URL}, address_delay_seconds=60.0)
    ledger = MemoryLedger([f"http://{host}/0" for host in hosts], window_seconds=20)
    with ForwardProxy() as way, site(hosts=hosts) as server, way.intercept(server):
        run(ledger, settings)
    assert set(ledger.outcomes().values()) == {"ok"}  # one gate for the proxy's address would leave four open
    rows = [row for table in ("observation", "robots", "host_state") for row in ledger.rows[table]]
    assert {row["address"] for row in rows} == {None}
    assert set(way.looked_up) == {proxy.NAME}


def test_a_dead_proxy_fails_the_task_once_the_other_hosts_are_done_and_says_nothing_of_those_behind_it() -> None:
    behind = [f"h{number}.test" for number in range(40)]
    hosts = {name: {"proxy": "http://127.0.0.77:9"} for name in behind}
    settings = settings_of(hosts, fetch={"threads": 2}, delay_seconds=0.05)
    direct = [f"http://a.test/{number}" for number in range(5)]
    ledger = MemoryLedger([*(f"http://{name}/0" for name in behind), *direct])
    with site(hosts=["a.test", *behind]) as server, server.intercept():
        with pytest.raises(ProxyFailed, match=r"proxy http://127\.0\.0\.77:9: .*refused"):
            run(ledger, settings)
        tried = [address for address, _ in server.connects if address == "127.0.0.77"]
        assert {urlsplit(request.url).hostname for request in server.log} == {"a.test"}
    assert ledger.outcomes() == dict.fromkeys(direct, "ok")
    assert {row["host"] for table in ("robots", "host_state") for row in ledger.rows[table]} == {"a.test"}
    assert ledger.complete is False
    assert len(tried) <= 2  # one a thread: the others are not tried in vain


def test_a_robots_txt_behind_a_dead_proxy_keeps_nobody_waiting() -> None:
    routes = {"http://a.test/robots.txt": {"status": 301, "headers": [["Location", "http://b.test/r"]]}}
    settings = settings_of({"b.test": {"proxy": "http://127.0.0.77:9"}})
    ledger = MemoryLedger(["http://a.test/0", "http://c.test/0"])
    server = site(routes, hosts=["a.test", "b.test", "c.test"])
    with server, server.intercept(), pytest.raises(ProxyFailed):
        run(ledger, settings)
    assert ledger.outcomes() == {"http://c.test/0": "ok"}


def test_what_a_dead_proxy_left_open_is_fetched_by_the_next_try() -> None:
    ledger = MemoryLedger(["http://a.test/0", "http://b.test/0"])
    with site(hosts=["a.test", "b.test"]) as server, server.intercept():
        with pytest.raises(ProxyFailed):
            run(ledger, settings_of({"b.test": {"proxy": "http://127.0.0.77:9"}}))
        ledger.taken_over = True
        run(ledger, make_settings())
    assert ledger.outcomes() == {"http://a.test/0": "ok", "http://b.test/0": "ok"}
    assert ledger.complete is True
