"""Random small webs: pages with known texts and links, mirrors, copies, redirects, missing pages, robots, sitemaps.

A web knows for each page its identity, text and links, so a reference crawl walks identities and never reads HTML.
Deterministic from a number. Knows nothing of the product.
"""

import gzip
import random
import re
from dataclasses import dataclass, field, replace
from html import escape

from tests.crawl.server import Request, Response
from tests.crawl.spelling import Address, in_html, resolve_target, spell

OUTSIDE_HOST = "elsewhere.test"
DENIED_BY_SCOPE = "/secret/"
PRODUCT_TOKEN = "RandomWebBot"
_FOLDERS = ("/", "/", "/", "/a/", "/b/", "/b/deep/", "/private/", "/secret/", "/caf%C3%A9/", "/x%2Fy/", "/cgi/")
_QUERIES = ("", "", "", "", "", "a=1&q=x", "copy=2", "a=1&a=1", "q=%26")
_WORDS = [
    f"{a}{b}{c}" for a in ("ba", "lo", "mi", "su", "te") for b in ("ra", "ni", "go", "ku") for c in ("m", "n", "s", "x")
]
EMPTY = Response()
_NO_URLS = ("mailto:a@b.test", "javascript:void(0)", "ftp://elsewhere.test/x", "http://a b/", "tel:1")


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a page: `target` is the number of the page it means, None for what is no page of this web."""

    kind: str
    target: int | None
    text: str
    anchor: str
    own_host: bool
    nofollow: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """What stands at an address. kind: page, plain, redirect, missing, error, image or sitemap."""

    number: int
    address: Address
    kind: str
    title: str = ""
    words: str = ""
    links: tuple[Link, ...] = ()
    directives: str = ""
    response: Response = EMPTY

    @property
    def nofollow(self) -> bool:
        return "nofollow" in self.directives or "none" in self.directives


@dataclass(frozen=True, slots=True)
class Robots:
    """Answer to /robots.txt of a host, the (allows, pattern) pairs that hold for us, the number of its sitemap."""

    responses: dict[str, Response]
    rules: tuple[tuple[bool, str], ...] = ()
    sitemap: int | None = None

    def allows(self, path: str) -> bool:
        """RFC 9309 2.2.2: the longest matching pattern decides, allow where two are as long."""
        matching = [(len(pattern), allow) for allow, pattern in self.rules if _matches(pattern, path)]
        return max(matching, default=(0, True))[1]


@dataclass
class Web:
    """A random web; see `make_web`."""

    number: int
    port: int
    hosts: list[str]
    pages: list[Page] = field(default_factory=list)
    robots: dict[str, Robots] = field(default_factory=dict)
    seeds: list[str] = field(default_factory=list)
    seed_pages: list[int] = field(default_factory=list)
    by_address: dict[Address, int] = field(default_factory=dict)

    def url(self, page: Page) -> str:
        """The canonical URL of a page."""
        port = "" if self.port == 80 else f":{self.port}"
        return f"http://{page.address.host}{port}{page.address.target}"

    def find(self, host: str, target: str) -> Page | None:
        """The page that a request means."""
        number = self.by_address.get(resolve_target(host, target))
        return None if number is None else self.pages[number]

    def respond(self, request: Request) -> Response:
        robots = self.robots.get(request.host)
        if robots and request.target in robots.responses:
            return robots.responses[request.target]
        page = self.find(request.host, request.target)
        return page.response if page else Response(404, body=b"no such page")


def make_web(number: int, port: int, *, wait_seconds: float = 0.0, has_copies: bool = True) -> Web:
    """The random web of that number, served at `port`; its hosts are named after the number."""
    rng = random.Random(number)
    hosts = [f"{name}.w{number}.test" for name in ("www", "docs", "xn--caf-dma", "m")[: rng.randint(1, 4)]]
    web = Web(number, port, hosts)
    drafts = _draft_pages(rng, hosts)
    mirror = f"mirror.w{number}.test" if has_copies and rng.random() < 0.4 else None
    originals = [draft for draft in drafts if draft.address.host == hosts[0]]
    counterpart: dict[int, int] = {}
    if mirror:
        hosts.append(mirror)
        for original in originals:
            copy = replace(original, number=len(drafts), address=replace(original.address, host=mirror))
            counterpart[original.number] = copy.number
            drafts.append(copy)
    mirrored = set(counterpart.values())
    web.pages = [draft if draft.number in mirrored else _fill(rng, draft, drafts, port) for draft in drafts]
    if has_copies:
        _add_text_copies(rng, web)
    for original, copy in counterpart.items():
        if rng.random() < 0.85:
            web.pages[copy] = _mirrored(web.pages[original], web.pages[copy], counterpart)
        else:
            web.pages[copy] = _fill(rng, web.pages[copy], web.pages, port)
    if has_copies:
        _add_twins(rng, web)
    if wait_seconds:
        web.pages = [
            replace(page, response=replace(page.response, wait_seconds=rng.choice((0, wait_seconds))))
            for page in web.pages
        ]
    web.robots = {host: _robots(rng) for host in hosts}
    _add_sitemaps(random.Random(-number - 1), web)
    web.by_address = {page.address: page.number for page in web.pages}
    for page in web.pages[: rng.randint(1, 2)]:
        web.seed_pages.append(page.number)
        web.seeds.append(_absolute(rng, page.address, port))
    return web


def _absolute(rng: random.Random, address: Address, port: int) -> str:
    while True:
        text, _ = spell(rng, address, None, port, ascii_only=False)
        if not text.startswith("//"):
            return text


def _draft_pages(rng: random.Random, hosts: list[str]) -> list[Page]:
    """Pages with an address and a kind, but no content yet. The first is an ordinary page at the root."""
    drafts = [Page(0, Address(hosts[0], "/"), "page")]
    taken = {drafts[0].address}
    for _ in range(rng.randint(3, 24)):
        name = rng.choice(("", f"p{rng.randint(1, 30)}", f"p{rng.randint(1, 9)}.html", "~me", "index.html", "x.cgi"))
        address = Address(rng.choice(hosts), rng.choice(_FOLDERS) + name, rng.choice(_QUERIES))
        if address in taken:
            continue
        taken.add(address)
        kinds = ("page",) * 14 + ("redirect", "redirect", "missing", "error", "plain", "image")
        drafts.append(Page(len(drafts), address, rng.choice(kinds)))
    return drafts


def _fill(rng: random.Random, draft: Page, targets: list[Page], port: int) -> Page:
    """`draft` with random content and links to random targets."""
    if draft.kind == "redirect":
        link = _link(rng, draft, rng.choice(targets), port, "redirect", ascii_only=True)
        status = rng.choice((301, 302, 303, 307, 308))
        return replace(draft, links=(link,), response=Response(status, (("Location", link.text),)))
    words = " ".join(rng.choices(_WORDS, k=rng.choice((4, 90, 90, 120))))
    if draft.kind == "image":
        return replace(draft, response=Response(200, (("Content-Type", "image/png"),), b"\x89PNG" + words.encode()))
    if draft.kind == "plain":
        kind = (("Content-Type", "text/plain; charset=utf-8"),)
        return replace(draft, words=words, response=Response(200, kind, words.encode()))
    degree = 5 if draft.number == 0 else rng.choice((0, 1, 2, 3, 4, 6))
    chosen = rng.sample(targets, min(len(targets), degree))
    kinds = ("a",) * 12 + ("area", "iframe", "next", "refresh", "header")
    links = [_link(rng, draft, target, port, rng.choice(kinds)) for target in chosen]
    if rng.random() < 0.1:
        links.append(_link(rng, draft, rng.choice(targets), port, "canonical"))
    directives = rng.choice(("",) * (9 if draft.number else 1000) + ("noindex", "noarchive", "nofollow", "none"))
    if "nofollow" in directives or "none" in directives:
        links = [replace(link, kind="a", anchor=link.anchor or "on") for link in links if link.kind == "a"]
    if rng.random() < 0.2:
        text = rng.choice((f"http://{OUTSIDE_HOST}:{port}/", *_NO_URLS))
        links.append(Link("a", None, text, "out", own_host=False))
    filled = replace(
        draft,
        title=f"T {rng.choice(_WORDS)} {rng.choice(_WORDS)}",
        words=words,
        links=tuple(links),
        directives=directives,
    )
    return _rendered(rng, filled)


def _link(rng: random.Random, source: Page, target: Page, port: int, kind: str, *, ascii_only: bool = False) -> Link:
    plain = ascii_only or kind in ("header", "refresh")
    text, own_host = spell(rng, target.address, source.address, port, ascii_only=plain)
    anchor = "" if kind != "a" else rng.choice(("", "on", rng.choice(_WORDS)))
    nofollow = kind == "a" and rng.random() < 0.08
    return Link(kind, target.number, text, anchor, own_host, nofollow)


def _rendered(rng: random.Random, page: Page) -> Page:
    """`page` with the response that says it: HTML whose links are in random places and quotes."""
    head, body, headers = [f"<title>{escape(page.title)}</title>"], [f"<p>{page.words}</p>"], []
    if page.directives and rng.random() < 0.5:
        head.append(f'<meta name="{rng.choice(("robots", PRODUCT_TOKEN))}" content="{page.directives}">')
    elif page.directives:
        headers.append(("X-Robots-Tag", page.directives))
    for link in page.links:
        if link.kind == "header":
            headers.append(("Link", f'<{link.text}>; rel="next"'))
            continue
        text = in_html(rng, link.text) if link.kind != "refresh" else link.text.replace("&", "&amp;")
        if link.kind == "a":
            rel = ' rel="external nofollow"' if link.nofollow else ""
            body.append(f'<p><a class=l{rel} href="{text}">{link.anchor}</a></p>')
        elif link.kind == "area":
            body.append(f'<map name=m><area alt="" href="{text}"></map>')
        elif link.kind == "iframe":
            body.append(f'<iframe src="{text}"></iframe>')
        elif link.kind in {"next", "canonical"}:
            head.append(f'<link rel="{link.kind}" href="{text}">')
        else:
            head.append(f'<meta http-equiv="Refresh" content="60; url={text}">')
    top = rng.choice(("<!doctype html>", "<!DOCTYPE HTML>\n")) + f"<!-- {page.number} -->" * rng.randint(0, 2)
    html = f'{top}<html><head><meta charset="utf-8">{"".join(head)}</head><body>{"".join(body)}</body></html>'.encode()
    headers.append(("Content-Type", rng.choice(("text/html; charset=utf-8", "text/html", "text/html;charset=UTF-8"))))
    validator = rng.choice(("etag", "date", ""))
    if validator == "etag":
        headers.append(("ETag", f'"{page.number}-{len(html)}"'))
    elif validator == "date":
        headers.append(("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"))
    status = {"missing": rng.choice((404, 410)), "error": 500}.get(page.kind, 200)
    return replace(page, response=Response(status, tuple(headers), html))


def _mirrored(original: Page, draft: Page, counterpart: dict[int, int]) -> Page:
    """`original` byte for byte at the address of `draft`: links that name no host stay on the mirror."""
    links = tuple(
        replace(link, target=counterpart[link.target]) if link.own_host and link.target is not None else link
        for link in original.links
    )
    return replace(original, number=draft.number, address=draft.address, links=links)


def _add_text_copies(rng: random.Random, web: Web) -> None:
    """Turn some pages into others' text with the same links, spelled anew, or with one link more."""
    pages = [page for page in web.pages if page.kind == "page" and page.words and page.number]
    for _ in range(rng.randint(0, 3)):
        if len(pages) < 2:
            return
        source, place = rng.sample(pages, 2)
        links = []
        for link in source.links:
            if link.target is None:
                links.append(link)
                continue
            fresh = _link(rng, place, web.pages[link.target], web.port, link.kind)
            links.append(replace(fresh, anchor=link.anchor, nofollow=link.nofollow))
        if rng.random() < 0.3 and "no" not in source.directives:
            links.append(replace(_link(rng, place, rng.choice(web.pages), web.port, "area"), anchor=""))
        copy = replace(place, title=source.title, words=source.words, links=tuple(links), directives=source.directives)
        web.pages[place.number] = _rendered(rng, copy)


