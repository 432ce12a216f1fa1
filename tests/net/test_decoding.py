"""Content codings, piece by piece."""

from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.net.decoding import Undecodable, decoded, zstd
from tests.web.recipes import encoded, make

STEPS = {"gzip": "gzip", "x-gzip": "gzip", "deflate": "deflate-zlib", "br": "br"} | ({"zstd": "zstd"} if zstd else {})


def cut(octets: bytes, size: int) -> Iterator[bytes]:
    return (octets[at : at + size] for at in range(0, len(octets), size))


@pytest.mark.parametrize("coding", STEPS)
@given(body=st.binary(min_size=1, max_size=3000), size=st.integers(1, 700))
def test_a_body_comes_back_whatever_the_pieces(coding: str, body: bytes, size: int) -> None:
    wire = encoded(body, [STEPS[coding]])
    assert b"".join(decoded(cut(wire, size), coding.upper())) == body


@pytest.mark.parametrize("coding", STEPS)
@given(body=st.binary(min_size=50, max_size=500), lost=st.integers(1, 40))
def test_a_body_that_ends_too_early_is_refused(coding: str, body: bytes, lost: int) -> None:
    wire = encoded(body, [STEPS[coding]])
    with pytest.raises(Undecodable):
        list(decoded(cut(wire[: max(1, len(wire) - lost)], 100), coding))


@pytest.mark.parametrize("coding", STEPS)
@given(noise=st.binary(min_size=1, max_size=200))
def test_noise_never_raises_anything_else(coding: str, noise: bytes) -> None:
    with suppress(Undecodable):
        list(decoded(cut(noise, 50), coding))


@given(body=st.binary(min_size=1, max_size=2000))
def test_bare_deflate_and_double_coding_are_understood(body: bytes) -> None:
    assert b"".join(decoded(cut(encoded(body, ["deflate-raw"]), 64), "deflate")) == body
    assert b"".join(decoded(cut(encoded(body, ["gzip", "br"]), 64), "gzip, br")) == body


def test_members_follow_each_other_and_garbage_after_them_is_dropped() -> None:
    wire = encoded(b"one", ["gzip"]) + encoded(b"two", ["gzip"]) + b"garbage"
    assert b"".join(decoded(cut(wire, 7), "gzip")) == b"onetwo"


@pytest.mark.parametrize("coding", ["gzip", *(["zstd"] if zstd else [])])
def test_a_bomb_is_unfolded_only_as_far_as_somebody_reads(coding: str) -> None:
    pieces = decoded(cut(make({"bomb": [coding, 1 << 30]}), 65_536), coding)
    assert all(len(next(pieces)) <= 1 << 17 for _ in range(10))


@pytest.mark.parametrize("names", ["", "identity", "none", "utf-8", " , "])
def test_names_that_are_no_coding_leave_a_body_as_it_is(names: str) -> None:
    assert list(decoded(iter([b"a", b"b"]), names)) == [b"a", b"b"]


@pytest.mark.parametrize("names", ["compress", "gzip, gzip, gzip, gzip, gzip, gzip"])
def test_what_was_not_offered_is_refused(names: str) -> None:
    with pytest.raises(Undecodable):
        list(decoded(iter([b"a"]), names))
