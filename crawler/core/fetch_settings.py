"""Settings of what a fetch task does: its requests, their pace, and the exceptions for one host.

Read and frozen like all others, see `crawler.core.config`.
"""

from ipaddress import ip_network

from pydantic import Field, field_validator

from crawler.core.blackout import Blackout
from crawler.core.references import DIRECT, check_headers, check_proxy, check_reference, origin_parts
from crawler.core.section import Section
from crawler.core.sitemap_settings import check_sitemaps
from crawler.core.url_settings import HostUrlSettings

_LEAST_ABSENT_DAYS = 30


class FetchSettings(Section):
    """Requests of one fetch task; there is one task a bucket."""

    threads: int = Field(default=16, ge=1, le=256, description="Hosts asked at the same time by one task.")
    slow_threads: int = Field(
        default=2,
        ge=1,
        description="How many of the threads may wait at once for hosts that gave no connection or no answer in time "
        "again and again, so that these hold up no others; at most half of them do, but one.",
    )
    connect_seconds: float = Field(default=10, gt=0, description="Longest wait for a connection, in seconds.")
    read_seconds: float = Field(default=20, gt=0, description="Longest silence of a server, in seconds.")
    total_seconds: float = Field(default=60, gt=0, description="Longest time of one request, in seconds.")
    max_body_bytes: int = Field(
        default=5 << 20, ge=1024, description="Bytes kept of a body after decoding; the rest is cut (`truncated`)."
    )
    max_header_bytes: int = Field(default=64 << 10, ge=1024, description="Bytes of response headers accepted.")
    max_parse_bytes: int = Field(
        default=2 << 20, ge=1024, description="Bytes of a body that are parsed for links and text."
    )
    parse_workers: int = Field(
        default=1,
        ge=0,
        le=16,
        description="Processes of one task that read pages. 0: the task reads them itself, where nothing stops a page "
        "that hangs the parser; for debugging and trusted sites only.",
    )
    parse_seconds: float = Field(
        default=5,
        gt=0,
        description="Longest CPU time that reading one page may take, in seconds; then it ends as `parser_failed`.",
    )
    accepted_types: tuple[str, ...] = Field(
        default=(
            "text/html",
            "application/xhtml+xml",
            "text/plain",
            "application/xml",
            "text/xml",
            "application/rss+xml",
            "application/atom+xml",
        ),
        description="Content types that are fetched; others end as `unwanted_type` after the headers.",
    )
    allow_private: tuple[str, ...] = Field(
        default=(),
        description="Networks (CIDR) that may be asked although they are private. Empty: no private address is.",
    )
    window_hours: float = Field(
        default=24, gt=0, le=24, description="Hours that a cycle may fetch, from its first plan on."
    )
    segment_pages: int = Field(default=1000, ge=1, description="Pages after which results are written down.")
    segment_seconds: float = Field(
        default=30, gt=0, description="Seconds after which results are written down; a killed task loses no more."
    )
    resolve: dict[str, str] = Field(
        default={}, description="Host name to address, asked before DNS (like a hosts file)."
    )
    dns_seconds: float = Field(
        default=300, ge=0, description="Seconds that a host's addresses are used without asking DNS again."
    )
    dns_failure_seconds: float = Field(
        default=60, ge=0, description="Seconds that a host without an address is not looked up again."
    )
    discover_urls: int = Field(
        default=10_000,
        ge=0,
        description="URLs that one task may fetch in the very cycle in which it finds them, out of its share of the "
        "budget that the plans leave unspent, behind all that is planned. 0: what is found waits for the next cycle.",
    )
    audit_share: float = Field(
        default=0.01,
        ge=0,
        le=1,
        description="Share of the pages with validators that are asked for without them, to see whether the host's "
        "validators tell the truth. A host that lies is asked without them until it no longer does. 0: no audits.",
    )
    proxy: str = Field(
        default="",
        description="HTTP proxy for all hosts, `http://HOST:PORT`; https goes through it by CONNECT. The proxy then "
        "looks up the hosts: only its own address is checked (it may need `allow_private`), what it connects to is its "
        "operator's to guard, and hosts behind it share no address interval. Empty: none.",
    )
    proxy_credentials: str = Field(
        default="",
        description="Login at `proxy` by reference: `env:NAME` (a variable that holds `user:password`) or "
        "`airflow:CONN_ID`. Sent to the proxy only.",
    )

    @field_validator("allow_private")
    @classmethod
    def _networks(cls, networks: tuple[str, ...]) -> tuple[str, ...]:
        for network in networks:
            ip_network(network)
        return networks

    @field_validator("proxy")
    @classmethod
    def _usable_proxy(cls, proxy: str) -> str:
        return check_proxy(proxy) if proxy else proxy

    @field_validator("proxy_credentials")
    @classmethod
    def _by_reference(cls, reference: str) -> str:
        return check_reference(reference) if reference else reference


