"""A sitemap's body as a stream: unpacked whatever its members, cut at the limit, ampersands mended across pieces."""

import gzip
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.page.document import PIECE_BYTES, Document, mended


class Dripping(io.BytesIO):
    """Gives three bytes at a time at most."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(3 if size is None or size < 0 else min(size, 3))


def mend(text: bytes) -> bytes:
    return b"".join(mended(Dripping(text)))


def read(body: bytes, most_bytes: int = 1 << 30) -> tuple[bytes, bool]:
    document = Document(body, most_bytes)
    return io.BufferedReader(document).read(), document.partial


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"<loc>/?a=1&b=2</loc>", b"<loc>/?a=1&amp;b=2</loc>"),
        (b"&amp;&#38;&#x26;&quot;&x;", b"&amp;&#38;&#x26;&quot;&x;"),
        (b"&copy=1;&;&#;& &", b"&amp;copy=1;&amp;;&amp;#;&amp; &amp;"),
        (b"<![CDATA[a&b]]>&c<![CDATA[&", b"<![CDATA[a&b]]>&amp;c<![CDATA[&"),
        ("&é;".encode(), "&amp;é;".encode()),
        ("<a>&b".encode("utf-16-le"), "<a>&b".encode("utf-16-le")),
    ],
)
def test_an_ampersand_that_begins_no_reference_is_mended(text: bytes, expected: bytes) -> None:
    assert mend(text) == expected


PARTS = st.sampled_from([b"&", b"amp", b";", b"#1", b"<", b"<![CDATA[", b"![CD", b"]]>", b"x", b" ", b"a" * 40])


@settings(max_examples=200, deadline=None)
@given(st.lists(PARTS, max_size=12).map(b"".join))
def test_where_pieces_end_makes_no_difference(text: bytes) -> None:
    assert mend(text) == b"".join(mended(io.BytesIO(text)))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.binary(max_size=60).map(lambda part: part * (1 << 11)), min_size=1, max_size=3))
def test_a_gzip_file_of_several_members_is_one_document(parts: list[bytes]) -> None:
    assert read(b"".join(map(gzip.compress, parts))) == (b"".join(parts), False)


@pytest.mark.parametrize("most", [1, PIECE_BYTES, PIECE_BYTES + 1])
def test_a_document_ends_at_its_limit(most: int) -> None:
    content = bytes(3 * PIECE_BYTES)
    assert read(content, most) == read(gzip.compress(content), most) == (bytes(most), True)
    assert read(content[:most], most) == (bytes(most), False)


def test_what_can_be_read_of_a_broken_gzip_file_is_used() -> None:
    packed = gzip.compress(b"first" * 100) + gzip.compress(bytes(range(256)) * 100)
    found, is_partial = read(packed[:-20])
    assert found.startswith(b"first" * 100)
    assert is_partial
    assert read(packed[:20] + b"\xff" + packed[21:])[1]
