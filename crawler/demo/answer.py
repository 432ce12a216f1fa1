"""What the demo web answers to a request: status, headers, body, and how long it takes.

Pure but for a cache of bodies and the numbers of session ids. Knows HTTP's conditional requests (RFC 9110 13),
not sockets.
"""

import gzip
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from http import HTTPStatus

from xxhash import xxh3_64_hexdigest

from crawler.demo.dice import Dice
from crawler.demo.hosts import SESSION_MARK, Host, Role
from crawler.demo.pages import Kind, Page
from crawler.demo.render import page_bytes, robots_bytes, trap_bytes
from crawler.demo.site import Site, State, normal_path
from crawler.demo.traps import endless_bytes

_HTML = "text/html; charset=utf-8"
_PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(64)
_FAILURE_HOURS = 6
_FAILURE_SHARE = 0.3
_BODIES_KEPT = 8192


@dataclass(slots=True)
class Answer:
    """One response. `version`: of the page whose content was sent or confirmed; None where there is none."""

    status: int
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    seconds: float = 0.0
    version: int | None = None


class Answerer:
    """Answers for one site."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._bodies: OrderedDict[tuple[str, str, State], bytes] = OrderedDict()
        self._sessions = 0

    def answer(
        self, address: str, host_name: str, target: str, headers: Mapping[str, str], instant: datetime
    ) -> Answer:
        """The response to a GET of `target` (path and query) of a host, received at `address` at an instant.

        headers: names in lower case.
        """
        host = self._site.hosts.get(host_name)
        if host is None or host.address != address:
            return _message(421, f"No site of the name {host_name} is at {address}.")
        path = normal_path(target)
        if path == "/robots.txt":
            if host.role == Role.CLOSED:
                return _message(503, "Out of order.")
            if host.role == Role.NO_ROBOTS:
                return _message(404, "There is no such page.")
            return Answer(200, [("Content-Type", "text/plain")], robots_bytes(self._site, host))
        page = self._site.pages.get((host_name, path))
        if page:
            return self._page(page, headers, instant)
        redirect = self._site.redirects.get((host_name, path))
        if redirect:
            answer = _message(redirect.status, "The page is elsewhere.")
            answer.headers.append(("Location", redirect.target))
            return answer
        if host.role == Role.MANNERS and path == "/media/harbour.png":
            return Answer(200, [("Content-Type", "image/png")], _PICTURE)
        trap = self._trap(host, path)
        if trap:
            return Answer(200, [("Content-Type", _HTML)], trap)
        return _message(404, "There is no such page.")

    def _trap(self, host: Host, path: str) -> bytes | None:
        """A page without end; every link of it has a session of its own, where the host gives any."""
        if not host.is_endless:
            return trap_bytes(self._site, host, path)
        plan = self._site.plan
        body = endless_bytes(plan.seed, host.role, path, plan.archive)
        mark = SESSION_MARK.encode()
        while body and mark in body:
            body = body.replace(mark, self._session(), 1)
        return body

    def _session(self) -> bytes:
        self._sessions += 1
        return xxh3_64_hexdigest(f"{self._site.plan.seed}|{self._sessions}".encode()).encode()

    def _page(self, page: Page, headers: Mapping[str, str], instant: datetime) -> Answer:
        status = page_status(self._site, page, instant)
        if status != 200:
            answer = _message(status, "This page cannot be shown.")
            answer.seconds = page.seconds
            return answer
        host = self._site.hosts[page.host]
        state = self._site.state(page, instant)
        answer = Answer(200, version=state.version, seconds=page.seconds)
        etag = modified = None
        if host.validators.has_etag:
            etag = f'"{xxh3_64_hexdigest(page.key.encode())}-{state.version}"'
            if host.role == Role.PACKED:
                etag = f"W/{etag}"  # two codings of one content share it
            answer.headers.append(("ETag", etag))
        if host.validators.has_modified:
            modified = self._site.modified(page, instant)
            answer.headers.append(("Last-Modified", format_datetime(modified, usegmt=True)))
        if host.role == Role.PACKED:
            answer.headers.append(("Vary", "Accept-Encoding"))
        if _is_current(headers, etag, modified):
            answer.status = 304
            return answer
        answer.headers.append(("Content-Type", _content_type(page)))
        if page.robots_header:
            answer.headers.append(("X-Robots-Tag", page.robots_header))
        answer.body = self._body(page, state)
        if host.role == Role.SESSIONS:
            answer.body = answer.body.replace(SESSION_MARK.encode(), self._session())
        if host.role == Role.PACKED and "gzip" in headers.get("accept-encoding", ""):
            answer.headers.append(("Content-Encoding", "gzip"))
            answer.body = gzip.compress(answer.body, mtime=0)
        return answer

    def _body(self, page: Page, state: State) -> bytes:
        key = (page.host, page.path, state)
        body = self._bodies.get(key)
        if body is None:
            body = self._bodies[key] = page_bytes(self._site, page, state)
            if len(self._bodies) > _BODIES_KEPT:
                self._bodies.popitem(last=False)
        return body


def page_status(site: Site, page: Page, instant: datetime) -> int:
    """The status of an unconditional GET of a page: 200, 404 before its birth, 410 after its end, 500 now and then."""
    if page.born and instant < page.born:
        return 404
    if page.ends and instant >= page.ends:
        return 410
    if page.is_flaky:
        slot = instant.date().toordinal() * 24 + instant.hour - instant.hour % _FAILURE_HOURS
        if Dice(page.key, "failure", slot).random() < _FAILURE_SHARE:
            return 500
    return 200


def _is_current(headers: Mapping[str, str], etag: str | None, modified: datetime | None) -> bool:
    """RFC 9110 13.2.2: If-None-Match decides when it is there, by weak comparison; else If-Modified-Since."""
    asked = headers.get("if-none-match")
    if asked is not None and etag is not None:
        return asked.strip() == "*" or etag.removeprefix("W/") in (
            tag.strip().removeprefix("W/") for tag in asked.split(",")
        )
    since = headers.get("if-modified-since")
    if since is None or asked is not None or modified is None:
        return False
    try:
        copied = parsedate_to_datetime(since)
    except ValueError:
        return False
    return modified - copied.replace(tzinfo=copied.tzinfo or UTC) <= timedelta(0)


def _content_type(page: Page) -> str:
    if page.kind != Kind.SITEMAP:
        return _HTML
    return "application/gzip" if page.path.endswith(".gz") else "application/xml"


def _message(status: int, sentence: str) -> Answer:
    phrase = HTTPStatus(status).phrase
    body = f"<!DOCTYPE html>\n<html><head><title>{phrase}</title></head><body><p>{sentence}</p></body></html>\n"
    return Answer(status, [("Content-Type", _HTML)], body.encode())
