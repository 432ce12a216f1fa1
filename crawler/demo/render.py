"""The bytes of the demo web's pages, sitemaps and robots.txt.

Pure functions of site, page and state. A mirror's page has the bytes of its original's: links within a host are
relative, and what is drawn is drawn from the page's key. Links are spelled as oddly as on the real web.
"""

import gzip
import re
from collections.abc import Iterable
from html import escape

from crawler.demo import words
from crawler.demo.dice import Dice
from crawler.demo.hosts import SESSION_MARK, Host, Role, Sitemap
from crawler.demo.pages import Kind, Page
from crawler.demo.site import Site, State, sitemap_paths

_CALENDAR = re.compile(r"/calendar/([1-9]\d{3})/(\d\d)/(?:(\d\d)/)?")
_MAZE = re.compile(r"/maze/(?:maze/)*")
_NO_EVENTS = (
    "There are no events in the chosen period. Choose another month or day from the list below, or subscribe to our "
    "letter and read about concerts, walks and markets as soon as they are announced. Rooms can be hired for private "
    "gatherings at any time of the year; please ask at the front desk for prices and opening hours."
)


def page_bytes(site: Site, page: Page, state: State) -> bytes:
    """The body of a page in a state; before compression, and with SESSION_MARK in place of a session id."""
    if page.kind == Kind.SITEMAP:
        return _sitemap(site, page, state)
    host = site.hosts[page.host]
    content = "".join(f"<p>{escape(text)}</p>\n" for text in _paragraphs(page, state.edits))
    links = Links(site, page)
    if page.kind == Kind.FRONT:
        content += _front_lists(site, host, links)
    elif page.kind == Kind.SECTION:
        content += _list("Articles", [links.to(child) for child in site.children(page, state)])
    elif page.kind == Kind.ARTICLE:
        content += _article_lists(site, page, links)
    elif page.kind == Kind.PRINT:
        content += _list("", [links.to_path(page.path.removeprefix("/print"), "Back to the article")])
    elif page.path == "/partners/":
        content += _list("Partners", [links.to_path("/offers/tomorrow", "Offers of tomorrow")])
    return _html(site, page, links, content)


def trap_bytes(site: Site, host: Host, path: str) -> bytes | None:
    """The body at a path of the endless calendar or maze; None for any other path."""
    if host.role != Role.CALENDAR:
        return None
    day = _CALENDAR.fullmatch(path)
    if day and 1 <= int(day[2]) <= 12:
        year, month = int(day[1]), int(day[2])
        hrefs = [_month(year, other) for other in range(1, 13)]
        hrefs += [_month(year + (month == 12), month % 12 + 1), _month(year - (month == 1), (month - 2) % 12 + 1)]
        hrefs += [f"{_month(year, month)}{number:02}/" for number in range(1, 32)]
        labels = [f"Month {number}" for number in range(1, 13)] + ["Next month", "Month before"]
        labels += [f"Day {number}" for number in range(1, 32)]
        return _trap_html("Calendar", [_anchor(href, label) for href, label in zip(hrefs, labels, strict=True)])
    if _MAZE.fullmatch(path):
        return _trap_html("Archive", [_anchor("maze/", "Deeper"), _anchor("maze/maze/maze/", "Much deeper")])
    return None


def robots_bytes(site: Site, host: Host) -> bytes:
    """The robots.txt of a host that has one."""
    lines = ["User-agent: *", "Disallow: /private/"]
    if host.role == Role.MANNERS:
        lines += ["Allow: /private/open/", "Disallow: /*.cgi$"]
    if host.crawl_delay:
        lines.append(f"Crawl-delay: {host.crawl_delay:g}")
    lines += ["", "User-agent: greedybot", "Disallow: /", ""]
    lines += [f"Sitemap: {site.url(host.name, path)}" for path in sitemap_paths(host)[:1]]
    return "\n".join(lines).encode() + b"\n"


def is_disallowed(host: Host, path: str) -> bool:
    """Whether the robots.txt of `host` keeps every crawler from a path; told from the rules above, not by parsing."""
    if host.role == Role.CLOSED:
        return True
    if not host.has_rules:
        return False
    if host.role == Role.MANNERS:
        if path.startswith("/private/open/"):
            return False
        if path.endswith(".cgi"):
            return True
    return path.startswith("/private/")


class Links:
    """The anchors of one page, each spelled in one of the ways that mean the same URL."""

    def __init__(self, site: Site, page: Page) -> None:
        self._site = site
        self._page = page
        self._dice = Dice(page.key, page.kind, "links")
        self._has_sessions = site.hosts[page.host].role == Role.SESSIONS
        is_based = site.hosts[page.host].role == Role.MANNERS and page.kind == Kind.ARTICLE
        self.base = page.section if is_based else ""

    def to(self, target: Page) -> str:
        """A link to a page of the same host, or to the address that it moved from."""
        return self.to_path(target.old_path or target.path, target.title)

    def to_path(self, path: str, label: str, rel: str = "") -> str:
        return _anchor(self._within(path), label, rel)

    def abroad(self, target: Page) -> str:
        """A link to a page of another host."""
        host = target.host.upper() if self._dice.random() < 0.1 else target.host
        url = self._site.url(host, target.path)
        if self._dice.random() < 0.2:
            url += ("&" if "?" in url else "?") + f"utm_source={words.word(self._page.key)}"
        return _anchor(url, target.title)

    def _within(self, path: str) -> str:
        if self._has_sessions:
            return f"{path}{'&' if '?' in path else '?'}PHPSESSID={SESSION_MARK}"
        if self.base and path.startswith(self.base):
            return path.removeprefix(self.base)
        spelling = self._dice.below(25)
        if spelling == 0:
            return f"{path}#more"
        if spelling == 1 and path.startswith("/"):
            return f"/.{path}"
        if spelling == 2 and path[1:2].isalpha():
            return f"/%{ord(path[1]):02x}{path[2:]}"
        if spelling == 3:
            return f"\n  {path} "
        return path


