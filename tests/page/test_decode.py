"""Charsets: BOM, header, declaration, detector, in this order."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.page import decode as module
from crawler.page.decode import decode, find_charset


@pytest.mark.parametrize(
    ("body", "content_type", "charset", "reason"),
    [
        (b"\xef\xbb\xbfx", "text/html; charset=koi8-r", "utf-8", "bom"),
        (b"\xff\xfex\0", None, "utf-16le", "bom"),
        (b"<meta charset=koi8-r>", 'text/html;Charset="ISO-8859-1"', "windows-1252", "header"),
        (b"<meta charset=koi8-r>", "text/html; charset=no-such", "koi8-r", "meta"),
        (b"<?xml version='1.0' encoding='Shift_JIS'?><html>", None, "shift_jis", "xml"),
        (b"<meta http-equiv=content-type content='text/html; charset=gb2312'>", None, "gbk", "meta"),
        (b"<META charset='utf-16'>", None, "utf-8", "meta"),
        (b"<title>x</title>" + "ж".encode(), None, "utf-8", "detected"),
        (b"caf\xe9", None, "windows-1252", "detected"),
        (b"", None, "utf-8", "detected"),
        ("<p>x".encode("utf-16le"), None, "utf-16le", "detected"),
        ("<!DOCTYPE html>".encode("utf-16be"), "text/html; charset=no-such", "utf-16be", "detected"),
        (b"<meta charset=x-user-defined>caf\xe9", None, "windows-1252", "detected"),
        (b"<meta charset=utf-7>+AGE-", None, "utf-8", "detected"),
    ],
)
def test_the_first_that_speaks_decides(body: bytes, content_type: str | None, charset: str, reason: str) -> None:
    assert find_charset(body, content_type) == (charset, reason)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Съешь ещё этих мягких французских булок, да выпей же чаю", "windows-1251"),
        ("吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。", "shift_jis"),
        ("모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.", "euc-kr"),
    ],
)
def test_enough_text_without_a_declaration_is_detected(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding), "text/html").text == text


def test_a_body_cut_inside_a_character_is_still_utf8() -> None:
    assert find_charset("жжж".encode()[:-1], None) == ("utf-8", "detected")


@given(st.binary(max_size=120), st.sampled_from(sorted(module._LABELS)), st.integers(0, 3))
@settings(max_examples=300, deadline=None)
def test_a_wrong_label_makes_text_of_any_bytes(body: bytes, label: str, how: int) -> None:
    declared = [
        (body, f"text/html; charset={label}"),
        (f"<meta charset='{label}'>".encode() + body, "text/html"),
        (f"<?xml version='1.0' encoding='{label}'?>".encode() + body, None),
        (f"<meta http-equiv=content-type content='text/html;charset={label}'>".encode() + body, None),
    ]
    found = decode(*declared[how])
    assert found.reason in {"bom", "header", "meta", "xml", "detected"}
    assert found.charset in module._LABELS.values()
    found.text.encode()  # no lone surrogates: it can be parsed, digested and stored


def test_bytes_that_do_not_decode_become_replacement_characters() -> None:
    assert decode(b"a\xffb", "text/html; charset=utf-8").text == "a\ufffdb"


def test_every_label_names_an_encoding_that_python_has() -> None:
    assert len(module._LABELS) > 200
    for charset in set(module._LABELS.values()):
        assert b"a".decode(module._CODECS.get(charset, charset), "replace") is not None


@given(st.binary(max_size=300), st.one_of(st.none(), st.text(max_size=40)))
def test_no_bytes_make_it_raise(body: bytes, content_type: str | None) -> None:
    decode(body, content_type)
    decode(b"<meta charset=" + body, content_type)
