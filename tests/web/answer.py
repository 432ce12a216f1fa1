"""What an exchange of a script puts on the wire: status line, head, body, and what follows it."""

import email.utils
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.web.recipes import encoded, make, pieces, size_of

Exchange = Mapping[str, Any]

_CODINGS = {
    "gzip": "gzip", "x-gzip": "x-gzip", "deflate-zlib": "deflate", "deflate-raw": "deflate", "br": "br", "zstd": "zstd",
}  # fmt: skip
_CLOSING = ("close", "cut_chunk", "bad_chunk", "wrong_length")


class Answer:
    """What an exchange puts on the wire. later: what the server's clock is ahead of the machine's."""

    def __init__(self, exchange: Exchange, later: timedelta = timedelta()) -> None:
        now = datetime.now(UTC) + later
        status, version = exchange.get("status", 200), exchange.get("http_version", "1.1")
        default = "close" if version == "1.0" else "length"
        self.framing, _, self.argument = exchange.get("framing", default).partition(":")
        self.line = f"HTTP/{version} {status} {exchange.get('reason', 'X')}\r\n".encode("latin-1")
        body, steps = exchange.get("body"), exchange.get("encoding", [])
        has_body = not (status in (204, 304) or 100 <= status < 200)
        whole = encoded(make(body), steps) if steps else None
        size = len(whole) if whole is not None else size_of(body)
        self.body = iter([whole]) if whole is not None else pieces(body)
        if not has_body:
            self.body = iter([])
        self.head: list[tuple[str, bytes, Any]] = [
            (name, _header_value(value, now), times[0] if times else 1)
            for name, value, *times in exchange.get("headers", [])
            if value is not None
        ]
        given = {name.lower() for name, *_ in exchange.get("headers", [])}
        added = {"Date": email.utils.format_datetime(now, usegmt=True)}
        if has_body:
            added |= self._body_headers(body, steps, size)
        self.head += [(name, value.encode("latin-1"), 1) for name, value in added.items() if name.lower() not in given]
        is_closing = self.framing in _CLOSING or version == "1.0"
        self.after = str(exchange.get("after", "close" if is_closing else "keep"))

    def _body_headers(self, body: Any, steps: list[str], size: int | None) -> dict[str, str]:
        added = {} if body is None else {"Content-Type": "text/html; charset=utf-8"}
        codings = [_CODINGS[step] for step in steps if step in _CODINGS]
        if isinstance(body, dict) and "bomb" in body:
            codings = [body["bomb"][0], *codings]
        if codings:
            added["Content-Encoding"] = ", ".join(codings)
        match self.framing:
            case "chunked" | "bad_chunk" | "cut_chunk":
                added["Transfer-Encoding"] = "chunked"
            case "declare":
                added["Content-Length"] = self.argument
            case "wrong_length":
                added["Content-Length"] = str((size or 0) + int(self.argument))
            case "close":
                added["Connection"] = "close"
            case _:
                added["Content-Length"] = str(size)
        return added


def _header_value(value: Any, now: datetime) -> bytes:
    if isinstance(value, str):
        return value.encode("latin-1")
    if "http_date" in value:
        return email.utils.format_datetime(now + timedelta(seconds=value["http_date"]), usegmt=True).encode()
    return make(value)
