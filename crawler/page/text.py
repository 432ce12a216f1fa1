"""The main text of a parsed page, normalised so that markup, white space and noise do not count."""

import re
import unicodedata

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.page.markup import Markup
from crawler.page.noise import without_noise

_UNSEEN = ["script", "style", "template", "noscript", "svg", "math", "iframe", "object", "audio", "video", "canvas"]
_UNSEEN += ["select", "datalist", "textarea"]
_GONE = frozenset({*_UNSEEN, "nav", "footer", "aside", "dialog"})
_ROLES = ",".join(f"[role={role}]" for role in ("navigation", "banner", "contentinfo", "search", "dialog"))
# A word may run through these; every other element ends one.
_INLINE = ["a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i"]
_INLINE += ["ins", "kbd", "label", "mark", "nobr", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup"]
_INLINE += ["time", "tt", "u", "var", "wbr"]
_HIDDEN = "[hidden],[aria-hidden],[style]"
_HIDING = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\b", re.IGNORECASE)
_BLOCK_END = "\x1e"  # white space to `normalise`
_LONG_WORD = 128
_PIECE = re.compile(rf".{{1,{_LONG_WORD}}}", re.DOTALL)
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")  # soft hyphen, zero width space, word joiner, BOM


def main_text(markup: Markup) -> str:
    """The normalised text of the body without noise, what is hidden and what stands around it, such as navigation.

    The tree of `markup` is cut up. A page that hides more than it shows waits for a script to show it: nothing of it
    counts as hidden. A page that has nothing but navigation and the like gives the text of that.
    """
    return _text_of(_shown(markup), markup) or _text_of(_seen(markup.anew(), markup.tags), markup)


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


def _shown(markup: Markup) -> LexborNode | None:
    """The body without what stands around its content and what is hidden."""
    body = _content(markup.tree, markup.tags)
    if body is None:
        return None
    hidden = [node for node in body.css(_HIDDEN) if node.tag != "body" and _is_hidden(node)]
    if not hidden:
        return body
    length = len(body.text())
    for node in hidden:
        node.decompose()
    return body if 2 * len(body.text()) >= length else _content(markup.anew(), markup.tags)


def _content(tree: LexborHTMLParser, tags: frozenset[str]) -> LexborNode | None:
    """The body without what stands around its content."""
    body = tree.body
    if body is not None:
        # One walk through the tree for all; a tag that the markup lacks would slow it down.
        names = [tag for tag in (*sorted(_GONE), "header") if tag in tags]
        for node in body.css(",".join([*names, _ROLES])):
            if node.tag in _GONE or not _belongs_to_content(node):
                node.decompose()
    return body


def _seen(tree: LexborHTMLParser, tags: frozenset[str]) -> LexborNode | None:
    """The body without scripts and the like."""
    body = tree.body
    if body is not None:
        body.strip_tags([tag for tag in _UNSEEN if tag in tags], recursive=True)
    return body


def _text_of(body: LexborNode | None, markup: Markup) -> str:
    if body is None:
        return ""
    if "<!--" in markup.text:  # some frameworks mark each piece of a sentence with one
        for comment in [node for node in body.traverse(include_text=True) if node.is_comment_node]:
            comment.decompose()
    body.unwrap_tags([tag for tag in _INLINE if tag in markup.tags], delete_empty=True)
    body.merge_text_nodes()
    blocks = map(normalise, body.text(separator=_BLOCK_END).split(_BLOCK_END))
    return " ".join(without_noise([block for block in blocks if block]))


def _is_hidden(node: LexborNode) -> bool:
    attributes = node.attributes
    is_marked = "hidden" in attributes or (attributes.get("aria-hidden") or "").lower() == "true"
    return is_marked or _HIDING.search(attributes.get("style") or "") is not None


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
