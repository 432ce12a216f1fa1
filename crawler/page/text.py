"""The main text of a parsed page, normalised so that markup and white space do not count."""

import re
import unicodedata

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.page.markup import parse

_UNSEEN = ["script", "style", "template", "noscript", "svg", "math", "iframe", "object", "audio", "video", "canvas"]
_UNSEEN += ["select", "datalist", "textarea"]
_AROUND = ["nav", "footer", "aside", "dialog"]
_ROLES = ",".join(f"[role={role}]" for role in ("navigation", "banner", "contentinfo", "search", "dialog"))
# A word may run through these; every other element ends one.
_INLINE = ["a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i"]
_INLINE += ["ins", "kbd", "label", "mark", "nobr", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup"]
_INLINE += ["time", "tt", "u", "var", "wbr"]
_TAG_NAME = re.compile(r"<([a-zA-Z]+)")
_LONG_WORD = 128
_PIECE = re.compile(rf".{{1,{_LONG_WORD}}}", re.DOTALL)
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")  # soft hyphen, zero width space, word joiner, BOM


def main_text(tree: LexborHTMLParser, markup: str) -> str:
    """The normalised text of the body without what stands around it: navigation, banner, footer.

    tree: `markup`, parsed; it is cut up. A page that has nothing else gives the text of all of it.
    """
    body = tree.body
    if body is None:
        return ""
    # Each tag that is asked for costs a walk through the tree, so only those that the markup has are.
    present = {name.lower() for name in set(_TAG_NAME.findall(markup))}
    inline = [tag for tag in _INLINE if tag in present]
    body.strip_tags([tag for tag in _UNSEEN + _AROUND if tag in present], recursive=True)
    for node in body.css(f"header,{_ROLES}"):
        if not _belongs_to_content(node):
            node.decompose()
    has_comments = "<!--" in markup
    text = _text_of(body, inline, has_comments)
    if not text and (whole := parse(markup).body) is not None:
        whole.strip_tags([tag for tag in _UNSEEN if tag in present], recursive=True)
        text = _text_of(whole, inline, has_comments)
    return text


def normalise(text: str) -> str:
    """`text` in NFC without invisible characters, with runs of white space as one space."""
    if text.isascii():
        return " ".join(text.split())
    words = _INVISIBLE.sub("", text).split()
    if max(map(len, words), default=0) > _LONG_WORD:
        # Normalising takes the square of a run of combining marks: a hostile megabyte of them would take an hour.
        words = ["".join(unicodedata.normalize("NFC", piece) for piece in _PIECE.findall(word)) for word in words]
        return " ".join(words)
    return unicodedata.normalize("NFC", " ".join(words))


def _text_of(body: LexborNode, inline: list[str], has_comments: bool) -> str:
    if has_comments:  # some frameworks mark each piece of a sentence with one
        for comment in [node for node in body.traverse(include_text=True) if node.is_comment_node]:
            comment.decompose()
    body.unwrap_tags(inline, delete_empty=True)
    body.merge_text_nodes()
    return normalise(body.text(separator=" "))


def _belongs_to_content(node: LexborNode) -> bool:
    """Whether a header is that of an article, not of the page; or the role stands on the page as a whole."""
    if node.tag in {"body", "html", "main", "article"}:
        return True
    if node.tag != "header":
        return False
    parent = node.parent
    while parent is not None:
        if parent.tag in {"article", "main", "section"}:
            return True
        parent = parent.parent
    return False
