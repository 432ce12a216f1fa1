"""The language that a page says it is in, as the primary subtag of BCP 47.

Only what is declared: nothing is guessed from the text.
"""

import re
from collections.abc import Sequence

from selectolax.lexbor import LexborHTMLParser

_TAG = re.compile(r"([a-zA-Z]{2,3})(?:[-_].{0,60})?", re.DOTALL)
_NONE = frozenset({"und", "mul", "mis", "zxx"})  # ISO 639-2: undetermined, several, uncoded, no language


def markup_language(tree: LexborHTMLParser) -> str | None:
    """That of the html element; None if it has none that can be read."""
    root = tree.root
    if root is None:
        return None
    attributes = root.attributes
    return primary_subtag(attributes.get("lang") or attributes.get("xml:lang") or "")


def header_language(values: Sequence[str]) -> str | None:
    """That of Content-Language `values`; None if they name several, which are those of the readers it is meant for."""
    named = [tag for value in values for tag in value.split(",") if tag.strip()]
    return primary_subtag(named[0]) if len(named) == 1 else None


def primary_subtag(tag: str) -> str | None:
    """`pt` of `pt-BR` and `PT_br`; None for what is no tag, or that of no language."""
    found = _TAG.fullmatch(tag.strip())
    subtag = found[1].lower() if found else None
    return None if subtag in _NONE else subtag
