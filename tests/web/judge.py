"""Compares what a crawler did with a row's `expected`, key by key; only the keys that are there count."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tests.web.names import DEFAULT_PORTS, normal, split
from tests.web.recipes import make
from tests.web.server import Request, ScriptedServer, plan_of

TOLERANCE_SECONDS = 0.02


@dataclass(slots=True)
class Seen:
    """What was seen of a crawl.

    visits: for each plan entry a dict of outcome, stored, changed, truncated, etag, last_modified and body, or None
    without an observation. candidates: URLs found. held: host to seconds from the end of its last response until its
    next allowed instant. memory_mb: by how much the crawler's memory grew, if that was measured.
    """

    visits: Sequence[Mapping[str, Any] | None]
    candidates: Sequence[str] = ()
    held: Mapping[str, float] = field(default_factory=dict)
    memory_mb: float = 0.0


def differences(row: Mapping[str, Any], seen: Seen, server: ScriptedServer) -> list[str]:
    """What differs from the row's expectation; empty if nothing does."""
    first = seen.visits[0]["outcome"] if seen.visits[0] else "-"
    expected = dict(row["expected"])
    expected |= expected.pop("if_outcome", {}).get(first, {})
    return [
        *_visits(expected, seen),
        *_requests(expected, server),
        *_headers(expected, server),
        *_paces(expected, server),
        *_connections(expected, server),
        *_candidates(expected, seen, row),
        *_holds(expected, seen),
        *_memory(expected, seen),
    ]


def _visits(expected: Mapping[str, Any], seen: Seen) -> Iterator[str]:
    count = len(seen.visits)

    def each(key: str) -> Iterator[tuple[int, Mapping[str, Any], Any]]:
        """Visits with their expectation: a list is parallel to the plan, a scalar is about the last entry."""
        if key in expected:
            value = expected[key]
            wanted = value if isinstance(value, list) else ["any"] * (count - 1) + [value]
            for number, (visit, want) in enumerate(zip(seen.visits, wanted, strict=False)):
                if visit is not None and want != "any":
                    yield number, visit, want

    for number, accepted in enumerate(expected.get("outcomes", [])):
        visit = seen.visits[number]
        outcome = visit["outcome"] if visit else "-"
        if outcome not in accepted:
            yield f"visit {number}: outcome {outcome}, accepted {accepted}"
    for key in ("stored", "changed", "truncated"):
        for number, visit, want in each(key):
            if visit[key] != want and (key != "truncated" or visit["outcome"] == "ok"):
                yield f"visit {number}: {key} {visit[key]!r}, expected {want!r}"
    for number, visit, want in each("validators_after"):
        for key, accepted in want.items():
            if visit[key] not in (accepted if isinstance(accepted, list) else [accepted]):
                yield f"visit {number}: {key} after is {visit[key]!r}, expected {accepted!r}"
    for number, visit, want in each("body_is"):
        if visit["body"] is not None and visit["body"] != make(want):
            yield f"visit {number}: the body differs"


def _requests(expected: Mapping[str, Any], server: ScriptedServer) -> Iterator[str]:
    for url, wanted in expected.get("requests", {}).items():
        count = len(server.requests(url))
        if not _in_range(count, wanted):
            yield f"{count} requests of {url}, expected {wanted}"
    odd = {request.method for request in server.log} - set(expected.get("methods", ["GET"]))
    if odd:
        yield f"methods {odd}"


def _headers(expected: Mapping[str, Any], server: ScriptedServer) -> Iterator[str]:
    for wanted in expected.get("request_headers", []):
        requests = server.requests(wanted["on"])
        number = wanted.get("n", 0)
        if not -len(requests) <= number < len(requests):
            if not wanted.get("if_sent"):
                yield f"no request {number} of {wanted['on']}"
            continue
        request = requests[number]
        yield from (f"{n} is missing on {request.url}" for n in wanted.get("present", []) if request.header(n) is None)
        yield from (f"{n} was sent to {request.url}" for n in wanted.get("absent", []) if request.header(n) is not None)
        for name, value in wanted.get("equals", {}).items():
            if request.header(name) != value:
                yield f"{name} on {request.url} is {request.header(name)!r}, expected {value!r}"
        for name, value in wanted.get("equals_if_present", {}).items():
            if request.header(name) not in (None, value):
                yield f"{name} on {request.url} is {request.header(name)!r}, expected {value!r}"
        for name in wanted.get("same_as_first", []):
            if request.header(name) != requests[0].header(name):
                yield f"{name} differs between the requests of {request.url}"


