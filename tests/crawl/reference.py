"""What a correct crawl of a random web fetches, cycle by cycle: a brute-force breadth-first search over page numbers.

A cycle fetches every URL that became known in the cycle before. Links are followed from first copies only; two pages
are copies if their bodies are equal, or their texts (long enough) and their sets of links. The first copy is the one
fetched in the earliest cycle, within a cycle the one with the shortest, then smallest URL. Redirects are always
followed.
"""

from dataclasses import dataclass, field

from tests.crawl.webs import DENIED_BY_SCOPE, Page, Web

LONG_TEXT = 256


@dataclass
class Expected:
    """cycles: per cycle the new pages with their outcomes. contents: the distinct bodies of stored pages."""

    cycles: list[dict[int, str]] = field(default_factory=list)
    contents: set[bytes] = field(default_factory=set)
    followed: set[int] = field(default_factory=set)

    @property
    def outcomes(self) -> dict[int, str]:
        return {number: outcome for cycle in self.cycles for number, outcome in cycle.items()}

    @property
    def requested(self) -> set[int]:
        return {number for number, outcome in self.outcomes.items() if outcome != "denied_by_robots"}


def reference_crawl(web: Web) -> Expected:
    """Every page that a correct crawl of `web` asks for, and when."""
    expected = Expected()
    known = {number for number in web.seed_pages if _in_scope(web.pages[number])}
    new = sorted(known)
    seen: set[object] = set()
    while new:
        outcomes = {number: _outcome(web, web.pages[number]) for number in new}
        expected.cycles.append(outcomes)
        found: set[int] = set()
        for page in sorted((web.pages[n] for n in new), key=lambda page: (len(web.url(page)), web.url(page))):
            outcome = outcomes[page.number]
            if outcome == "redirected":
                found |= _targets(page)
            elif outcome == "ok":
                if "noarchive" not in page.directives:
                    expected.contents.add(page.response.body)
                identities = _identities(page)
                if not identities & seen:
                    expected.followed.add(page.number)
                    if not page.nofollow:
                        found |= {link.target for link in page.links if not link.nofollow and link.target is not None}
                seen |= identities
        new = sorted(number for number in found - known if _in_scope(web.pages[number]))
        known |= set(new)
    return expected


def _in_scope(page: Page) -> bool:
    return not page.address.path.startswith(DENIED_BY_SCOPE)


def _outcome(web: Web, page: Page) -> str:
    if not web.robots[page.address.host].allows(page.address.target):
        return "denied_by_robots"
    kinds = {"redirect": "redirected", "missing": "gone", "error": "server_error", "image": "unwanted_type"}
    return kinds.get(page.kind, "ok")


def _identities(page: Page) -> set[object]:
    """What makes another page a copy of this one."""
    identities: set[object] = {page.response.body}
    text = " ".join([page.words, *(link.anchor for link in page.links if link.anchor)])
    if len(page.words) >= LONG_TEXT:
        outlinks = [link for link in page.links if link.kind != "canonical"]
        targets = frozenset((link.target, link.text if link.target is None else "") for link in outlinks)
        identities.add((text, targets))
    return identities


def _targets(page: Page) -> set[int]:
    return {link.target for link in page.links if link.target is not None}
