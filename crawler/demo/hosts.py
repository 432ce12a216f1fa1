"""The hosts of the demo web: names, addresses, sizes and the habit that each is there to show.

Pure: follows from seed, number of hosts and number of pages. The first hosts play a role each and carry its
name; the others are ordinary sites that differ in size, validators and pace of change.
"""

from dataclasses import dataclass
from enum import StrEnum

from crawler.demo import words
from crawler.demo.dice import Dice

DOMAIN = "demo.test"
CRAWL_DELAY_SECONDS = 2
ONE_ADDRESS = "127.0.0.1"
SESSION_MARK = "SESSION-ID-HERE"  # replaced in each response


class Role(StrEnum):
    """What a host is there to show."""

    HUB = "hub"
    HUB_MIRROR = "hub-mirror"  # found through its sitemap
    PRESS = "press"
    PRESS_MIRROR = "press-mirror"  # found through links only
    PRESS_COPY = "press-copy"
    SESSIONS = "sessions"  # every link carries a session id that is new in each response
    CALENDAR = "calendar"  # endless URLs without content
    PATIENT = "patient"  # Crawl-delay
    NO_ROBOTS = "no-robots"  # robots.txt is a 404
    CLOSED = "closed"  # robots.txt is a 503, always
    PACKED = "packed"  # gzip
    FLAKY = "flaky"  # a 500 now and then
    SLOW = "slow"
    MOVED = "moved"  # redirects of every kind
    LEAVING = "leaving"  # pages come and go
    MANNERS = "manners"  # nofollow, noindex, base, Allow within Disallow, a picture
    FACETS = "facets"  # a faceted search: every combination of choices is a URL
    PATH_SESSIONS = "path-sessions"  # a session id in the path, new in each link of each response
    QUERY_SESSIONS = "query-sessions"  # the same in a parameter that no list of sessions names
    SOFT_404 = "soft-404"  # answers 200 for what does not exist
    ARCHIVE = "archive"  # many numbered pages, and no trap
    ORDINARY = "ordinary"


class Validators(StrEnum):
    """What a host's pages offer for a conditional GET."""

    BOTH = "both"
    ETAG = "etag"
    MODIFIED = "modified"
    NONE = "none"

    @property
    def has_etag(self) -> bool:
        return self in (Validators.BOTH, Validators.ETAG)

    @property
    def has_modified(self) -> bool:
        return self in (Validators.BOTH, Validators.MODIFIED)


class Sitemap(StrEnum):
    """How a host lists its pages for crawlers; robots.txt names it."""

    NONE = "none"
    PLAIN = "plain"
    INDEX = "index"
    GZIP = "gzip"


@dataclass(frozen=True, slots=True)
class Host:
    """One site. `size` counts its ordinary pages; `temper` multiplies their rates of change."""

    name: str
    address: str
    role: Role
    size: int
    validators: Validators
    sitemap: Sitemap
    temper: float
    is_seed: bool
    mirror_of: str = ""

    @property
    def is_endless(self) -> bool:
        """Whether its pages are made as they are asked for, see traps.py; the site knows none of them."""
        return self.role in ENDLESS

    @property
    def has_rules(self) -> bool:
        """Whether its robots.txt can be read."""
        return self.role not in (Role.NO_ROBOTS, Role.CLOSED)

    @property
    def crawl_delay(self) -> float:
        """Its Crawl-delay in seconds; 0 without one."""
        return CRAWL_DELAY_SECONDS if self.role == Role.PATIENT else 0


_MIRRORS = {Role.HUB_MIRROR: Role.HUB, Role.PRESS_MIRROR: Role.PRESS, Role.PRESS_COPY: Role.PRESS}
ENDLESS = (Role.FACETS, Role.PATH_SESSIONS, Role.QUERY_SESSIONS, Role.SOFT_404, Role.ARCHIVE)
_ROLES = [role for role in Role if role != Role.ORDINARY and role not in ENDLESS]
_VALIDATORS = {
    Role.HUB: Validators.BOTH,
    Role.PRESS: Validators.ETAG,
    Role.SESSIONS: Validators.NONE,
    Role.CALENDAR: Validators.NONE,
    Role.PACKED: Validators.BOTH,
    Role.LEAVING: Validators.MODIFIED,
}
_SITEMAPS = {
    Role.HUB: Sitemap.PLAIN,
    Role.HUB_MIRROR: Sitemap.INDEX,
    Role.MOVED: Sitemap.PLAIN,
    Role.PACKED: Sitemap.GZIP,
    Role.LEAVING: Sitemap.PLAIN,
}
_NOT_SEEDS = (Role.HUB_MIRROR, Role.PRESS_MIRROR, Role.PRESS_COPY, Role.CLOSED, Role.PATIENT)
# At its Crawl-delay the patient host takes the longest of all; the closed one is never read.
_FIXED_SIZES = {Role.PATIENT: 8, Role.CLOSED: 12}
_SHARED = ((17, 18, 19), (20, 21), (22, 23, 24, 25))  # positions of the hosts that share an address
FEWEST_HOSTS = 28
FEWEST_PAGES_PER_HOST = 12