class PolitenessSettings(Section):
    """How fast a host may be asked. The delay counts from the end of a response to the next request."""

    delay_seconds: float = Field(default=1.0, ge=0, description="Least delay between two requests to a host.")
    delay_factor: float = Field(
        default=5.0, ge=0, description="Delay as a multiple of the host's smoothed response time; 0 is off."
    )
    adaptive_cap_seconds: float = Field(
        default=30,
        ge=0,
        description="Most that delay_factor can ask for, and that failures in a row can double the delay to, in "
        "seconds.",
    )
    crawl_delay_cap_seconds: float = Field(
        default=300, gt=0, description="Most that a robots.txt Crawl-delay is honoured up to, in seconds."
    )
    retry_after_cap_seconds: float = Field(
        default=86400, gt=0, description="Most that a Retry-After is honoured up to, in seconds."
    )
    address_delay_seconds: float = Field(
        default=0.25, ge=0, description="Least interval between two requests to one address, all its hosts together."
    )
    address_exempt: tuple[str, ...] = Field(
        default=(), description="Networks (CIDR) without an address interval, e.g. those of a CDN."
    )
    robots_max_age_seconds: float = Field(
        default=86400, gt=0, le=86400, description="Longest use of a robots.txt without asking again, in seconds."
    )
    robots_stretch_days: float = Field(
        default=0,
        ge=0,
        description="Days beyond its 24 hours that the last good robots.txt serves while a new one cannot be read. 0: "
        "then nothing of its origin is asked for.",
    )
    robots_absent_days: float = Field(
        default=0,
        ge=0,
        description="Days after which a robots.txt that could not be read counts as absent, so that everything may be "
        "asked for; RFC 9309 names 30, and fewer are not accepted. 0: never.",
    )

    @field_validator("robots_absent_days")
    @classmethod
    def _long_enough(cls, days: float) -> float:
        if 0 < days < _LEAST_ABSENT_DAYS:
            raise ValueError(f"is less than the {_LEAST_ABSENT_DAYS} days of RFC 9309 2.3.1.4; 0 is never")
        return days