def _paragraphs(page: Page, edits: int) -> list[str]:
    """Each edit rewrites one paragraph, in turn."""
    dice = Dice(page.key, "length")
    count = 2 + dice.below(7) if page.kind in (Kind.ARTICLE, Kind.PRINT) else 2 + dice.below(2)
    return [words.paragraph(f"{page.key}|{number}|{(edits + count - 1 - number) // count}") for number in range(count)]


def _front_lists(site: Site, host: Host, links: Links) -> str:
    origin = site.hosts[host.mirror_of or host.name]
    articles = [article for article in site.articles[host.name] if article.is_lasting]
    more = [links.to_path(page.path, page.title) for page in site.host_pages(host.name, Kind.NOTICE, Kind.PRIVATE)]
    more += [links.to_path(path, f"Go to {path[1:]}") for path in site.entrances(origin)]
    if Dice(site.plan.seed, origin.name, "broken").random() < 0.5:
        more.append(links.to_path(f"/missing/{words.word(origin.name)}", "An old address"))
    if origin.role == Role.MANNERS:
        more.append(links.to_path("/offers/today", "Offers of today", rel="nofollow"))
        more.append(links.to_path("/media/harbour.png", "A picture"))
    if origin.role == Role.CALENDAR:
        more.append(links.to_path(_month(site.plan.start.year, site.plan.start.month), "Calendar"))
        more.append(links.to_path("/maze/", "Archive"))
    if origin.role == Role.PRESS:
        more += [_anchor("http://outside.invalid/", "Elsewhere"), _anchor("mailto:desk@demo.test", "Write to us")]
    abroad = [links.abroad(site.pages[name, "/"]) for name in site.neighbours(host.name)]
    return (
        _list("Latest", [links.to(article) for article in articles[:5]])
        + _list("Sites we like", abroad)
        + _list("More", more)
    )


def _article_lists(site: Site, page: Page, links: Links) -> str:
    dice = Dice(page.key, "related")
    same_host = [article for article in site.articles[page.host] if article.is_lasting]
    related = [links.to(dice.pick(same_host)) for _ in range(2)]
    if (page.host, f"/print{page.path}") in site.pages:
        related.append(links.to_path(f"/print{page.path}", "Print this page"))
    return _list("Read on", related) + _list("From other sites", [links.abroad(dice.pick(site.lasting))])


def _html(site: Site, page: Page, links: Links, content: str) -> bytes:
    head = f"<title>{escape(page.title)}</title>\n"
    if links.base:
        head += f'<base href="{links.base}">\n'
    if page.robots_meta:
        head += f'<meta name="robots" content="{page.robots_meta}">\n'
    if page.kind == Kind.PRINT:
        head += f'<link rel="canonical" href="{page.path.removeprefix("/print")}">\n'
    sections = [links.to(section) for section in site.sections[page.host]]
    navigation = "".join(f"<li>{link}</li>" for link in [links.to_path("/", "Home"), *sections])
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{head}</head>\n<body>\n'
        f"<nav><ul>{navigation}</ul></nav>\n<main>\n<h1>{escape(page.title)}</h1>\n{content}</main>\n"
        "<footer><p>All pages here are made up.</p></footer>\n</body>\n</html>\n"
    ).encode()


def _trap_html(title: str, anchors: list[str]) -> bytes:
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n</head>\n<body>\n'
        f"<main>\n<h1>{title}</h1>\n<p>{_NO_EVENTS}</p>\n{_list('Choose', anchors)}</main>\n</body>\n</html>\n"
    ).encode()


def _sitemap(site: Site, page: Page, state: State) -> bytes:
    host = site.hosts[page.host]
    space = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    if host.sitemap == Sitemap.INDEX and page.path == "/sitemap.xml":
        kind, child, paths = "sitemapindex", "sitemap", sitemap_paths(host)[1:]
    else:
        kind, child = "urlset", "url"
        listed = [site.pages[page.host, "/"], *site.sections[page.host], *site.children(page, state)]
        paths = [entry.path for entry in listed]
    locations = "".join(f"<{child}><loc>{escape(site.url(page.host, path))}</loc></{child}>\n" for path in paths)
    body = f'<?xml version="1.0" encoding="UTF-8"?>\n<{kind} {space}>\n{locations}</{kind}>\n'.encode()
    return gzip.compress(body, mtime=0) if page.path.endswith(".gz") else body


def _month(year: int, month: int) -> str:
    return f"/calendar/{min(max(year, 1000), 9999)}/{month:02}/"


def _list(heading: str, anchors: Iterable[str]) -> str:
    entries = "".join(f"<li>{anchor}</li>\n" for anchor in anchors)
    return f"<h2>{heading}</h2>\n<ul>\n{entries}</ul>\n" if entries else ""


def _anchor(href: str, label: str, rel: str = "") -> str:
    relation = f' rel="{rel}"' if rel else ""
    return f'<a href="{escape(href)}"{relation}>{escape(label)}</a>'
