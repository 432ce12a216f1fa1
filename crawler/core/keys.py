"""Stable 64-bit keys and the bucket of a host.

The keys are xxh3 of UTF-8 bytes: equal on every machine and version, unlike Python's and DuckDB's own
hashes, so they may be written to the lake.
"""

from xxhash import xxh3_64_intdigest

KEY_BITS = 64


def url_key(url: str) -> int:
    """The 64-bit key of a canonical URL."""
    return xxh3_64_intdigest(url.encode())


def host_key(host: str) -> int:
    """The 64-bit key of a host name as it stands in a canonical URL (lower case, no port)."""
    return xxh3_64_intdigest(host.encode())


def bucket_of(key: int, buckets: int) -> int:
    """The bucket that holds `key`: its top bits. `buckets` is a power of two."""
    return key >> (KEY_BITS - buckets.bit_length() + 1) if buckets > 1 else 0


def key_range(bucket: int, buckets: int) -> tuple[int, int]:
    """The smallest and the largest key of `bucket`, both inclusive."""
    width = 1 << (KEY_BITS - buckets.bit_length() + 1)
    return bucket * width, (bucket + 1) * width - 1
