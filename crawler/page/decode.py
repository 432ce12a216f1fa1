"""The character encoding of a body, by the rules of the HTML standard: BOM, header, declaration in the document.

Only where all three are silent a detector decides: valid UTF-8 is UTF-8; enough other evidence goes to
charset-normalizer; else windows-1252, the web's legacy default. Never raises: undecodable bytes become U+FFFD.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from charset_normalizer import from_bytes

_PRESCAN_BYTES = 1024  # HTML 13.2.3.2: how far a declaration may stand from the start
_DETECT_BYTES = 16 << 10
_LEAST_EVIDENCE = 32  # non-ASCII bytes under which a detector guesses; windows-1252 is then right more often
_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))

# Markup in UTF-16 without a mark: `<` and an ASCII character (HTML 13.2.3.2 has it for `<?x`).
_UTF16_STARTS = (
    (re.compile(rb"<\0[!-~]\0"), "utf-16le"),
    (re.compile(rb"\0<\0[!-~]"), "utf-16be"),
)

# Encodings whose Python codec has another name, or a narrower table than the encoding of that name on the web.
_CODECS = {
    "big5": "big5hkscs",
    "euc-kr": "cp949",
    "gbk": "gb18030",
    "iso-8859-8-i": "iso-8859-8",
    "macintosh": "mac-roman",
    "shift_jis": "cp932",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac-cyrillic",
}

_CHARSET_PARAMETER = re.compile(r"""charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))""", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"""^\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([A-Za-z0-9._:-]+)["']""")
_PRESCAN = re.compile(
    r"""<!--.*?-->|<(/?[a-z][^\s/>]*)([^>"']*+(?:"[^"]*+"[^>"']*+|'[^']*+'[^>"']*+)*+)>|<[!/?][^>]*>""",
    re.IGNORECASE | re.DOTALL,
)
_ATTRIBUTE = re.compile(r"""([^\s"'>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+)))?""")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A body as text. charset: name of the encoding standard, lower case. reason: bom, header, meta, xml, detected."""

    text: str
    charset: str
    reason: str


def decode(body: bytes, content_type: str | None) -> Decoded:
    """`body` as text. content_type: the Content-Type header with its parameters."""
    charset, reason = find_charset(body, content_type)
    for mark, of in _BOMS:
        if charset == of and body.startswith(mark):
            body = body[len(mark) :]
    return Decoded(body.decode(_CODECS.get(charset, charset), "replace"), charset, reason)


def find_charset(body: bytes, content_type: str | None) -> tuple[str, str]:
    """The encoding of `body` and what says so."""
    for mark, charset in _BOMS:
        if body.startswith(mark):
            return charset, "bom"
    declared = _of_label(_parameter(content_type or ""))
    if declared:
        return declared, "header"
    xml = _XML_ENCODING.match(body)
    if xml and (declared := _readable_as_ascii(_of_label(xml[1].decode("ascii")))):
        return declared, "xml"
    if declared := _readable_as_ascii(_of_label(_prescan(body[:_PRESCAN_BYTES].decode("latin-1")))):
        return declared, "meta"
    return _detect(body), "detected"


def _parameter(text: str) -> str | None:
    found = _CHARSET_PARAMETER.search(text)
    return (found[1] or found[2] or found[3]) if found else None


def _prescan(start: str) -> str | None:
    """The label that a meta element declares. Comments and attributes of other elements declare nothing."""
    for tag in _PRESCAN.finditer(start):
        if tag[1] is None or tag[1].lower() != "meta":
            continue
        attributes: dict[str, str] = {}
        for name, *values in _ATTRIBUTE.findall(tag[2]):
            attributes.setdefault(name.lower(), "".join(values))
        label: str | None = attributes.get("charset")
        if not label and attributes.get("http-equiv", "").lower() == "content-type":
            label = _parameter(attributes.get("content", ""))
        if label and _of_label(label):
            return label
    return None


def _readable_as_ascii(charset: str | None) -> str | None:
    """A declaration that was read as ASCII cannot be in UTF-16 (HTML 13.2.3.2)."""
    return "utf-8" if charset and charset.startswith("utf-16") else charset


def _detect(body: bytes) -> str:
    sample = body[:_DETECT_BYTES]
    for start, charset in _UTF16_STARTS:
        if start.match(body):
            return charset
    if body.isascii() or _is_utf8(body):
        return "utf-8"
    if sum(byte >= 0x80 for byte in sample) < _LEAST_EVIDENCE:
        return "windows-1252"
    best = from_bytes(sample).best()
    return (best and _of_label(best.encoding.replace("_", "-"))) or "windows-1252"


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError as error:
        # A body that was cut at a limit may end inside a character, after others that prove the encoding.
        is_cut = error.start >= len(body) - 3 and error.reason == "unexpected end of data"
        return is_cut and not body[: error.start].isascii()
    return True


@lru_cache(maxsize=1024)
def _of_label(label: str | None) -> str | None:
    return _LABELS.get(label.strip("\t\n\f\r ").lower()) if label else None


def _read_labels() -> dict[str, str]:
    labels = {}
    for line in files("crawler.page").joinpath("charset_labels.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            charset, *others = line.split()
            labels.update(dict.fromkeys([charset, *others], charset))
    return labels


_LABELS = _read_labels()