def make_hosts(seed: int, hosts: int, pages: int, *, one_address: bool = False) -> list[Host]:
    """The hosts of the web of that seed, whose sizes sum to `pages`, and the endless ones besides.

    Raises ValueError for too few hosts or pages.
    one_address: all at 127.0.0.1, for systems whose loopback has no other address.
    """
    if hosts < FEWEST_HOSTS or pages < hosts * FEWEST_PAGES_PER_HOST:
        raise ValueError(
            f"{hosts} hosts with {pages} pages: expected at least {FEWEST_HOSTS} hosts, with {FEWEST_PAGES_PER_HOST} "
            "pages each on average"
        )
    roles = _ROLES + [Role.ORDINARY] * (hosts - len(_ROLES))
    sizes = _sizes(seed, roles, pages)
    made: list[Host] = []
    names: set[str] = set()
    for position, (role, size) in enumerate(zip(roles, sizes, strict=True)):
        dice = Dice(seed, "host", position)
        name = _name(seed, position, role, names)
        names.add(name)
        original = _MIRRORS.get(role)
        usual = list(Validators)[position % len(Validators)]
        made.append(
            Host(
                name=name,
                address=ONE_ADDRESS if one_address else _address(position),
                role=role,
                size=size,
                validators=_VALIDATORS.get(original or role, usual),
                sitemap=_SITEMAPS.get(role, Sitemap.NONE) if role != Role.ORDINARY else _ordinary_sitemap(position),
                temper=dice.pick((0.3, 1.0, 3.0)),
                is_seed=role in _MIRRORS.values() or (role not in _NOT_SEEDS and position % 3 != 2),
                mirror_of=f"{original}.{DOMAIN}" if original else "",
            )
        )
    for role in ENDLESS:
        made.append(
            Host(
                name=f"{role}.{DOMAIN}",
                address=ONE_ADDRESS if one_address else _address(len(made)),
                role=role,
                size=0,
                validators=Validators.NONE,
                sitemap=Sitemap.NONE,
                temper=1.0,
                is_seed=True,
            )
        )
    return made


def _name(seed: int, position: int, role: Role, taken: set[str]) -> str:
    if role != Role.ORDINARY:
        return f"{role}.{DOMAIN}"
    attempt = 0
    while True:
        first, second = words.word(f"{seed}|{position}|{attempt}|first"), words.word(f"{seed}|{position}|{attempt}|2nd")
        name = f"{first}-{second}.{DOMAIN}"
        if name not in taken:
            return name
        attempt += 1


def _address(position: int) -> str:
    for group in _SHARED:
        if position in group:
            position = group[0]
    return f"127.0.{20 + position // 200}.{10 + position % 200}"


def _ordinary_sitemap(position: int) -> Sitemap:
    return (Sitemap.PLAIN, Sitemap.NONE, Sitemap.PLAIN, Sitemap.INDEX, Sitemap.NONE)[position % 5]


def _sizes(seed: int, roles: list[Role], pages: int) -> list[int]:
    mean = pages // len(roles)
    sizes: list[int | None] = [_FIXED_SIZES.get(role) for role in roles]
    for position, role in enumerate(roles):
        if role in _MIRRORS or role in _MIRRORS.values():
            sizes[position] = mean * 4 // 5
    free = [position for position, size in enumerate(sizes) if size is None]
    left = pages - sum(size for size in sizes if size is not None)
    weights = [0.4 + 1.2 * Dice(seed, "size", position).random() for position in free]
    shares = [int(left * weight / sum(weights)) for weight in weights]
    for extra in range(left - sum(shares)):
        shares[extra] += 1
    for position, share in zip(free, shares, strict=True):
        sizes[position] = share
    return [size or 0 for size in sizes]
