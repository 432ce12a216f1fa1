"""The whole demo web as a value: hosts, pages, redirects, links between them, and the state of a page at an instant.

Pure: follows from a `Plan`, so that the server and whoever wants the truth can both make it. No I/O.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlencode

from crawler.demo.dice import Dice, PoissonProcess
from crawler.demo.hosts import Host, Role, Sitemap, make_hosts
from crawler.demo.pages import Kind, Page, make_pages

_IGNORED_PARAMETERS = ("PHPSESSID",)
_IGNORED_PREFIX = "utm_"


@dataclass(frozen=True, slots=True)
class Plan:
    """All that a demo web follows from. start: an instant in UTC before which no page changes.

    hosts, pages: of the ordinary web; the hosts that make URLs without end come on top. archive: numbered pages of one.
    """

    seed: int
    start: datetime
    port: int
    hosts: int = 64
    pages: int = 3200
    one_address: bool = False
    archive: int = 200


class State(NamedTuple):
    """What a page's content follows from: how often its text was edited and which children it lists.

    `version` is the sum: the number of changes until then.
    """

    edits: int
    children: int

    @property
    def version(self) -> int:
        return self.edits + self.children


@dataclass(frozen=True, slots=True)
class Redirect:
    """`target` is a path of the same host, or an absolute URL."""

    status: int
    target: str


class Site:
    """The web of one plan.

    hosts: by name. pages: by (host, normal path). redirects: likewise. articles and sections: by host, in order.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        made = make_hosts(plan.seed, plan.hosts, plan.pages, one_address=plan.one_address)
        self.hosts = {host.name: host for host in made}
        self.pages: dict[tuple[str, str], Page] = {}
        self.articles: dict[str, list[Page]] = {}
        self.sections: dict[str, list[Page]] = {}
        self.redirects: dict[tuple[str, str], Redirect] = {}
        with_pages = [host for host in made if not host.is_endless]
        for host in with_pages:
            self._add(host)
        self.lasting = [page for pages in self.articles.values() for page in pages if page.is_lasting]
        self._neighbours = _neighbours(plan.seed, with_pages)
        self._processes: dict[str, PoissonProcess] = {}
        self._turns: dict[tuple[str, str], list[datetime]] = {}
        for host in with_pages:
            self._redirect(host)

    @property
    def seeds(self) -> list[str]:
        """The front pages to start from."""
        return [self.url(host.name, "/") for host in self.hosts.values() if host.is_seed]

    @property
    def resolve(self) -> dict[str, str]:
        """Host name to address."""
        return {host.name: host.address for host in self.hosts.values()}

    def url(self, host: str, path: str) -> str:
        return f"http://{host}:{self.plan.port}{path}"

    def find(self, host: str, path: str) -> Page | None:
        """The page at a path as requested, in any spelling; whether it exists at an instant is another question."""
        return self.pages.get((host, normal_path(path)))

    def exists(self, page: Page, instant: datetime) -> bool:
        return (page.born is None or page.born <= instant) and (page.ends is None or instant < page.ends)

    def state(self, page: Page, instant: datetime) -> State:
        """What the page's content follows from at that instant, were it to exist."""
        turns = self._turns_of(page)
        return State(self.process(page).count(instant), sum(turn <= instant for turn in turns))

    def changes(self, page: Page, after: datetime, until: datetime) -> list[datetime]:
        """The instants in (after, until] at which the content changes."""
        turns = [turn for turn in self._turns_of(page) if after < turn <= until]
        return sorted(turns + self.process(page).between(after, until))

    def modified(self, page: Page, instant: datetime) -> datetime:
        """The instant of the newest change; for a page that never changed, some day before the start."""
        past = [turn for turn in self._turns_of(page) if turn <= instant]
        process = self.process(page)
        latest = process.latest(process.count(instant))
        if latest:
            past.append(latest)
        if past:
            return max(past)
        return self.plan.start - timedelta(seconds=1 + Dice(page.key, "age").below(400 * 86400))

    def process(self, page: Page) -> PoissonProcess:
        """The edits of a page's text; one for a mirror's page and its original."""
        process = self._processes.get(page.key)
        if process is None:
            process = self._processes[page.key] = PoissonProcess(page.key, page.per_day, self.plan.start)
        return process

    def children(self, page: Page, state: State) -> list[Page]:
        """The articles that a section or sitemap lists in that state."""
        turns = self._turns_of(page)
        listed_at = turns[state.children - 1] if state.children else self.plan.start
        among = self.articles[page.host]
        if page.kind == Kind.SECTION:
            return [child for child in among if child.section == page.path and (child.born or listed_at) <= listed_at]
        return [child for child in among if self.exists(child, listed_at)]

    def host_pages(self, host: str, *kinds: Kind) -> list[Page]:
        """The pages of a host of those kinds."""
        return [page for (name, _), page in self.pages.items() if name == host and page.kind in kinds]

    def entrances(self, host: Host) -> list[str]:
        """The redirecting paths that a host's front page links to."""
        listed = ("/latest", "/chain/1", "/ring/1", "/partner", "/home")
        return [path for path in listed if (host.name, path) in self.redirects]

    def neighbours(self, host: str) -> list[str]:
        """The hosts whose front pages a front page links to; a mirror's are its original's."""
        return self._neighbours[self.hosts[host].mirror_of or host]

    def _turns_of(self, page: Page) -> list[datetime]:
        """The instants at which a section's or sitemap's list changes; a section keeps ended pages, as broken links."""
        if page.kind not in (Kind.SECTION, Kind.SITEMAP):
            return []
        turns = self._turns.get((page.host, page.path))
        if turns is None:
            of_page = [a for a in self.articles[page.host] if page.kind == Kind.SITEMAP or a.section == page.path]
            births = {article.born for article in of_page if article.born}
            ends = {article.ends for article in of_page if article.ends and page.kind == Kind.SITEMAP}
            turns = self._turns[page.host, page.path] = sorted(births | ends)
        return turns

    def _add(self, host: Host) -> None:
        pages = list(make_pages(self.plan.seed, host, self.plan.start))
        pages += [
            Page(
                host=host.name,
                path=path,
                kind=Kind.SITEMAP,
                key=f"{self.plan.seed}|{host.name}{path}",
                title="",
                per_day=0.0,
            )
            for path in sitemap_paths(host)
        ]
        self.pages.update(((host.name, normal_path(page.path)), page) for page in pages)
        self.articles[host.name] = [page for page in pages if page.kind == Kind.ARTICLE]
        self.sections[host.name] = [page for page in pages if page.kind == Kind.SECTION]

    def _redirect(self, host: Host) -> None:
        articles = self.articles[host.name]
        found = {page.old_path: Redirect(301, page.path) for page in articles if page.old_path}
        if host.role == Role.MOVED:
            hub = f"{Role.HUB}.{host.name.partition('.')[2]}"
            found |= {
                "/latest": Redirect(302, articles[0].path),
                "/chain/1": Redirect(301, "/chain/2"),
                "/chain/2": Redirect(307, "/chain/3"),
                "/chain/3": Redirect(308, articles[1].path),
                "/ring/1": Redirect(302, "/ring/2"),
                "/ring/2": Redirect(302, "/ring/1"),
                "/partner": Redirect(301, self.url(hub, self.articles[hub][0].path)),
            }
        elif host.role == Role.ORDINARY and host.temper == 1.0:
            found["/home"] = Redirect(301, self.url(host.name, "/"))
        self.redirects.update(((host.name, path), redirect) for path, redirect in found.items())


