"""The HTML parser, behind a cheap look at the markup: its work must stay bounded.

Three shapes make an HTML parser's time explode: depth (each tag walks the open elements), formatting elements that
nobody closes (each block opens them all again, which also multiplies memory), and a tag with thousands of attributes
(each is compared with all before it). They are bounded here from above by counts and lengths; only a page that exceeds
those pays for a walk over its tags. The walk reads tags as browsers do in all but hostile corner cases, so a parser
that must never hang runs in a process that can be killed as well.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from crawler.page.errors import ParserFailed

MAX_DEPTH_STEPS = 50_000_000
"""Sum over all tags of the elements open there; a page of 10,000 nested elements has as many."""
MAX_FORMATTING_STEPS = 1_000_000
"""Sum over all tags of the formatting elements left open there: the most elements that may be made anew."""
MAX_ATTRIBUTE_STEPS = 100_000_000
"""Sum over all tags of the square of their attributes; one tag of 10,000 has as many."""

_LONG_TAG = 256  # characters
_MAX_LENGTH_STEPS = 100_000_000  # sum of the squares of the long tags' lengths that nobody looks into
_FORMATTING = ("b", "big", "code", "em", "font", "i", "s", "small", "strike", "strong", "tt", "u", "nobr")
_IDENTICAL = 3  # "Noah's Ark": of equal formatting elements in a row no more than three are kept
_FORMATTING_NAMES = frozenset(
    "".join(letters) for name in _FORMATTING for letters in product(*((letter, letter.upper()) for letter in name))
)
_TAG_NAME = re.compile(r"<([a-zA-Z]+)")
# Elements without content, and those that the next of their kind ends: they do not nest by themselves.
_VOID = ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr")
_LISTS = ("a", "p", "li", "dt", "dd", "option", "optgroup", "rb", "rt", "rtc", "rp", "h1", "h2", "h3", "h4", "h5", "h6")
_TABLES = ("tr", "td", "th", "tbody", "thead", "tfoot", "colgroup", "caption", "html", "head", "body")
_FLAT = frozenset(_VOID + _LISTS + _TABLES)
_REST = r"""[^>=]*+(?:=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))?+[^>=]*+)*+"""  # of a tag after its name
_START_TAG = re.compile(rf"<[a-zA-Z]{_REST}")
_QUOTED = re.compile(r""""[^"]*"|'[^']*'""")
_TOKEN = re.compile(
    rf"""<!--.*?(?:-->|\Z)
    |<(?P<raw>script|style|textarea|title|xmp|iframe|noembed|noframes)(?=[\s/>]).*?(?:</(?P=raw)|\Z)
    |<(?P<end>/?)(?P<name>[a-z][^\s/>]*+)(?P<rest>{_REST})""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Markup:
    """HTML and its tree. tags: the letters that names of its start tags begin with, in lower case: `h` of `<h1>`."""

    text: str
    tree: LexborHTMLParser
    tags: frozenset[str]

    def anew(self) -> LexborHTMLParser:
        """Another tree, for who has cut up the first."""
        return _parsed(self.text.encode(errors="replace"))


def parse(text: str) -> Markup:
    """`text` as HTML. Raises ParserFailed."""
    encoded = text.encode(errors="replace")
    names = _TAG_NAME.findall(text)
    _check(text, encoded, names)
    return Markup(text, _parsed(encoded), frozenset(name.lower() for name in set(names)))


def check_markup(text: str) -> None:
    """Raise ParserFailed if parsing `text` as HTML could take far longer than its length suggests."""
    _check(text, text.encode(errors="replace"), _TAG_NAME.findall(text))


def _parsed(encoded: bytes) -> LexborHTMLParser:
    # Mutation events are for scripts; with them each <option> of a <select> would look at all before it.
    return LexborHTMLParser(encoded, options=LexborDocumentOptions.WO_EVENTS)


def _check(text: str, encoded: bytes, names: Sequence[str]) -> None:
    tags, starts = text.count("<"), len(names)
    if (
        tags * starts > MAX_DEPTH_STEPS
        or tags * starts > MAX_FORMATTING_STEPS < tags * sum(map(_FORMATTING_NAMES.__contains__, names))
        or (
            _most_attributes(encoded) ** 2 > MAX_ATTRIBUTE_STEPS
            and sum(n * n for n in map(len, _START_TAG.findall(text)) if n > _LONG_TAG) > _MAX_LENGTH_STEPS
        )
    ):
        _walk(text)


def _most_attributes(encoded: bytes) -> int:
    """No fewer than all attributes of the page: each follows white space, a slash or the quote that ends another."""
    octets = np.frombuffer(encoded, dtype=np.uint8)
    separators = np.count_nonzero(octets <= 0x20) + np.count_nonzero(octets == ord("/"))
    quotes = np.count_nonzero(octets == ord('"')) + np.count_nonzero(octets == ord("'"))
    return int(separators + quotes // 2)


def _walk(text: str) -> None:
    depth_steps = formatting_steps = attribute_steps = 0
    open_elements: list[str] = []
    open_counts: dict[str, int] = {}
    formatting: dict[str, list[str]] = {name: [] for name in _FORMATTING}
    open_formatting = 0
    for token in _TOKEN.finditer(text):
        name = token["name"]
        if name is None:
            continue
        name = name.lower()
        if len(token["rest"]) > _LONG_TAG:
            attribute_steps += len(_QUOTED.sub("", token["rest"]).replace("/", " ").split()) ** 2
        if name in formatting:
            kept = formatting[name]
            if not token["end"]:
                if kept.count(token["rest"]) < _IDENTICAL:
                    kept.append(token["rest"])
                    open_formatting += 1
            elif kept:
                kept.pop()
                open_formatting -= 1
        elif name not in _FLAT:
            if not token["end"]:
                open_elements.append(name)
                open_counts[name] = open_counts.get(name, 0) + 1
            elif open_counts.get(name):
                while (popped := open_elements.pop()) != name:
                    open_counts[popped] -= 1
                open_counts[name] -= 1
        depth_steps += len(open_elements) + open_formatting
        formatting_steps += open_formatting
        if attribute_steps > MAX_ATTRIBUTE_STEPS:
            raise ParserFailed("too many attributes in a tag")
        if depth_steps > MAX_DEPTH_STEPS:
            raise ParserFailed(f"nested too deeply: {len(open_elements)} open elements")
        if formatting_steps > MAX_FORMATTING_STEPS:
            raise ParserFailed(f"too many formatting elements left open: {open_formatting}")