def _add_twins(rng: random.Random, web: Web) -> None:
    """Add pages beside others, byte for byte the same."""
    for page in rng.sample(web.pages, min(len(web.pages), rng.randint(0, 3))):
        folder = page.address.path.rpartition("/")[0]
        stands_for_itself = any(link.own_host and (not link.text or link.text[0] in "?#") for link in page.links)
        if page.kind not in ("page", "plain", "image") or stands_for_itself:
            continue
        twin = replace(page, number=len(web.pages), address=Address(page.address.host, f"{folder}/twin{page.number}"))
        web.pages.append(twin)
        source = rng.choice([found for found in web.pages if found.kind == "page"])
        if source.kind == "page" and "nofollow" not in source.directives and "none" not in source.directives:
            extra = _link(rng, source, twin, web.port, "a")
            web.pages[source.number] = _rendered(rng, replace(source, links=(*source.links, extra)))


def _robots(rng: random.Random) -> Robots:
    """The rules of one host. What holds for us stands in our own group if there is one, else in that for all."""
    kind = rng.choice(("missing", "refused", "empty", "all", "all", "own", "own", "moved"))
    if kind == "missing":
        return Robots({"/robots.txt": Response(404, body=b"User-agent: *\nDisallow: /")})
    if kind == "refused":
        return Robots({"/robots.txt": Response(403)})
    plain = (("Content-Type", "text/plain"),)
    if kind == "empty":
        return Robots({"/robots.txt": Response(200, plain)})
    rules = rng.choice(
        (
            ((False, "/private/"),),
            ((False, "/private/"), (True, "/private/p1")),
            ((False, "/*.cgi"), (False, "/b/")),
            ((False, "/b"), (True, "/b/deep/")),
            ((False, "/"), (True, "/a/"), (True, "/p")),
            ((False, "/caf%C3%A9/"),),
            ((False, "/x%2Fy/"), (True, "/*/p1")),
            ((False, ""),),
        )
    )
    lines = [f"{'Allow' if allow else 'Disallow'}: {pattern}" for allow, pattern in rules]
    rng.shuffle(lines)
    others = ["User-agent: OtherBot", "Disallow: /", ""]
    if kind == "own":
        text = [*others, "User-agent: *", "Disallow: /", "", f"user-agent: {PRODUCT_TOKEN.upper()}", *lines]
    else:
        text = ["# rules", *others, "User-agent: *", *lines, "", "Sitemapp: x"]
    body = rng.choice(("\n", "\r\n")).join(text).encode()
    holding = tuple(rule for rule in rules if rule[1])
    if kind == "moved":
        moved = Response(301, (("Location", "/robots-moved.txt"),))
        return Robots({"/robots.txt": moved, "/robots-moved.txt": Response(200, plain, body)}, holding)
    return Robots({"/robots.txt": Response(200, plain, body)}, holding)


