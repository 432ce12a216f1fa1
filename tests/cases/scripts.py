"""Rows of http.jsonl: addresses to refuse or not, and scripts for a server, run through the whole fetch stage.

The script's server is real (tests/web); names, addresses and ports of the script lead to it inside this process. What
the crawler knows comes from `prior`; its clock moves on a day between cycles, and the server's with it.
"""

import contextlib
import hashlib
import json
import os
import ssl
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields
from datetime import datetime, timedelta
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from unittest import mock

from crawler.core.clock import SystemClock
from crawler.core.config import Settings
from crawler.core.cycle import Cycle
from crawler.core.model import RobotsCopy, Target
from crawler.core.urls import CanonicalUrl, canonicalize
from crawler.net import robots, transport
from crawler.net.resolver import is_blocked
from crawler.page.page import read_page
from crawler.stages import fetch
from tests.cases.facts import Row, compared
from tests.cases.memory import Growth
from tests.stages.memory_ledger import MemoryLedger, make_settings, target
from tests.web import judge
from tests.web.certificates import certificates
from tests.web.judge import Seen
from tests.web.recipes import make
from tests.web.server import ScriptedServer, plan_of

LOOPBACK = ["127.0.0.0/8", "::1/128"]
DAY = timedelta(days=1)
_VERSION = (
    "etag", "last_modified", "body_digest", "text_digest", "copy_digest", "simhash", "text_bytes", "body_bytes",
)  # fmt: skip
_VALIDATORS = ("etag", "last_modified")


def differences(row: Row) -> list[str]:
    if row["kind"] == "address":
        return compared({"blocked": is_blocked(row["input"])}, row)
    if row["kind"] != "script":
        return [f"a kind that this runner does not know: {row['kind']!r}"]
    if "memory_mb" not in json.dumps(row["expected"]):
        return _script_differences(row)
    # In a process of its own: a large one may have had pages taken from it, which it takes back just then.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
        return alone.submit(_script_differences, row, measure=True).result()


def _script_differences(row: Row, *, measure: bool = False) -> list[str]:
    trusting = ssl.create_default_context(cafile=certificates().authority)
    with (
        ScriptedServer(row["script"]) as server,
        server.intercept(),
        mock.patch.object(transport, "trusting_context", return_value=trusting),
        _environment(server.settings),
        _constants(server.settings),
    ):
        seen = _Visitor(row["script"], server).run(measure=measure)
        return judge.differences(row, seen, server)


class LaterClock(SystemClock):
    """The machine's clock, some days later."""

    def __init__(self) -> None:
        self.later = timedelta()

    def now(self) -> datetime:
        return super().now() + self.later


class _Visitor:
    """Fetches the plan of a script, cycle after cycle, and remembers what a lake would fold."""

    def __init__(self, script: Mapping[str, Any], server: ScriptedServer) -> None:
        self._server = server
        self._plan = plan_of(script)
        self._settings = _settings(server.settings)
        self._clock = LaterClock()
        self._ledger = MemoryLedger()
        prior = script.get("prior", {})
        now = self._clock.now()
        self._ledger.copies = {origin: _copy(origin, held, now) for origin, held in prior.get("robots", {}).items()}
        self._known = {url: _stored(url, page) for url, page in prior.get("pages", {}).items()}
        self._known = {_canonical(url) or url: version for url, version in self._known.items()}
        self._visits: list[dict[str, Any] | None] = [None] * len(self._plan)

    def run(self, *, measure: bool) -> Seen:
        """Everything that was seen. measure: also by how much the memory grew."""
        with Growth() if measure else contextlib.nullcontext() as growth:
            for cycle in range(1 + max(entry["cycle"] for entry in self._plan)):
                self._clock.later = self._server.later = cycle * DAY
                self._fetch(cycle)
        rows = self._ledger.rows
        found = [row["target_url"] for row in rows["link"] if not row["nofollow"] and row["trap"] is None]
        return Seen(self._visits, found, self._held(), growth.megabytes if growth else 0.0)

    def _fetch(self, cycle: int) -> None:
        ledger = self._ledger
        urls = [_canonical(entry["url"]) if entry["cycle"] == cycle else None for entry in self._plan]
        first = {url: n for n, url in reversed(list(enumerate(urls))) if url is not None}
        ledger.targets = [
            target(self._plan[n]["url"], priority=-n, **self._known.get(url, {}))
            for url, n in sorted(first.items(), key=lambda entry: entry[1])
        ]
        earlier, ledger.rows["observation"] = ledger.rows["observation"], []
        now = self._clock.now()
        ledger.deadline = now + timedelta(seconds=self._server.settings["window_s"])
        fetch.fetch(ledger, self._settings, self._clock, Cycle(now.date()), 0, 1)
        found = {row["url"]: row for row in ledger.rows["observation"]}
        for planned in ledger.targets:
            if planned.url in found:
                row, n = found[planned.url], first[planned.url]
                self._known[planned.url] = version = _version(planned, row)
                self._visits[n] = _visit(planned, row, version, ledger)
        for n, url in enumerate(urls):
            self._visits[n] = self._visits[first[url]] if url is not None else self._visits[n]
        ledger.rows["observation"] = earlier + ledger.rows["observation"]

    def _held(self) -> dict[str, float]:
        """Seconds from the end of each host's last response to its next allowed instant."""
        rows = self._ledger.rows
        ends: dict[str, datetime] = {}
        for row in (*rows["observation"], *rows["robots"]):
            if row["sent"]:
                ends[row["host"]] = max(row["ended_at"], ends.get(row["host"], row["ended_at"]))
        states = self._ledger.hosts()
        return {host: (states[host].allowed_at - end).total_seconds() for host, end in ends.items() if host in states}


