"""What a correct crawl of random webs fetches, cycle by cycle: a brute-force breadth-first search over their pages.

A cycle fetches every URL that became known in the cycle before. Links are followed from first copies only; two pages
are copies if their bodies are equal, or their texts (long enough) and their sets of links. The first copy is the one
fetched in the earliest cycle, within a cycle the one that itself or another of these copies names as canonical, else
one that names no other, then the one with the shortest, then smallest URL. Redirects are always followed. The sitemap
of a host is a page that becomes known with the first of its pages, and is nobody's copy. Walks the pages that the webs
say they have; never reads HTML or a URL's text.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.crawl.webs import DENIED_BY_SCOPE, Page, Web

LONG_TEXT = 256


@dataclass
class Expected:
    """cycles: per cycle the outcomes of its new pages, by canonical URL. contents: the distinct bodies of stored pages.

    copies: the URLs whose links are not followed because another page brought them first.
    """

    cycles: list[dict[str, str]] = field(default_factory=list)
    contents: set[bytes] = field(default_factory=set)
    copies: set[str] = field(default_factory=set)

    @property
    def outcomes(self) -> dict[str, str]:
        return {url: outcome for cycle in self.cycles for url, outcome in cycle.items()}


def reference_crawl(webs: Iterable[Web]) -> Expected:
    """Every page that a correct crawl of `webs` in one lake asks for, and when."""
    expected = Expected()
    known: set[str] = set()
    seen: set[object] = set()
    met: set[str] = set()
    new = _unknown([(web, web.pages[number]) for web in webs for number in web.seed_pages], known)
    while new:
        outcomes = {url: _outcome(web, page) for url, (web, page) in new.items()}
        expected.cycles.append(outcomes)
        found = _sitemaps(new, met)
        first = _first_copies({url: place for url, place in new.items() if outcomes[url] == "ok"})
        for url, (web, page) in new.items():
            targets = [web.pages[link.target] for link in page.links if _followed(page, link.nofollow, link.target)]
            if outcomes[url] == "ok":
                if "noarchive" not in page.directives:
                    expected.contents.add(page.response.body)
                if any(identity in seen or first[identity] != url for identity in _identities(web, page)):
                    expected.copies.add(url)
                    targets = []
            elif outcomes[url] != "redirected":
                targets = []
            found += [(web, target) for target in targets]
        seen |= first.keys()
        new = _unknown(found, known)
    return expected


def _first_copies(pages: dict[str, tuple[Web, Page]]) -> dict[object, str]:
    """By what makes pages copies the URL of the one among `pages` that stands for the others."""
    alike: dict[object, dict[str, str | None]] = {}
    for url, (web, page) in pages.items():
        target = next((link.target for link in page.links if link.kind == "canonical"), None)
        canonical = None if target is None else web.url(web.pages[target])
        for identity in _identities(web, page):
            alike.setdefault(identity, {})[url] = canonical

    def standing(url: str, canonicals: dict[str, str | None]) -> tuple[int, int, str]:
        rank = 0 if url in canonicals.values() else 1 if canonicals[url] is None else 2
        return rank, len(url), url

    return {identity: min(named, key=lambda url: standing(url, named)) for identity, named in alike.items()}


def _sitemaps(new: dict[str, tuple[Web, Page]], met: set[str]) -> list[tuple[Web, Page]]:
    """Those of the hosts of `new` that are not in `met`; they are from now on."""
    found = []
    for web, page in new.values():
        number = web.robots[page.address.host].sitemap
        if page.address.host not in met and number is not None:
            found.append((web, web.pages[number]))
        met.add(page.address.host)
    return found


def _unknown(found: list[tuple[Web, Page]], known: set[str]) -> dict[str, tuple[Web, Page]]:
    """Those of `found` in scope that are not in `known`, by URL; they are known from now on."""
    new = {}
    for web, page in found:
        url = web.url(page)
        if url not in known and not page.address.path.startswith(DENIED_BY_SCOPE):
            known.add(url)
            new[url] = (web, page)
    return new


def _followed(page: Page, nofollow: bool, target: int | None) -> bool:
    return target is not None and not nofollow and not page.nofollow


def _outcome(web: Web, page: Page) -> str:
    if not web.robots[page.address.host].allows(page.address.target):
        return "denied_by_robots"
    kinds = {"redirect": "redirected", "missing": "gone", "error": "server_error", "image": "unwanted_type"}
    return kinds.get(page.kind, "ok")


def _identities(web: Web, page: Page) -> set[object]:
    """What makes another page a copy of this one."""
    if page.kind == "sitemap":
        return set()
    identities: set[object] = {page.response.body}
    if len(page.words) >= LONG_TEXT:
        text = " ".join([page.words, *(link.anchor for link in page.links if link.anchor)])
        outlinks = [link for link in page.links if link.kind != "canonical"]
        targets = {link.text if link.target is None else (web.number, link.target) for link in outlinks}
        identities.add((text, frozenset(targets)))
    return identities