def _paces(expected: Mapping[str, Any], server: ScriptedServer) -> Iterator[str]:
    for wanted in expected.get("gap_s", []):
        before, after = server.requests(wanted["from"]), server.requests(wanted["to"])
        if after and (not before or before[0].ended is None or before[0].started > after[0].started):
            yield f"{wanted['from']} not before {wanted['to']}"
        elif after and _gap(before[0], after[0]) < wanted["min"] - TOLERANCE_SECONDS:
            yield f"gap {_gap(before[0], after[0]):.3f} s to {wanted['to']}, at least {wanted['min']}"
    for key, least in expected.get("pace_s", {}).items():
        found = sorted((r for r in server.log if key in (r.address, split(r.url)[1])), key=lambda r: r.started)
        for one, two in pairwise(found):
            if _gap(one, two) < least - TOLERANCE_SECONDS:
                yield f"{key}: {two.url} came {_gap(one, two):.3f} s after {one.url}, at least {least}"
    for request in server.log:
        took = (request.released or request.started) - request.started
        if took > expected.get("max_s", took):
            yield f"{request.url} was read for {took:.1f} s, at most {expected['max_s']}"


def _connections(expected: Mapping[str, Any], server: ScriptedServer) -> Iterator[str]:
    never = {normal(address) for address in expected.get("connects_to", {}).get("never", [])}
    hit = never & {address for address, _ in server.connects}
    if hit:
        yield f"connected to {sorted(hit)}"


def _candidates(expected: Mapping[str, Any], seen: Seen, row: Mapping[str, Any]) -> Iterator[str]:
    if "discovered" not in expected:
        return
    found = {_spelled(url) for url in seen.candidates}
    for url in expected["discovered"].get("must", []):
        if not found & {_spelled(one) for one in (url if isinstance(url, list) else [url])}:
            yield f"not discovered: {url}"
    for url in expected["discovered"].get("must_not", []):
        if _spelled(url) in found:
            yield f"discovered: {url}"
    more = found - {_spelled(entry["url"]) for entry in plan_of(row["script"])}
    if len(more) > expected["discovered"].get("max", len(more)):
        yield f"{len(more)} candidates: {sorted(more)}"


def _holds(expected: Mapping[str, Any], seen: Seen) -> Iterator[str]:
    for host, wanted in expected.get("held_host_s", {}).items():
        if host in seen.held and not _in_range(seen.held[host], wanted):
            yield f"host {host} is held {seen.held[host]:.2f} s, expected {wanted}"


def _memory(expected: Mapping[str, Any], seen: Seen) -> Iterator[str]:
    if not _in_range(seen.memory_mb, expected.get("memory_mb", seen.memory_mb)):
        yield f"the memory grew by {seen.memory_mb:.0f} MB, expected {expected['memory_mb']}"


def _gap(before: Request, after: Request) -> float:
    return after.started - (after.started if before.ended is None else before.ended)


def _in_range(number: float, wanted: Any) -> bool:
    if isinstance(wanted, dict):
        return bool(wanted.get("min", 0) <= number <= wanted.get("max", float("inf")))
    return bool(number == wanted)


def _spelled(url: str) -> str:
    """Enough to compare candidates: no fragment, no default port, an empty path is /."""
    scheme, host, port, target = split(url)
    if scheme not in DEFAULT_PORTS:
        return url
    return f"{scheme}://{host}{'' if port == DEFAULT_PORTS[scheme] else f':{port}'}{target}"