def _settings(asked: Mapping[str, Any]) -> Settings:
    private = asked["allow_private"]
    return make_settings(
        crawl={"user_agent": asked["user_agent"]},
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
        address_delay_seconds=asked["min_delay_s"],
        retry_after_cap_seconds=asked["retry_after_cap_s"],
        robots_max_age_seconds=min(asked["robots_max_age_s"], DAY.total_seconds()),
    )


@contextlib.contextmanager
def _environment(asked: Mapping[str, Any]) -> Iterator[None]:
    """The environment and the netrc file that a script gives the crawler."""
    with tempfile.TemporaryDirectory() as home:
        variables = dict(asked["env"])
        if asked["netrc"]:
            Path(home, ".netrc").write_text(asked["netrc"])
            variables["HOME"] = home
        with mock.patch.dict(os.environ, variables):
            yield


def _constants(asked: Mapping[str, Any]) -> Any:
    """The limits that a script may set and that are no settings of the product but fixed by RFC 9309."""
    return mock.patch.multiple(robots, MAX_BYTES=asked["robots_max_bytes"], MAX_HOPS=asked["max_redirects"])


def _canonical(url: str) -> str | None:
    found = canonicalize(url)
    return found.url if isinstance(found, CanonicalUrl) else None


def _copy(origin: str, held: Mapping[str, Any], now: datetime) -> RobotsCopy:
    """The copy of a robots.txt that a crawler would hold after an answer with that status."""
    status, at = held.get("status", 200), now - timedelta(seconds=held.get("age_s", 0))
    verdict = "rules" if status == 200 else "allow" if 400 <= status < 500 and status != 429 else "disallow"
    body = make(held.get("body") or "") if status == 200 else None
    digest = hashlib.sha256(body).digest() if body is not None else None
    known = {
        "origin": origin, "verdict": verdict, "fetched_at": at, "valid_until": at + DAY, "body": body,
        "body_digest": digest, "body_fetched_at": at if body is not None else None, "etag": held.get("etag"),
    }  # fmt: skip
    return RobotsCopy(**{field.name: known[field.name] for field in fields(RobotsCopy) if field.name in known})


def _stored(url: str, page: Mapping[str, Any]) -> dict[str, Any]:
    """The version of a page that is known; without its body it cannot be asked for conditionally."""
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
    if row["outcome"] == "ok":
        return {name: row[name] for name in _VERSION}
    kept = {name: getattr(planned, name) for name in _VERSION}
    return kept | {name: row[name] for name in _VALIDATORS} if row["outcome"] == "not_modified" else kept


def _visit(planned: Target, row: Mapping[str, Any], version: Mapping[str, Any], ledger: MemoryLedger) -> dict[str, Any]:
    """What a row's `expected` asks of a visit. A body that another URL brought is kept as this page's version too."""
    bodies = {capture["body_digest"]: capture["body"] for capture in ledger.rows["capture"]}
    is_new = row["outcome"] == "ok" and row["body_digest"] != planned.body_digest
    return {
        "outcome": row["outcome"],
        "stored": row["stored"] or (is_new and row["body_digest"] in bodies),
        "changed": row["content_changed"],
        "truncated": row["truncated"],
        "etag": version["etag"],
        "last_modified": version["last_modified"],
        "body": bodies.get(row["body_digest"]),
    }
