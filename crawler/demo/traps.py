"""The demo web's traps: hosts that make URLs without end, and an archive that is merely large.

Pure: the body at a path of such a host, and which of its paths belong to the trap. Session ids are left as a mark that
the server replaces in each response. The endless calendar and the maze are the calendar host's, in render.py.
"""

from collections.abc import Callable, Iterator
from html import escape
from urllib.parse import parse_qsl, urlencode

from crawler.demo import words
from crawler.demo.dice import Dice
from crawler.demo.hosts import SESSION_MARK, Role

FETCH_LIMITS = {
    Role.CALENDAR: 65,  # max_urls_per_pattern months, and the maze down to max_repeated_segments
    Role.FACETS: 85,
    Role.PATH_SESSIONS: 240,  # max_urls_per_pattern of each of the four items; mostly max_urls_per_text ends it at half
    Role.QUERY_SESSIONS: 70,
    Role.SOFT_404: 140,  # max_urls_per_text, and the six wrong ways that each of these may have added in the same cycle
}
"""The different pages of each trap that a crawl with the demo's settings fetches at most, however many days pass and
however its cycles fall: what is found in one cycle is fetched in the next, before its texts are known."""

ARCHIVE_PER_LIST = 20
_FACETS = {
    "colour": ("red", "green", "blue", "grey", "white", "black"),
    "size": ("xs", "s", "m", "l", "xl"),
    "sort": ("price", "name", "newest"),
    "page": tuple(str(number) for number in range(1, 6)),
}
_ITEMS = 4
_REAL = 5
_WRONG_WAYS = 6
_NOT_FOUND = (
    "We are sorry, but the page that you were looking for is not here. It may have been moved, renamed or taken away, "
    "or the address was not typed as it should be. Please have a look at one of the pages below, which other readers "
    "liked, use the search at the top of this page, or return to our front page and start again from there."
)
_Link = tuple[str, str]


def endless_bytes(seed: int, role: Role, target: str, archive_pages: int) -> bytes | None:
    """The body at `target`, a normal path with query, of a trap host or the archive; None where there is none.

    archive_pages: numbered pages of the archive.
    """
    if role == Role.ARCHIVE:
        return _archive(seed, target, archive_pages)
    maker = _MAKERS.get(role)
    return maker(seed, target) if maker else None


def is_trapped(role: Role, target: str) -> bool:
    """Whether a path with query of a host of that role belongs to its trap."""
    if role == Role.SOFT_404:
        return target != "/robots.txt" and target not in _real_paths()
    beginnings = {
        Role.CALENDAR: ("/calendar/", "/maze/"),
        Role.FACETS: ("/list?",),
        Role.PATH_SESSIONS: ("/s/",),
        Role.QUERY_SESSIONS: ("/read?",),
    }
    return target.startswith(beginnings.get(role, ())) if role in beginnings else False


def archive_paths(pages: int) -> Iterator[str]:
    """Every path of an archive of so many numbered pages."""
    yield "/"
    yield from (f"/archive/list/{number}" for number in range(1, _lists(pages) + 1))
    yield from (f"/archive/{number}" for number in range(1, pages + 1))


def _facets(seed: int, target: str) -> bytes | None:
    """A shop's list under any choice of facets; each lists other goods, and offers each choice once more."""
    path, _, query = target.partition("?")
    if path not in ("/", "/list"):
        return None
    chosen = dict(parse_qsl(query))
    links = []
    for name, values in _FACETS.items():
        if name == "page":
            page = int(chosen.get(name, "1"))
            values = tuple(str(number) for number in (page - 1, page + 1) if 0 < number <= len(_FACETS["page"]))
        links += [(f"/list?{urlencode(chosen | {name: value})}", f"{name}: {value}") for value in values]
    return _page("Our goods", words.paragraph(f"{seed}|facets|{query}"), links)


def _path_sessions(seed: int, target: str) -> bytes | None:
    """A few pages, each linked under a session of its own in the path."""
    names = [words.slug(f"{seed}|ticket|{number}") for number in range(_ITEMS)]
    found = next((number for number, name in enumerate(names) if target.endswith(f"/{name}")), None)
    if found is None and target != "/":
        return None
    links = [(f"/s/{SESSION_MARK}/{name}", name.replace("-", " ")) for name in names]
    return _page("Tickets", words.paragraph(f"{seed}|ticket text|{found}"), links)


def _query_sessions(seed: int, target: str) -> bytes | None:
    """A few pages, each linked under a session of its own in a parameter that no list knows."""
    path, _, query = target.partition("?")
    if path not in ("/", "/read"):
        return None
    item = dict(parse_qsl(query)).get("item", "")
    links = [(f"/read?item={number}&visit={SESSION_MARK}", f"Item {number}") for number in range(_ITEMS)]
    return _page("Reading room", words.paragraph(f"{seed}|item|{item}"), links)


def _soft_404(seed: int, target: str) -> bytes | None:
    """A site that answers 200 for every path, with more paths that do not exist."""
    if target in _real_paths():
        links = [(path, f"Page {path[1:]}") for path in _real_paths()]
        if target == "/":
            links.append(("/an-old-address/", "An old address"))
        return _page("Handbook", words.paragraph(f"{seed}|handbook|{target}"), links)
    dice = Dice(seed, "lost", target)
    slugs = [words.slug(f"{seed}|{dice.below(1 << 40)}") for _ in range(_WRONG_WAYS)]
    return _page("Not found", _NOT_FOUND, [(f"/{slug}/", slug.replace("-", " ")) for slug in slugs])


def _archive(seed: int, target: str, pages: int) -> bytes | None:
    """Numbered pages with a text each, listed twenty at a time and linked to their neighbours."""
    if target == "/":
        links = [(f"/archive/list/{number}", f"List {number}") for number in range(1, _lists(pages) + 1)]
        return _page("Archive", words.paragraph(f"{seed}|archive"), links)
    head, _, last = target.rpartition("/")
    if not last.isdecimal() or last.startswith("0") or head not in ("/archive", "/archive/list"):
        return None
    number = int(last)
    if number > (pages if head == "/archive" else _lists(pages)):
        return None
    if head == "/archive":
        near = [other for other in (number - 1, number + 1) if 0 < other <= pages]
    else:
        near = list(range((number - 1) * ARCHIVE_PER_LIST + 1, min(number * ARCHIVE_PER_LIST, pages) + 1))
    links = [(f"/archive/{other}", words.title(f"{seed}|archive|{other}")) for other in near]
    return _page(f"Archive {number}", words.paragraph(f"{seed}|{head}|{number}"), links)


def _lists(pages: int) -> int:
    return -(-pages // ARCHIVE_PER_LIST)


def _real_paths() -> list[str]:
    return ["/", *(f"/chapter-{number}/" for number in range(1, _REAL + 1))]


def _page(title: str, text: str, links: list[_Link]) -> bytes:
    anchors = "".join(f'<li><a href="{escape(href)}">{escape(label)}</a></li>\n' for href, label in links)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n</head>\n'
        f"<body>\n<main>\n<h1>{escape(title)}</h1>\n<p>{escape(text)}</p>\n</main>\n<nav><ul>\n{anchors}</ul></nav>\n"
        "</body>\n</html>\n"
    ).encode()


_MAKERS: dict[Role, Callable[[int, str], bytes | None]] = {
    Role.FACETS: _facets,
    Role.PATH_SESSIONS: _path_sessions,
    Role.QUERY_SESSIONS: _query_sessions,
    Role.SOFT_404: _soft_404,
}