class HostFetchSettings(Section):
    """How one host is asked, where that differs."""

    delay_seconds: float | None = Field(
        default=None, ge=0, description="Least delay between two requests instead of the general one.", examples=[5.0]
    )
    max_urls: int | None = Field(
        default=None, ge=0, description="URLs planned a cycle instead of the general cap.", examples=[500]
    )
    noisy: bool | None = Field(
        default=None,
        description="Whether pages of the host differ a little at every look (counters, tokens), so that within "
        "copies.max_distance bits they count as unchanged when change rates are learned. Unset: measured by fetches "
        "within an hour of each other.",
        examples=[True],
    )
    connections: int = Field(
        default=1,
        ge=1,
        le=64,
        description="Requests that may be under way at the host at once, for a site whose operator allows it. Its rate "
        "stays one request a delay at most; slow answers no longer lower it.",
        examples=[4],
    )
    blackout: tuple[str, ...] = Field(
        default=(),
        description="Times of the day (UTC, `HH:MM-HH:MM`, also over midnight) at which the host is asked for nothing, "
        "robots.txt included. A plan counts only the rest of its window; what is left when one begins stays open.",
        examples=[("22:00-06:00",)],
    )
    prefixes: dict[str, int] = Field(
        default={},
        description="Shares of the host's turns by path prefix, so that no section of a large site waits for another: "
        '`{"/docs/" = 3, "/blog/" = 1}`. The longest prefix counts; all other paths together are one section with a '
        "share of 1. Best first within a section.",
    )
    sitemaps: tuple[str, ...] = Field(
        default=(),
        description="Sitemaps of this host besides those that its robots.txt names, on whatever host they are; they "
        "may list URLs of this one.",
        examples=[("https://cdn.example.net/example.org/sitemap.xml",)],
    )
    headers: dict[str, str] = Field(
        default={},
        repr=False,
        description='Request headers for this host only, robots.txt included, e.g. `{Accept-Language = "de"}`. A value '
        "`env:NAME` (the variable's text) or `airflow:CONN_ID` (the Connection's password) is a secret, see "
        '`secret_origins`: `{Authorization = "env:BEARER"}` with `Bearer TOKEN` in the variable.',
    )
    credentials: str = Field(
        default="",
        description="Login at this host (HTTP Basic) by reference: `env:NAME` (a variable that holds `user:password`) "
        "or `airflow:CONN_ID`.",
        examples=["env:EXAMPLE_LOGIN"],
    )
    secret_origins: tuple[str, ...] = Field(
        default=(),
        description="Origins of this host that get its credentials and secret headers, e.g. "
        "`http://example.org:8080`. Empty: https on port 443 only. No other scheme, port or host ever gets them.",
    )
    proxy: str = Field(
        default="",
        description="HTTP proxy for this host instead of `fetch.proxy`, with the same consequences; `direct`: none.",
        examples=["http://proxy.example.org:3128"],
    )
    proxy_credentials: str = Field(
        default="", description="Login at this host's `proxy` by reference, as `fetch.proxy_credentials`."
    )

    @field_validator("sitemaps")
    @classmethod
    def _are_urls(cls, urls: tuple[str, ...]) -> tuple[str, ...]:
        return check_sitemaps(urls)

    @field_validator("blackout")
    @classmethod
    def _times_of_the_day(cls, blackout: tuple[str, ...]) -> tuple[str, ...]:
        Blackout.parse(blackout)
        return blackout

    @field_validator("prefixes")
    @classmethod
    def _shares(cls, prefixes: dict[str, int]) -> dict[str, int]:
        for prefix, share in prefixes.items():
            if not prefix.startswith("/"):
                raise ValueError(f"path prefix {prefix!r} does not start with `/`")
            if share < 1:
                raise ValueError(f"share {share} of {prefix!r} is less than 1")
        return prefixes

    @field_validator("headers")
    @classmethod
    def _usable_headers(cls, headers: dict[str, str]) -> dict[str, str]:
        check_headers(headers)
        return headers

    @field_validator("credentials", "proxy_credentials")
    @classmethod
    def _by_reference(cls, reference: str) -> str:
        return check_reference(reference) if reference else reference

    @field_validator("proxy")
    @classmethod
    def _usable_proxy(cls, proxy: str) -> str:
        return proxy if proxy in ("", DIRECT) else check_proxy(proxy)

    @field_validator("secret_origins")
    @classmethod
    def _origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            origin_parts(origin)
        return origins

    @property
    def closed(self) -> Blackout:
        """The times at which the host is asked for nothing."""
        return Blackout.parse(self.blackout)

    def model_post_init(self, _context: object) -> None:
        if self.credentials and any(name.lower() == "authorization" for name in self.headers):
            raise ValueError("has both credentials and a header Authorization")
        if self.proxy_credentials and self.proxy in ("", DIRECT):
            raise ValueError("has proxy_credentials without a proxy of its own")


class HostSettings(HostUrlSettings, HostFetchSettings):
    """Exceptions for one host."""
