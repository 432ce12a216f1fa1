"""Response heads of the wild, over a real socket."""

import http.client
import socket
import time

import pytest

from crawler.net.answer import Answer
from crawler.net.wire import HeadTooLong, Limits, Wire


def answer_of(octets: bytes, *, head_bytes: int = 4096) -> Answer:
    ours, theirs = socket.socketpair()
    with theirs:
        theirs.sendall(octets)
    answer = Answer(Wire(ours, Limits(time.monotonic() + 5, 1, 1, head_bytes)), method="GET")
    try:
        answer.begin()
    finally:
        if answer.status == "UNKNOWN":
            answer.close()
        ours.close()
    return answer


def body_of(octets: bytes) -> bytes:
    ours, theirs = socket.socketpair()
    with theirs:
        theirs.sendall(octets)
    with ours:
        answer = Answer(Wire(ours, Limits(time.monotonic() + 5, 1, 1, 4096)), method="GET")
        answer.begin()
        found = b"".join(iter(lambda: answer.piece(100), b""))
        answer.close()
    return found


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ('ETag: "a b"  ', ("ETag", '"a b"')),
        ('ETag \t: W/"x"', ("ETag", 'W/"x"')),
        ("X: a\x00b\x0bc", ("X", "a b c")),
        ("X: a\r\n  b\r\n\tc", ("X", "a b c")),
        ("X:", ("X", "")),
        ("X: \xe4", ("X", "\xe4")),
    ],
)
def test_a_field_is_read_as_it_was_meant(line: str, field: tuple[str, str]) -> None:
    head = f"HTTP/1.1 200 OK\r\n{line}\r\nContent-Length: 0\r\n\r\n"
    assert answer_of(head.encode("latin-1")).fields == [field, ("Content-Length", "0")]


@pytest.mark.parametrize("line", ["no colon", ": no name", "na me: v", "\xe4: v", "  folded onto nothing"])
def test_a_line_that_is_no_field_takes_no_other_with_it(line: str) -> None:
    head = f"HTTP/1.1 200 OK\r\n{line}\r\nContent-Length: 0\r\n\r\n"
    assert answer_of(head.encode("latin-1")).fields == [("Content-Length", "0")]


def test_lines_may_end_without_a_carriage_return() -> None:
    assert body_of(b"HTTP/1.1 200 OK\nContent-Length: 2\n\nab") == b"ab"


@pytest.mark.parametrize("line", ["HTTP/1.1 404 Not Found", "HTTP/1.1 404", "HTTP/1.0  404 ", "HTTP/1.1\t404\tx"])
def test_a_status_line_needs_only_a_version_and_a_code(line: str) -> None:
    assert answer_of(f"{line}\r\n\r\n".encode()).status == 404


def test_interim_answers_are_skipped() -> None:
    heads = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 404 Not Found\r\n\r\n"
    answer = answer_of(heads)
    assert (answer.status, answer.fields) == (404, [])


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        ("Content-Length: 3\r\nContent-Length: 3", b"abcd"),
        ("Content-Length: 3, 3", b"abcd"),
        ("Transfer-Encoding: Chunked\r\nContent-Length: 9", b"3\r\nabc\r\n0\r\n\r\n"),
        ("Transfer-Encoding: identity, chunked", b"1;x=y\r\na\r\n2\r\nbc\r\n0\r\nX: y\r\n\r\n"),
        ("Content-Length: some", b"abc"),
        ("Content-Length: -1", b"abc"),
    ],
)
def test_the_end_of_a_body_is_where_the_head_says(fields: str, body: bytes) -> None:
    assert body_of(f"HTTP/1.1 200 OK\r\n{fields}\r\n\r\n".encode() + body) == b"abc"


@pytest.mark.parametrize("code", [204, 304])
def test_some_statuses_have_no_body_whatever_they_announce(code: int) -> None:
    assert body_of(f"HTTP/1.1 {code} x\r\nContent-Length: 3\r\n\r\nabc".encode()) == b""


@pytest.mark.parametrize(
    ("octets", "error"),
    [
        (b"", http.client.RemoteDisconnected),
        (b"<html>", http.client.BadStatusLine),
        (b"\r\nHTTP/1.1 200 OK\r\n\r\n", http.client.BadStatusLine),
        (b"HTTP/1.1 20 OK\r\n\r\n", http.client.BadStatusLine),
        (b"HTTP/1.1 +20 OK\r\n\r\n", http.client.BadStatusLine),
        (b"HTTP/2 200 OK\r\n\r\n", http.client.UnknownProtocol),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc", http.client.HTTPException),
        (b"HTTP/1.1 200 OK\r\nX: " + bytes(5000) + b"\r\n\r\n", HeadTooLong),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 5000, HeadTooLong),
        (b"HTTP/1.1 103 x\r\nX: y\r\n\r\n" * 500, HeadTooLong),
    ],
)
def test_what_is_no_head_is_told(octets: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        answer_of(octets)


@pytest.mark.parametrize(
    "octets",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
    ],
)
def test_a_body_that_ends_too_early_is_told(octets: bytes) -> None:
    with pytest.raises(http.client.IncompleteRead):
        body_of(octets)


@pytest.mark.parametrize(
    ("head", "closes"),
    [
        ("HTTP/1.1 200 OK\r\nContent-Length: 0", False),
        ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: Close", True),
        ("HTTP/1.1 200 OK", True),
        ("HTTP/1.0 200 OK\r\nContent-Length: 0", True),
        ("HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: Keep-Alive", False),
    ],
)
def test_a_connection_is_kept_only_if_the_server_keeps_it(head: str, closes: bool) -> None:
    assert answer_of(f"{head}\r\n\r\n".encode()).will_close is closes