def sitemap_paths(host: Host) -> list[str]:
    """The paths of a host's sitemaps, the one that robots.txt names first."""
    return {
        Sitemap.NONE: [],
        Sitemap.PLAIN: ["/sitemap.xml"],
        Sitemap.GZIP: ["/sitemap.xml.gz"],
        Sitemap.INDEX: ["/sitemap.xml", "/sitemap-1.xml"],
    }[host.sitemap]


def normal_path(target: str) -> str:
    """Path and query without fragment, escapes, session and campaign parameters; parameters sorted."""
    path, _, query = target.partition("#")[0].partition("?")
    kept = [
        (name, value)
        for name, value in sorted(parse_qsl(query, keep_blank_values=True))
        if name not in _IGNORED_PARAMETERS and not name.startswith(_IGNORED_PREFIX)
    ]
    return unquote(path) + (f"?{urlencode(kept)}" if kept else "")


def _neighbours(seed: int, hosts: list[Host]) -> dict[str, list[str]]:
    """Each host that is no seed gets links from two seeds, so that all are within a link of the seeds."""
    seeds = [host.name for host in hosts if host.is_seed]
    others = [host.name for host in hosts if not host.is_seed]
    found = {host.name: [Dice(seed, "neighbour", host.name).pick(seeds)] for host in hosts}
    for number, name in enumerate(others):
        for source in (seeds[number % len(seeds)], seeds[(number * 3 + 1) % len(seeds)]):
            if name not in found[source]:
                found[source].append(name)
    return found
