"""Every row of http.jsonl: scripts for a misbehaving server and what must follow, through the whole fetch stage."""

import hashlib
import json
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from crawler.core.clock import SystemClock
from crawler.core.config import Settings
from crawler.core.cycle import Cycle
from crawler.core.model import RobotsCopy, Target
from crawler.core.urls import CanonicalUrl, canonicalize
from crawler.net import transport
from crawler.net.resolver import is_blocked
from crawler.page.page import read_page
from crawler.stages import fetch
from tests.stages.memory_ledger import MemoryLedger, make_settings, target
from tests.web.certificates import certificates
from tests.web.judge import Seen, differences
from tests.web.recipes import make
from tests.web.server import ScriptedServer, plan_of

ROWS = [
    json.loads(line) for line in (Path(__file__).parents[1] / "cases" / "http.jsonl").read_bytes().split(b"\n") if line
]
DISAGREED: dict[str, str] = {}  # id -> why the expectation is not met
LOOPBACK = ["127.0.0.0/8", "::1/128"]


@pytest.mark.parametrize("row", [row for row in ROWS if row["kind"] == "address"], ids=lambda row: str(row["id"]))
def test_an_address_is_refused_or_not(row: dict[str, Any]) -> None:
    accepted = [row["expected"], *row.get("accept", [])]
    assert is_blocked(row["input"]) in [each["blocked"] for each in accepted]


@pytest.mark.parametrize("row", [row for row in ROWS if row["kind"] == "script"], ids=lambda row: str(row["id"]))
def test_a_scripted_row_is_met(
    row: dict[str, Any], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if row["id"] in DISAGREED:
        request.applymarker(pytest.mark.xfail(reason=DISAGREED[row["id"]], strict=True))
    trusting = ssl.create_default_context(cafile=certificates().authority)
    monkeypatch.setattr(transport, "trusting_context", lambda: trusting)
    with ScriptedServer(row["script"]) as server, server.intercept():
        for name, value in server.settings["env"].items():
            monkeypatch.setenv(name, value)
        if server.settings["netrc"]:
            (tmp_path / ".netrc").write_text(server.settings["netrc"])
            monkeypatch.setenv("HOME", str(tmp_path))
        seen = _crawl(row["script"], server)
        assert differences(row, seen, server) == []


def _crawl(script: Mapping[str, Any], server: ScriptedServer) -> Seen:
    plan = plan_of(script)
    settings = _settings(server.settings)
    ledger = MemoryLedger()
    ledger.copies = {origin: _copy(origin, held) for origin, held in script.get("prior", {}).get("robots", {}).items()}
    known = {url: _stored(url, page) for url, page in script.get("prior", {}).get("pages", {}).items()}
    visits: list[dict[str, Any] | None] = [None] * len(plan)
    held: dict[str, float] = {}
    today = datetime.now(UTC).date()
    for cycle in range(1 + max(entry["cycle"] for entry in plan)):
        entries = [(n, entry["url"]) for n, entry in enumerate(plan) if entry["cycle"] == cycle]
        entries = [(n, url) for n, url in entries if isinstance(canonicalize(url), CanonicalUrl)]
        ledger.targets = [target(url, priority=-n, **known.get(url, {})) for n, url in entries]
        earlier, ledger.rows["observation"] = ledger.rows["observation"], []
        ledger.deadline = datetime.now(UTC) + timedelta(seconds=server.settings["window_s"])
        fetch.fetch(ledger, settings, SystemClock(), Cycle(today), 0, 1)
        found = {row["url"]: row for row in ledger.rows["observation"]}
        for (n, url), planned in zip(entries, ledger.targets, strict=True):
            if planned.url in found:
                known[url] = _version(planned, found[planned.url])
                visits[n] = _visit(found[planned.url], known[url], ledger)
        ledger.rows["observation"] = earlier + ledger.rows["observation"]
    for host, state in ledger.hosts().items():
        held[host] = (state.allowed_at - datetime.now(UTC)).total_seconds()
    return Seen(visits, [row["target_url"] for row in ledger.rows["link"]], held)


def _settings(asked: Mapping[str, Any]) -> Settings:
    private = asked["allow_private"]
    return make_settings(
        fetch={
            "connect_seconds": asked["connect_time_s"],
            "read_seconds": asked["read_time_s"],
            "total_seconds": asked["total_time_s"],
            "max_body_bytes": asked["max_body_bytes"],
            "max_header_bytes": asked["max_header_bytes"],
            "allow_private": LOOPBACK if private is True else private or [],
        },
        delay_seconds=asked["min_delay_s"],
        delay_factor=asked["delay_factor"],
        retry_after_cap_seconds=asked["retry_after_cap_s"],
    )


def _copy(origin: str, held: Mapping[str, Any]) -> RobotsCopy:
    body, at = make(held["body"]), datetime.now(UTC) - timedelta(seconds=held["age_s"])
    return RobotsCopy(origin, "rules", at, at + timedelta(days=1), body, hashlib.sha256(body).digest(), at)


def _stored(url: str, page: Mapping[str, Any]) -> dict[str, Any]:
    stored = {"etag": page.get("etag"), "last_modified": page.get("last_modified")}
    if page.get("body") is None:
        return stored
    body = make(page["body"])
    text = read_page(
        body, url=url, content_type="text/html", headers=[], product_token="testbot",
        min_text_bytes=256, max_parse_bytes=len(body) + 1,
    ).text_digest  # fmt: skip
    return stored | {"body_digest": hashlib.sha256(body).digest(), "text_digest": text, "body_bytes": len(body)}


def _version(planned: Target, row: Mapping[str, Any]) -> dict[str, Any]:
    """The version that is known after a visit."""
    names = (
        "etag",
        "last_modified",
        "body_digest",
        "text_digest",
        "copy_digest",
        "simhash",
        "text_bytes",
        "body_bytes",
    )
    if row["outcome"] == "ok":
        return {name: row[name] for name in names}
    kept = {name: getattr(planned, name) for name in names}
    return kept | {name: row[name] for name in names[:2]} if row["outcome"] == "not_modified" else kept


def _visit(row: Mapping[str, Any], version: Mapping[str, Any], ledger: MemoryLedger) -> dict[str, Any]:
    bodies = {capture["body_digest"]: capture["body"] for capture in ledger.rows["capture"]}
    return {
        "outcome": row["outcome"],
        "stored": row["stored"],
        "changed": row["content_changed"],
        "truncated": row["truncated"],
        "etag": version["etag"],
        "last_modified": version["last_modified"],
        "body": bodies.get(row["body_digest"]),
    }
