"""The seen filter: whether a URL is certainly new to a bucket, in two bytes a URL.

A Bloom filter over the 64-bit keys of all URLs that the bucket knows. "Not seen" is certain, so a fetch
may act on it; "maybe seen" is merge's to decide, exactly. The filter of a checkpoint is a file beside it,
`checkpoint/bucket=BBBB/eNNNNNNNN-seen.bloom`: a pure function of the checkpoint and the settings, written by the first
fetch that needs it, and made anew if it is missing, torn, of other settings or too small. Owns that file; what became
known since is added to it in memory. The keys are hashes already, and no other hash is taken of them.
"""

import struct
from collections.abc import Sequence
from operator import index

import duckdb
from rbloom import Bloom
from xxhash import xxh3_64_intdigest

from crawler.store import query
from crawler.store.lake import Lake, partition_name
from crawler.store.state import CHECKPOINTS

_MAGIC = b"recrawl seen 1\n\0"
_HEAD = struct.Struct("<16sdQQQ")  # magic, rate, room, keys, xxh3_64 of the filter
LEAST_ROOM = 10_000
_GROWTH = 1.5  # room for what becomes known until the next checkpoint: lake.checkpoint_share of it, by default


class Seen:
    """A filter. rate: false positives among what is new, while keys <= room."""

    def __init__(self, rate: float, room: int) -> None:
        self.rate = rate
        self.room = max(room, LEAST_ROOM)
        self.keys = 0
        self._bloom = Bloom(self.room, rate, index)

    @property
    def size_bytes(self) -> int:
        return int(self._bloom.size_in_bits) // 8

    def add(self, keys: Sequence[int]) -> None:
        """Let URL keys, distinct ones that were not added before, be seen."""
        self._bloom.update(keys)
        self.keys += len(keys)

    def is_new(self, key: int) -> bool:
        """Whether the key was certainly never added."""
        return key not in self._bloom

    def to_bytes(self) -> bytes:
        content = self._bloom.save_bytes()
        return _HEAD.pack(_MAGIC, self.rate, self.room, self.keys, xxh3_64_intdigest(content)) + content

    @classmethod
    def from_bytes(cls, content: bytes, rate: float) -> "Seen | None":
        """The filter that `to_bytes` wrote; None for one of another rate, of another version or damaged."""
        if len(content) < _HEAD.size:
            return None
        magic, written_rate, room, keys, digest = _HEAD.unpack_from(content)
        rest = content[_HEAD.size :]
        if magic != _MAGIC or written_rate != rate or xxh3_64_intdigest(rest) != digest:
            return None
        seen = cls.__new__(cls)
        seen.rate, seen.room, seen.keys = rate, room, keys
        seen._bloom = Bloom.load_bytes(rest, index)
        return seen


def open_seen(lake: Lake, con: duckdb.DuckDBPyConnection, bucket: int, epoch: int) -> Seen:
    """The filter of all that a bucket knows, by its checkpoint of `epoch` (0: none) and the log after it.

    Reads the views base_page, tail_url and tail_observation of `con`. The caller owns the bucket.
    """
    rate = lake.settings.lake.seen_false_positive_rate
    later = _keys(con, "fetch/later_keys")
    name = seen_name(lake, bucket, epoch)
    written = Seen.from_bytes(lake.files.read(name), rate) if epoch and lake.files.exists(name) else None
    if written is not None and written.keys + len(later) <= written.room:
        written.add(later)
        return written
    base = _keys(con, "fetch/base_keys")
    seen = Seen(rate, int(_GROWTH * (len(base) + len(later))))
    seen.add(base)
    if epoch:
        lake.files.put_bytes(seen.to_bytes(), name)
    seen.add(later)
    return seen


def seen_name(lake: Lake, bucket: int, epoch: int) -> str:
    """The name of the filter of a bucket's checkpoint."""
    return f"{lake.layout}/{CHECKPOINTS}/{partition_name('bucket', bucket)}/e{epoch:08d}-seen.bloom"


def _keys(con: duckdb.DuckDBPyConnection, name: str) -> list[int]:
    keys: list[int] = []
    for batch in query.arrow(con, name):
        keys += batch.column(0).to_numpy(zero_copy_only=False).tolist()
    return keys
