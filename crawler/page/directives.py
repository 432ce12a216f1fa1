"""What a page asks of robots: meta elements and the X-Robots-Tag header, by product token.

All sources add up; the strictest value holds. Reads text, decides nothing about fetching.
"""

from collections.abc import Iterable
from dataclasses import dataclass

_VALUED = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


@dataclass(slots=True)
class Directives:
    """What the page asks for."""

    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False

    def add(self, rules: str) -> None:
        """Take the comma-separated `rules` of one meta element or header into account."""
        for rule in rules.lower().split(","):
            word = rule.strip()
            self.noindex |= word in {"noindex", "none"}
            self.nofollow |= word in {"nofollow", "none"}
            self.noarchive |= word in {"noarchive", "nocache"}


def header_directives(values: Iterable[str], product_token: str) -> Directives:
    """The directives of X-Robots-Tag `values` that are for everyone or for `product_token`.

    `otherbot: noindex, nofollow` names its agent once for all the rules of that value.
    """
    found = Directives()
    for value in values:
        agent, colon, rules = value.partition(":")
        name = agent.strip().lower()
        if not colon or "," in agent or name in _VALUED:
            found.add(value)
        elif name == product_token.lower():
            found.add(rules)
    return found
