"""The pages of one host of the demo web: paths, titles, rates of change, days of birth and end.

Pure: follows from seed and host. A mirror has the pages of its original under its own name.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from crawler.demo import words
from crawler.demo.dice import DAY_SECONDS, Dice
from crawler.demo.hosts import Host, Role


class Kind(StrEnum):
    """What a page is; decides how it looks and who links to it."""

    FRONT = "front"
    SECTION = "section"
    ARTICLE = "article"
    PRINT = "print"  # an article's text again, with rel=canonical to it
    NOTICE = "notice"  # a single page linked from the front
    PRIVATE = "private"  # disallowed by robots.txt
    HIDDEN = "hidden"  # linked only in ways that say not to follow
    SITEMAP = "sitemap"


@dataclass(frozen=True, slots=True)
class Page:
    """One URL that answers with content while it exists.

    key: what text and changes are made from; equal for a mirror's page and its original.
    old_path: where the host's own pages link to instead; it redirects here.
    born, ends: the page answers 404 before and 410 from then on.
    """

    host: str
    path: str
    kind: Kind
    key: str
    title: str
    per_day: float
    section: str = ""
    born: datetime | None = None
    ends: datetime | None = None
    robots_meta: str = ""
    robots_header: str = ""
    old_path: str = ""
    seconds: float = 0.0  # that the server takes to answer
    is_flaky: bool = False

    @property
    def is_lasting(self) -> bool:
        return self.born is None and self.ends is None


# (changes a day, share of the pages): from several a day to never, about 0.25 on average.
RATES = ((0.0, 0.20), (1 / 90, 0.20), (1 / 30, 0.20), (1 / 7, 0.20), (1 / 2, 0.12), (1.0, 0.05), (4.0, 0.03))
_INDEX_RATES = ((1 / 7, 0.4), (1 / 2, 0.3), (1.0, 0.2), (4.0, 0.1))
_FASTEST = 6.0
_LIFE_DAYS = 10  # births and ends lie within so many days of the web's start
_SLOW_SECONDS = 0.5


def make_pages(seed: int, host: Host, start: datetime) -> Iterator[Page]:
    """All pages of `host` but sitemaps, its front page first, then its sections, then the rest."""
    root = host.mirror_of or host.name
    yield _page(seed, host, Kind.FRONT, "/", title=words.title(f"{seed}|{root}"))
    sections = max(2, min(6, host.size // 12))
    section_paths = [
        _section_path(host, f"{words.word(f'{seed}|{root}|{number}')}-{number}") for number in range(1, sections + 1)
    ]
    for path in section_paths:
        yield _page(seed, host, Kind.SECTION, path)
    for number in range(host.size - 1 - sections):
        article = _article(seed, host, number, section_paths[number % sections], start)
        yield article
        if host.role == Role.ORDINARY and host.temper == 1.0 and number in (2, 5, 8) and article.is_lasting:
            yield replace(article, kind=Kind.PRINT, path=f"/print{article.path}")
    if host.has_rules:
        yield _page(seed, host, Kind.PRIVATE, "/private/ledger-1")
        yield _page(seed, host, Kind.PRIVATE, "/private/ledger-2")
    if host.role == Role.MANNERS:
        yield _page(seed, host, Kind.PRIVATE, "/tools/count.cgi")
        yield _page(seed, host, Kind.NOTICE, "/private/open/terms")
        yield _page(seed, host, Kind.NOTICE, "/drafts/plan", robots_meta="noindex")
        yield _page(seed, host, Kind.NOTICE, "/drafts/notes", robots_header="noindex, noarchive")
        yield _page(seed, host, Kind.NOTICE, "/partners/", robots_meta="nofollow")
        yield _page(seed, host, Kind.HIDDEN, "/offers/today")
        yield _page(seed, host, Kind.HIDDEN, "/offers/tomorrow")


def _page(
    seed: int, host: Host, kind: Kind, path: str, *, title: str = "", robots_meta: str = "", robots_header: str = ""
) -> Page:
    key = f"{seed}|{host.mirror_of or host.name}{path}"
    dice = Dice(key, "rate")
    is_index = kind in (Kind.FRONT, Kind.SECTION)
    return Page(
        host=host.name,
        path=path,
        kind=kind,
        key=key,
        title=title or words.title(key),
        per_day=dice.weighted(_INDEX_RATES) if is_index else dice.weighted(RATES),
        robots_meta=robots_meta,
        robots_header=robots_header,
    )


def _article(seed: int, host: Host, number: int, section: str, start: datetime) -> Page:
    root = host.mirror_of or host.name
    name = words.slug(f"{seed}|{root}|{number}")
    path = f"/index.php?id={number}" if host.role == Role.SESSIONS else f"{section}{name}-{number}"
    page = _page(seed, host, Kind.ARTICLE, path, title=words.title(f"{seed}|{root}|{number}"))
    dice = Dice(page.key, "life")
    may_come_and_go = host.role in (Role.ORDINARY, Role.LEAVING) and number >= 4
    share = 0.15 if host.role == Role.LEAVING else 0.02
    fate = dice.random()
    day = start + timedelta(seconds=1 + dice.below(_LIFE_DAYS * DAY_SECONDS))
    return replace(
        page,
        per_day=min(_FASTEST, page.per_day * host.temper)
        if not host.mirror_of and host.role == Role.ORDINARY
        else page.per_day,
        section=section,
        born=day if may_come_and_go and fate < share else None,
        ends=day if may_come_and_go and share <= fate < 2 * share else None,
        old_path=f"/old/{number}" if host.role == Role.MOVED and number in (4, 7, 10, 13) else "",
        seconds=_SLOW_SECONDS if host.role == Role.SLOW and number in (1, 5, 9) else 0.0,
        is_flaky=host.role == Role.FLAKY and number % 4 == 3,
    )


def _section_path(host: Host, name: str) -> str:
    return f"/index.php?section={name}" if host.role == Role.SESSIONS else f"/{name}/"
