"""Settings of what a cycle fetches: its budget, and how an operator steers the choice.

Read and frozen like all others, see `crawler.core.config`; `crawler.store.steering` makes tables of the rules.
"""

from typing import Literal

from pydantic import ConfigDict, Field, field_validator

from crawler.core.patterns import check_path_pattern, host_pattern
from crawler.core.section import Section


class UrlRule(Section):
    """Which URLs a rule is for."""

    model_config = ConfigDict(allow_inf_nan=False)

    host: str = Field(default="*", description="Hosts it is for, written as in scope.hosts; `*` is all.")
    path: str = Field(default="/", description="Path pattern it is for, written as in scope.rules.")

    @field_validator("host")
    @classmethod
    def _usable_host(cls, host: str) -> str:
        try:
            return host_pattern(host)
        except ValueError as error:
            raise ValueError(f"{error}; expected `example.org`, `*.example.org`, `domain:example.org` or `*`") from None

    @field_validator("path")
    @classmethod
    def _usable_path(cls, path: str) -> str:
        check_path_pattern(path)
        return path


class WeightRule(UrlRule):
    """How much the freshness of the URLs that meet all its conditions counts."""

    weight: float = Field(gt=0, le=1e6, description="Factor on a URL's importance.")
    min_depth: int = Field(default=0, ge=0, description="Least links from a seed.")
    max_depth: int | None = Field(default=None, ge=0, description="Most links from a seed.")
    min_sitemap_priority: float = Field(
        default=0, ge=0, le=1, description="Least `priority` in a sitemap; a URL without one has 0.5."
    )
    min_inlinks: int = Field(default=0, ge=0, description="Least number of pages that link to it.")

    def model_post_init(self, _context: object) -> None:
        if self.max_depth is not None and self.max_depth < self.min_depth:
            raise ValueError(f"has max_depth {self.max_depth} below min_depth {self.min_depth}")


class IntervalRule(UrlRule):
    """How often URLs are fetched at most and at least."""

    min_days: float | None = Field(default=None, ge=0, le=3650, description="Least days between two fetches.")
    max_days: float | None = Field(default=None, gt=0, le=3650, description="Days after which a fetch has precedence.")

    def model_post_init(self, _context: object) -> None:
        if self.min_days is None and self.max_days is None:
            raise ValueError("needs min_days, max_days or both")
        if self.min_days is not None and self.max_days is not None and self.max_days < self.min_days:
            raise ValueError(f"has max_days {self.max_days:g} below min_days {self.min_days:g}")


class PlanSettings(Section):
    """What a cycle fetches."""

    model_config = ConfigDict(allow_inf_nan=False)

    budget_urls: int = Field(default=100_000, ge=1, description="URLs that one cycle may fetch, over all buckets.")
    budget_bytes: int = Field(
        default=0,
        ge=0,
        description="Bytes that one cycle may be expected to bring, over all buckets: each URL counts as its last body "
        "had, a new one as the mean of its host. The better URLs are taken first. 0: no limit.",
    )
    new_share: float = Field(
        default=0.6,
        ge=0,
        le=1,
        description="Most of a cycle's budget that URLs never asked for may take from known ones; beyond it they get "
        "what these leave. Lower finds new pages later and keeps known ones fresher. 0: no new URL is fetched.",
    )
    objective: Literal["freshness", "age"] = Field(
        default="freshness",
        description="What is maximised or minimised: `freshness`, the share of time that a copy is current, gives up "
        "pages that change faster than the budget can follow; `age`, the time since a copy went stale, abandons none "
        "and keeps fewer pages current.",
    )
    max_urls_per_host: int = Field(
        default=10_000, ge=1, description="URLs of one host that one cycle may plan; its delay may allow fewer."
    )
    min_interval_days: float = Field(
        default=0.9, ge=0, description="Days that a URL rests after a fetch before it can be planned again."
    )
    weights: tuple[WeightRule, ...] = Field(
        default=(),
        description='Importance, as factors: `{host = "*.example.org", path = "/news/", weight = 5}`, '
        "`{min_depth = 6, weight = 0.5}`; further conditions are `max_depth`, `min_sitemap_priority` (a URL that no "
        "sitemap rates has 0.5) and `min_inlinks`. A URL's weight is the product of the rules of which it meets every "
        "condition, 1 without one. Twice the weight makes an hour of its staleness count twice.",
    )
    intervals: tuple[IntervalRule, ...] = Field(
        default=(),
        description='Bounds, first match wins: `{host = "example.org", path = "/archive/", min_days = 30}` rests '
        "URLs so long instead of plan.min_interval_days (6.9 for once a week, as plans are daily); `max_days = 7` "
        "gives a URL precedence once its copy is so old, whatever it is worth, within a twentieth of the budget.",
    )
    recheck_seeds_days: float = Field(
        default=0,
        ge=0,
        le=3650,
        description="Days after which a seed that answers is fetched again before all others, so that new links are "
        "seen, whatever it is worth. 0: a seed ranks as any URL.",
    )
