"""The main text of a parsed page, normalised so that markup and white space do not count."""

import unicodedata

from selectolax.lexbor import LexborHTMLParser

_NO_TEXT = ["script", "style", "template", "noscript", "svg", "iframe", "object", "select", "nav", "footer", "aside"]


def main_text(tree: LexborHTMLParser) -> str:
    """The normalised text of the body without navigation; cuts elements out of `tree`."""
    body = tree.body
    if body is None:
        return ""
    body.strip_tags(_NO_TEXT, recursive=True)
    return normalise(body.text(separator=" "))


def normalise(text: str) -> str:
    """`text` in NFC with runs of white space as one space."""
    return unicodedata.normalize("NFC", " ".join(text.split()))
