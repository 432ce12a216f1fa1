"""One misbehaving host for each fault, named after it, with what a fetch should make of its page.

The recipes of README.md; `python -m tests.web` serves them to try a crawl by hand, test_faults.py runs them all.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

DOMAIN = "faults.test"
PAGE = {"html": {"title": "A page of a site with a fault", "words": [200, 1]}}
LARGE = {"random": [4000, 1]}


@dataclass(frozen=True, slots=True)
class Fault:
    """What a host does. outcomes: those that are right for its page; robots: its robots.txt, 404 without one."""

    what: str
    page: Mapping[str, Any]
    outcomes: tuple[str, ...] = ("ok",)
    robots: Any = None
    server: Mapping[str, Any] = field(default_factory=dict)


def _ok(what: str, **page: Any) -> Fault:
    return Fault(what, {"body": PAGE} | page)


FAULTS: dict[str, Fault] = {
    "silent": Fault("never answers", {"body": PAGE, "delay_before_headers_s": 600}, ("timed_out",)),
    "one-byte-a-second": Fault("sends a byte a second", {"body": LARGE, "framing": "drip:1"}, ("timed_out",)),
    "stalls": Fault("stops in the middle", {"body": LARGE, "framing": "stall_after:2000"}, ("timed_out",)),
    "endless-head": Fault(
        "headers without end", {"body": PAGE, "headers": [["X-{i}", "v", "endless"]]}, ("timed_out",)
    ),
    "endless-interim": Fault(
        "103 after 103",
        {"body": PAGE, "interim": [{"status": 103, "times": "endless", "every_s": 0.2}]},
        ("timed_out",),
    ),
    "huge-head": Fault("a head of 1 MB", {"body": PAGE, "headers": [["X-{i}", "v" * 1000, 1000]]}, ("protocol_error",)),
    "endless-body": _ok("a body without end: cut", body={"endless": "<p>more "}, framing="close"),
    "gzip-bomb": _ok("64 MB in 64 kB of gzip: cut", body={"bomb": ["gzip", 64 << 20]}),
    "zstd-bomb": _ok("1 GB in 32 kB of zstd: cut", body={"bomb": ["zstd", 1 << 30]}),
    "cut-gzip": Fault("gzip without its end", {"body": PAGE, "encoding": ["gzip", "cut:20"]}, ("bad_content",)),
    "corrupt-gzip": Fault(
        "gzip with a wrong byte", {"body": PAGE, "encoding": ["gzip", "corrupt:40"]}, ("bad_content",)
    ),
    "double-coding": _ok("gzip in brotli", encoding=["gzip", "br"]),
    "short-body": Fault("less than it announces", {"body": PAGE, "framing": "wrong_length:+100"}, ("protocol_error",)),
    "bad-chunk": Fault("a chunk size that is no number", {"body": LARGE, "framing": "bad_chunk"}, ("protocol_error",)),
    "cut-chunk": Fault("no last chunk", {"body": LARGE, "framing": "cut_chunk"}, ("protocol_error",)),
    "reset": Fault("RST in the body", {"body": LARGE, "framing": "reset_after:2000"}, ("protocol_error",)),
    "no-http": Fault("answers in another protocol", {"raw": "U1NILTIuMC1PcGVuU1NIDQo="}, ("protocol_error",)),
    "closes": Fault("closes without a word", {"raw": ""}, ("protocol_error",)),
    "http-1.0": _ok("speaks HTTP/1.0", http_version="1.0"),
    "drops-the-next": _ok("drops the connection that it kept", after="drop_next"),
    "redirect-loop": Fault("to itself", {"status": 302, "headers": [["Location", "/"]]}, ("redirected",)),
    "redirect-nowhere": Fault("without a Location", {"status": 301}, ("protocol_error",)),
    "redirect-inside": Fault(
        "to a private address", {"status": 302, "headers": [["Location", "http://169.254.169.254/"]]}, ("redirected",)
    ),
    "unasked-304": Fault("304 to a first request", {"status": 304}, ("protocol_error",)),
    "unasked-206": Fault("a part, unasked", {"status": 206, "body": PAGE}, ("protocol_error",)),
    "busy": Fault("429 with Retry-After", {"status": 429, "headers": [["Retry-After", "120"]]}, ("rate_limited",)),
    "broken": Fault("500", {"status": 500, "body": "oops"}, ("server_error",)),
    "image": Fault("no page at all", {"body": LARGE, "headers": [["Content-Type", "image/png"]]}, ("unwanted_type",)),
    "open-tags": Fault(
        "a page that a parser may hang on", {"body": {"repeat": ["<div>", 200_000]}}, ("ok", "parser_failed")
    ),
    "robots-503": Fault("robots.txt answers 503", {"body": PAGE}, ("robots_unreachable",), robots={"status": 503}),
    "robots-denies": Fault(
        "robots.txt denies all", {"body": PAGE}, ("denied_by_robots",), robots="User-agent: *\nDisallow: /\n"
    ),
    "robots-html": _ok("a page in place of robots.txt"),
    "refuses": Fault("no port is open", {"body": PAGE}, ("robots_unreachable",), server={"listen": "refuse"}),
}


def host_of(fault: str) -> str:
    """The host that has the fault."""
    return f"{fault}.{DOMAIN}"


def script(port: int = 80, address: str | None = None) -> dict[str, Any]:
    """A script for a server of all faults at `port`; address: of all hosts, else one each."""
    suffix = "" if port == 80 else f":{port}"
    routes, servers = {}, {}
    for name, fault in FAULTS.items():
        host = host_of(name)
        servers[host] = dict(fault.server) | ({"address": address} if address else {})
        robots = fault.robots or ({"body": PAGE} if name == "robots-html" else {"status": 404})
        if isinstance(robots, str):
            robots = {"body": robots, "headers": [["Content-Type", "text/plain"]]}
        routes[f"http://{host}{suffix}/robots.txt"] = [robots]
        routes[f"http://{host}{suffix}/*"] = [fault.page]
    return {"servers": servers, "routes": routes, "plan": [f"http://{host_of(name)}{suffix}/" for name in FAULTS]}
