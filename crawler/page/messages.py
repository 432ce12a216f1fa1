"""What a fetch task and its parse worker say to each other, as bytes.

The task is trusted, so it may send a pickle. A worker has read hostile pages: what it says is JSON and plain buffers,
and is checked. Reads and writes streams that it is given; waits for nothing else.
"""

import json
import pickle
import struct
from array import array
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from itertools import pairwise
from typing import BinaryIO

from crawler.core.columns import KINDS, NO_HINT, SITEMAP_KINDS, LinkColumns, Texts
from crawler.page.reading import Job, Reading, Rules

READY = b"RDY\n"
MOST_REPLY_BYTES = 256 << 20
"""What a worker can say of one batch; more is no reply."""

_MOST_COUNTS, _COUNT_END = 100, 1 << 32  # of links by name; what a column of them holds
_LATEST_SECOND = 253_402_300_800  # the year 10,000
_HEAD = struct.Struct("=I")
_DIGESTS = ("body_digest", "text_digest", "copy_digest")
_ARRAYS = (("counts", "I"), ("hosts", "I"), ("url_keys", "Q"), ("pattern_keys", "Q"))
_HINTS = (("hinted", "I"), ("lastmods", "q"), ("priorities", "d"))
_BYTES = ("kinds", "nofollow", "traps")
_TEXTS = ("urls", "fetch_urls")
_META = tuple(field.name for field in fields(Job) if field.name != "body")


class NoReply(Exception):
    """What a worker said is not what a worker says. Argument: the problem."""


def hello(rules: Rules) -> bytes:
    """What a worker is told first."""
    return _framed(pickle.dumps(rules))


def read_hello(stream: BinaryIO) -> Rules:
    """What `hello` wrote. Raises EOFError."""
    rules: Rules = pickle.loads(_read_frame(stream))  # noqa: S301  # from the task that started this process
    return rules


def request(jobs: Sequence[Job], seconds: float) -> list[bytes]:
    """The pieces to send for a batch; seconds: of CPU time that a page may take."""
    metas = [(*(getattr(job, name) for name in _META), len(job.body)) for job in jobs]
    return [_framed(pickle.dumps((seconds, metas))), *(job.body for job in jobs)]


def read_request(stream: BinaryIO) -> tuple[list[Job], float]:
    """What `request` wrote. Raises EOFError."""
    seconds, metas = pickle.loads(_read_frame(stream))  # noqa: S301  # from the task that started this process
    return [Job(**dict(zip(_META, meta, strict=True)), body=_read(stream, size)) for *meta, size in metas], seconds


def reply(readings: Sequence[Reading], links: LinkColumns) -> bytes:
    """What a worker found in a batch."""
    found = [asdict(reading) for reading in readings]
    for facts in found:
        for name in _DIGESTS:
            facts[name] = facts[name].hex() if facts[name] is not None else None
    buffers = [getattr(links, name).tobytes() for name, _ in (*_ARRAYS, *_HINTS)]
    buffers += [getattr(links, name) for name in _BYTES]
    for name in _TEXTS:
        texts: Texts = getattr(links, name)
        buffers += [texts.joined, texts.lengths.tobytes()]
    head = json.dumps(
        {
            "readings": found,
            "hosts": links.host_names,
            "traps": links.trap_names,
            "sizes": [len(buffer) for buffer in buffers],
        }
    ).encode()
    return _framed(b"".join([_framed(head), *buffers]))


def read_reply(read: Callable[[int], bytes], pages: int) -> tuple[list[Reading], LinkColumns]:
    """What a worker said of a batch of `pages`. read: gives so many bytes. Raises NoReply, and what `read` raises."""
    (size,) = _HEAD.unpack(read(_HEAD.size))
    if size > MOST_REPLY_BYTES:
        raise NoReply(f"{size} bytes of reply")
    body = memoryview(read(size))
    try:
        readings, links = _parse_reply(body)
    except (ValueError, KeyError, TypeError, struct.error) as error:
        raise NoReply(f"{type(error).__name__}: {error}") from error
    if len(readings) != pages:
        raise NoReply(f"{len(readings)} readings of {pages} pages")
    return readings, links


