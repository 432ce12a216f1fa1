"""What changes in a text although nothing has happened: counters, render times, ages, tokens of a session.

Only short lines are looked at, a line being the text of one block: a sentence in a paragraph stays whatever it says.
Words are English. Numbers alone, prices, and dates without a label such as "Last updated" stay: they are what a page is
about. Every repetition is bounded, and so are the lines looked at: a hostile page costs milliseconds.
"""

import re
from dataclasses import dataclass

MAX_LINE_LENGTH = 200
"""Characters of a line up to which it is looked at."""
MAX_LINES = 500
"""Times that a line with a sign of noise is looked at; a page with more of it is about what such lines say."""

# A fact stands alone: between the ends of its line and the marks that separate such facts.
_MARKS = r"|/\u00b7\u2022\u2013\u2014"  # middle dot, bullet, dashes
_START = rf"(?:(?<=^)|(?<=[.({_MARKS}]\s)|(?<=[({_MARKS}]))"
_NUMBER = r"\d[\d.,]{0,15}\s?[km]?"
_COUNTED = (
    r"(?:page\s?|profile\s|total\s)?(?:views?|visits?|visitors?|hits?)|reads|downloads|likes|shares|comments?|repl(?:y|ies)"
    r"|followers?|subscribers?|(?:users?|guests?|members?|people|visitors?)\s(?:are\s)?(?:online|watching)(?:\snow)?"
)
_COUNTER_END = rf"(?=\s{{0,2}}(?:[.,){_MARKS}]|$))"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DAY = (
    r"(?:\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{2,4}"
    rf"|{_MONTH}\s\d\d?(?:st|nd|rd|th)?,?\s\d{{4}}|\d\d?(?:st|nd|rd|th)?[\s-]{_MONTH},?[\s-]\d{{4}})"
)
_CLOCK = r"\d\d?:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:\s?[ap]\.?m\b\.?)?"
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}\.?,?\s)?"
_ZONE = r"(?:\s?(?:z|utc|gmt|[a-z]{1,3}[ds]t|[+-]\d\d:?\d\d)\b)?"
_WHEN = rf"{_WEEKDAY}(?:{_DAY}(?:(?:,?\s(?:at\s)?|t){_CLOCK})?|{_CLOCK}(?:,?\s(?:on\s)?{_WEEKDAY}{_DAY})?){_ZONE}"
_AGE = r"(?:\d{1,3}\+?|an?)\s(?:second|sec|minute|min|hour|hr|day|week|month|year)s?\sago\b"
_LASTED = r"\d{1,6}(?:\.\d{1,9})?\s?(?:s|ms|us|seconds?|secs?|milliseconds?)\b"
_WHAT = r"(?:(?:this|the)\s)?(?:page|site|document|report|file|list|article|content)?\s?(?:was\s)?"


_SIGN = re.compile(r"\d|\bago\b", re.IGNORECASE)  # of any noise


@dataclass(frozen=True, slots=True)
class _Rule:
    """A pattern, and words of which a line has at least one, in lower case, if the pattern matches."""

    signs: tuple[str, ...]
    pattern: re.Pattern[str]


def _rule(signs: str, *patterns: str) -> _Rule:
    return _Rule(tuple(signs.split("|")), re.compile("|".join(patterns), re.IGNORECASE))


_RULES = (
    _rule(
        "view|visit|hit|read|download|access|likes|shares|comment|repl|follower|subscriber|online|watching",
        rf"{_START}(?:{_NUMBER}\s(?:{_COUNTED})\s?){{1,8}}{_COUNTER_END}",
        rf"\b(?:viewed|visited|read|accessed|downloaded)\s{_NUMBER}\stimes\b",
        rf"{_START}(?:{_COUNTED})(?:\s(?:today|so\sfar|count(?:er)?))?\s?(?::\s?{_NUMBER}|\(\s?{_NUMBER}\s?\)){_COUNTER_END}",
        rf"\byou\sare\s(?:the\s)?visitor\s(?:number\s|no\.?\s)?#?{_NUMBER}(?:st|nd|rd|th)?",
    ),
    _rule(
        "generated|rendered|exported|printed|retrieved|updated|update:|modified|edited|refreshed|last ",
        rf"{_START}{_WHAT}(?:generated|rendered|exported|printed|retrieved)(?:\s(?:on|at))?:?\s(?:{_WHEN}|{_AGE})"
        rf"(?:\sby\s[\w.-]{{1,40}})?(?:\sin\s{_LASTED})?",
        rf"{_START}{_WHAT}(?:last\s)?(?:updated?|modified|edited|refreshed)(?:\s(?:on|at))?:?\s(?:{_WHEN}|{_AGE})",
        rf"{_START}{_WHAT}last\s(?:changed?|checked|build|built|seen|sync(?:ed)?)(?:\s(?:on|at))?:?\s(?:{_WHEN}|{_AGE})",
    ),
    _rule(
        "time|today is|it is now",
        rf"{_START}(?:current|server|local|system)\s(?:date\sand\stime|date|time)(?:\sis)?:?\s{_WHEN}",
        rf"{_START}(?:the\stime\sis(?:\snow)?|today\sis|it\sis\snow):?\s{_WHEN}",
    ),
    _rule(
        "generat|render|execut|process|load|time|quer",
        rf"{_START}{_WHAT}(?:generated|rendered|executed|processed|loaded|served)\sin:?\s{_LASTED}",
        rf"{_START}(?:(?:page|script|query)\s)?(?:generation|rendering|render|execution|processing|load)\s"
        rf"(?:time|took):?\s{_LASTED}",
        rf"\b\d{{1,5}}\s(?:database\s|db\s|sql\s)?quer(?:y|ies)\s(?:in|took)\s{_LASTED}",
    ),
    _rule(" ago", rf"\b{_AGE}"),
    _rule(
        "session|request|trace|transaction|correlation|csrf|xsrf|ray|visitor|nonce|sessid",
        r"\b(?:(?:session|request|trace|transaction|correlation|csrf|xsrf|ray|visitor)[\s_-]?(?:id|token|key)"
        r"|(?:php|j)sess(?:ion)?id|nonce|csrf)\b\s?[:=#]?\s?(?=[a-z_-]{0,63}\d)[\w-]{8,64}",
    ),
)


def without_noise(lines: list[str]) -> list[str]:
    """`lines`, the normalised texts of blocks, without what differs from one look at the page to the next.

    A line that was nothing else is left out.
    """
    places = [place for place, line in enumerate(lines) if len(line) <= MAX_LINE_LENGTH and _SIGN.search(line)]
    if not places:
        return lines
    whole = "\n".join([lines[place] for place in places]).lower()
    rules = [(found, rule.pattern) for rule in _RULES if (found := [sign for sign in rule.signs if sign in whole])]
    kept, left = list(lines), MAX_LINES
    for place in places if rules else ():
        lower = lines[place].lower()
        for signs, pattern in rules:
            if left and any(sign in lower for sign in signs):
                kept[place] = " ".join(pattern.sub(" ", kept[place]).split())
                left -= 1
    return [line for line in kept if line]
