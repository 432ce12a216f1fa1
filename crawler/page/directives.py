"""What a page asks of robots: meta elements and the X-Robots-Tag header, by product token.

All sources add up; the strictest value holds. Reads text, decides nothing about fetching.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_EVERYONE = frozenset({"robots", "*"})
# Rules with a value: their colon names no agent, and a value `none` is not the rule.
_VALUED = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_AGENT = re.compile(r"\*|[a-z_][\w.-]*")
_EXPIRY_RULE = re.compile(r"unavailable_after\s*[:=]\s*(.{0,80})", re.IGNORECASE | re.DOTALL)
_WORDS = re.compile(r"[\s;]+")
_WEEKDAY = re.compile(r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s*", re.IGNORECASE)


@dataclass(slots=True)
class Directives:
    """What the page asks for. at: the instant that `unavailable_after` is compared with; None: it is not looked at."""

    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False
    at: datetime | None = None

    def add(self, rules: str) -> None:
        """Take the comma-separated `rules` of one meta element or header into account.

        White space and semicolons between rules occur in the wild; read as separators they only make it stricter.
        """
        for rule in rules.lower().split(","):
            for word in _WORDS.split(rule.partition(":")[0]):
                self.noindex |= word in {"noindex", "none"}
                self.nofollow |= word in {"nofollow", "none"}
                self.noarchive |= word in {"noarchive", "nocache"}
        if self.at is not None and (expiry := _EXPIRY_RULE.search(rules)):
            self.noindex |= _has_passed(expiry[1], self.at)


def header_directives(values: Iterable[str], product_token: str, at: datetime | None = None) -> Directives:
    """The directives of X-Robots-Tag `values` that are for everyone or for `product_token`.

    `otherbot: noindex, nofollow` names its agent once for the rules that follow, up to the next name.
    """
    found = Directives(at=at)
    ours = {*_EVERYONE, product_token.lower()}
    for value in values:
        kept, is_ours = [], True
        for part in value.split(","):
            name, colon, rule = part.partition(":")
            agent = name.strip().lower()
            if colon and agent not in _VALUED and _AGENT.fullmatch(agent):
                is_ours = agent in ours
                part = rule
            if is_ours:
                kept.append(part)
        found.add(",".join(kept))
    return found


def _has_passed(text: str, at: datetime) -> bool:
    """Whether the date at the start of `text`, in RFC 822, RFC 850 or ISO 8601 form, was before `at`."""
    named = _WEEKDAY.match(text)
    written = text[named.end() if named else 0 :].partition(",")[0].strip()
    for read, form in (
        (datetime.fromisoformat, written),
        (parsedate_to_datetime, written),
        (parsedate_to_datetime, f"{written} 00:00:00"),
    ):
        # Whatever is no date makes these raise one or the other; an offset may lead out of the calendar.
        with suppress(ValueError, TypeError, IndexError, OverflowError):
            date = read(form)
            return (date if date.tzinfo else date.replace(tzinfo=UTC)) < at
    return False