def _parse_reply(body: memoryview) -> tuple[list[Reading], LinkColumns]:
    (size,) = _HEAD.unpack_from(body)
    start = _HEAD.size + size
    head = json.loads(bytes(body[_HEAD.size : start]))
    buffers = []
    for length in head["sizes"]:
        buffers.append(body[start : start + length])
        start += length
    for facts in head["readings"]:
        for name in _DIGESTS:
            facts[name] = bytes.fromhex(facts[name]) if facts[name] is not None else None
    links = LinkColumns(host_names=[str(name) for name in head["hosts"]], trap_names=[str(n) for n in head["traps"]])
    rest = iter(buffers)
    for name, kind in (*_ARRAYS, *_HINTS):
        column: array[int] | array[float] = array(kind)
        column.frombytes(next(rest))
        setattr(links, name, column)
    for name in _BYTES:
        setattr(links, name, next(rest).tobytes())
    for name in _TEXTS:
        setattr(links, name, Texts(next(rest).tobytes(), array("I", next(rest).tobytes())))
    _check(links, len(head["readings"]))
    readings = [Reading(**facts) for facts in head["readings"]]
    for reading in readings:
        if reading.sitemap not in (None, *SITEMAP_KINDS):
            raise ValueError("no kind of sitemap")
        _check_counts(reading.rejected_links)
        _check_counts(reading.dropped_parameters)
    return readings, links


def _check(links: LinkColumns, pages: int) -> None:
    """Raise ValueError unless every column has a value for each link, within its range."""
    count = len(links.kinds)
    columns = [links.nofollow, links.traps, links.hosts, links.url_keys, links.pattern_keys]
    columns += [links.urls.lengths, links.fetch_urls.lengths]
    if any(len(column) != count for column in columns) or sum(links.counts) != count or len(links.counts) != pages:
        raise ValueError("columns of different lengths")
    for places, names in ((links.kinds, KINDS), (links.traps, links.trap_names), (links.hosts, links.host_names)):
        if max(places, default=-1) >= len(names):
            raise ValueError("a place beyond its names")
    if max(links.nofollow, default=0) > 1:
        raise ValueError("nofollow is neither 0 nor 1")
    _check_hints(links)
    for texts in (links.urls, links.fetch_urls):
        if sum(texts.lengths) != len(texts.joined) or not texts.joined.isascii():
            raise ValueError("texts that are not ASCII or of other lengths")


def _check_hints(links: LinkColumns) -> None:
    hinted = links.hinted
    if not len(hinted) == len(links.lastmods) == len(links.priorities):
        raise ValueError("hints of different lengths")
    if any(later <= place for place, later in pairwise(hinted)) or (hinted and hinted[-1] >= len(links)):
        raise ValueError("hints about no link")
    if not all(second == NO_HINT or 0 <= second < _LATEST_SECOND for second in links.lastmods):
        raise ValueError("a lastmod that is no instant")
    if not all(priority == NO_HINT or 0 <= priority <= 1 for priority in links.priorities):
        raise ValueError("a priority that is not between 0 and 1")


def _check_counts(links: object) -> None:
    """Raise ValueError unless `links` is a few texts with a number each."""
    if (
        not isinstance(links, dict)
        or len(links) > _MOST_COUNTS
        or not all(type(count) is int and 0 <= count < _COUNT_END for count in links.values())
    ):
        raise ValueError("no counts of links")


def _framed(content: bytes) -> bytes:
    return _HEAD.pack(len(content)) + content


def _read_frame(stream: BinaryIO) -> bytes:
    (size,) = _HEAD.unpack(_read(stream, _HEAD.size))
    return _read(stream, size)


def _read(stream: BinaryIO, size: int) -> bytes:
    found = stream.read(size)
    if len(found) < size:
        raise EOFError("the task has ended")
    return found
