"""Short scripts for the tests of one behaviour."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from tests.web.server import Request, ScriptedServer

PAGE = {"html": {"title": "A", "words": [120, 1]}}


def site(
    routes: Mapping[str, Any] | None = None,
    *,
    robots: Any = None,
    hosts: Mapping[str, Mapping[str, Any]] | Sequence[str] = ("a.test",),
) -> ScriptedServer:
    """A server whose pages not in `routes` are one page. robots: body of robots.txt or an exchange; None: 404."""
    servers = dict(hosts) if isinstance(hosts, Mapping) else {host: {} for host in hosts}
    pages = {f"http://{host}/*": {"body": PAGE} for host in servers}
    answers = {f"http://{host}/robots.txt": robots or {"status": 404} for host in servers}
    for url, answer in answers.items():
        if isinstance(answer, str):
            answers[url] = {"body": answer, "headers": [["Content-Type", "text/plain"]]}
    return ScriptedServer({"servers": servers, "routes": pages | answers | dict(routes or {}), "plan": []})


def gaps(server: ScriptedServer, host: str) -> list[float]:
    """Seconds between the end of each response of `host` and the next request, by the server's own log."""
    found = sorted((r for r in server.log if r.url.startswith(f"http://{host}/")), key=lambda r: r.started)
    return [two.started - _end(one) for one, two in pairwise(found)]


def _end(request: Request) -> float:
    assert request.ended is not None
    return request.ended