def _add_sitemaps(rng: random.Random, web: Web) -> None:
    """Let the robots.txt of some hosts name a sitemap of some of their pages, be it behind an index."""
    for host, robots in list(web.robots.items()):
        files = [(path, response) for path, response in robots.responses.items() if response.status == 200]
        own = [page for page in web.pages if page.address.host == host]
        if not files or not own or rng.random() < 0.5:
            continue
        listed = rng.sample(own, min(len(own), rng.randint(1, 4)))
        foreign = [page for page in web.pages if page.address.host != host][:1]
        sitemap = _add_sitemap(rng, web, host, listed, foreign)
        if rng.random() < 0.3:
            sitemap = _add_sitemap(rng, web, host, [sitemap], foreign, is_index=True)
        ((path, response),) = files
        line = f"\nSitemap: {web.url(sitemap)}\n".encode()
        responses = {**robots.responses, path: replace(response, body=response.body + line)}
        web.robots[host] = replace(robots, responses=responses, sitemap=sitemap.number)


def _add_sitemap(
    rng: random.Random, web: Web, host: str, listed: list[Page], foreign: list[Page], *, is_index: bool = False
) -> Page:
    """A new sitemap of `host` with the pages `listed`, and `foreign` ones of which it may not speak."""
    number = len(web.pages)
    urls = [web.url(page) for page in [*listed, *foreign]]
    if is_index or rng.random() < 0.7:
        outer, inner = ("sitemapindex", "sitemap") if is_index else ("urlset", "url")
        entries = "".join(f"<{inner}><loc>{escape(url)}</loc></{inner}>" for url in urls)
        name, media_type, body = "map.xml", "application/xml", f"<{outer}>{entries}</{outer}>".encode()
    else:
        name, media_type, body = "map.txt", "text/plain", "\n".join(urls).encode()
    if rng.random() < 0.3:
        name, media_type, body = f"{name}.gz", "application/gzip", gzip.compress(body, mtime=0)
    links = tuple(Link("sitemap", page.number, web.url(page), "", own_host=False) for page in listed)
    response = Response(200, (("Content-Type", media_type),), body)
    page = Page(number, Address(host, f"/{number}-{name}"), "sitemap", links=links, response=response)
    web.pages.append(page)
    return page


def _matches(pattern: str, path: str) -> bool:
    regex = ".*".join(re.escape(part) for part in pattern.removesuffix("$").split("*"))
    return re.match(regex + ("$" if pattern.endswith("$") else ""), path) is not None
