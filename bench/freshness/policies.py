"""The policies that the product is measured against. Those whose name says `known` are told every rate.

Peers: Apache Nutch's AdaptiveFetchSchedule with the values of nutch-default.xml (NUTCH-1564 included); LambdaCrawl
(Kolobov et al., NeurIPS 2019, harmonic penalty). None of them writes anything.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from bench.freshness.bounds import index
from bench.freshness.simulate import Limits, best
from bench.freshness.web import Floats, Integers, Truths, Web

_NUTCH_START_DAYS, _NUTCH_LEAST_DAYS, _NUTCH_MOST_DAYS = 30.0, 60 / 86400, 365.0
_NUTCH_RISE, _NUTCH_FALL, _NUTCH_SYNC = 0.4, 0.2, 0.3
_FIRST = 1e6  # above every other value
_HALVINGS = 60


class Aged(ABC):
    """What all policies know: the web's hosts and weights, their limits, and when each page was fetched."""

    def __init__(self, web: Web, limits: Limits) -> None:
        self.web = web
        self.limits = limits
        self.fetched = np.zeros(web.pages)  # all were fetched in cycle 0

    def choose(self, cycle: int) -> Integers:
        value, is_due = self.rank(cycle)
        return best(value, is_due, self.web.host, self.limits)

    @abstractmethod
    def rank(self, cycle: int) -> tuple[Floats, Truths]:
        """The value of each page, and whether it may be fetched."""

    def observe(self, cycle: int, pages: Integers, has_changed: Truths) -> None:
        self.fetched[pages] = cycle


class Uniform(Aged):
    """The whole budget on the pages that were longest not fetched."""

    def rank(self, cycle: int) -> tuple[Floats, Truths]:
        return cycle - self.fetched, np.ones(self.web.pages, bool)


class Fixed(Aged):
    """Each page once in `days`; the longest not fetched first where the budget is short."""

    def __init__(self, web: Web, limits: Limits, days: float) -> None:
        super().__init__(web, limits)
        self.days = days

    def rank(self, cycle: int) -> tuple[Floats, Truths]:
        age = cycle - self.fetched
        return age, age >= self.days


class Nutch(Aged):
    """Nutch's adaptive interval: 0.4 longer after no change, 0.2 shorter after one, drawn towards the change.

    As it is: pages are fetched once due, the longest due first; what is left of the budget is not used.
    """

    def __init__(self, web: Web, limits: Limits) -> None:
        super().__init__(web, limits)
        self.interval = np.full(web.pages, _NUTCH_START_DAYS)
        self.due = self.interval.copy()
        self.modified = np.zeros(web.pages)

    def rank(self, cycle: int) -> tuple[Floats, Truths]:
        return cycle - self.due, self.due <= cycle

    def observe(self, cycle: int, pages: Integers, has_changed: Truths) -> None:
        super().observe(cycle, pages, has_changed)
        interval = self.interval[pages] * np.where(has_changed, 1 - _NUTCH_FALL, 1 + _NUTCH_RISE)
        self.modified[pages] = np.where(has_changed, cycle, self.modified[pages])
        unchanged_for = cycle - self.modified[pages]
        interval = np.clip(np.maximum(interval, unchanged_for), _NUTCH_LEAST_DAYS, _NUTCH_MOST_DAYS)
        self.interval[pages] = interval
        self.due[pages] = cycle - _NUTCH_SYNC * unchanged_for + interval


class NutchDue(Nutch):
    """Nutch's intervals with the whole budget and the weights: the due by weight and age, then the next to be due."""

    def rank(self, cycle: int) -> tuple[Floats, Truths]:
        weighed = _FIRST + self.web.weight * (cycle - self.fetched)
        return np.where(self.due <= cycle, weighed, cycle - self.due), np.ones(self.web.pages, bool)


class NutchPaced(Nutch):
    """The same in another reading: all intervals are stretched alike until the budget fits, and weights count."""

    def rank(self, cycle: int) -> tuple[Floats, Truths]:
        return self.web.weight * (cycle - self.fetched) / self.interval, np.ones(self.web.pages, bool)


class Paced(Aged):
    """Each page at a pace of its own: `frequency` fetches a cycle, evenly, from a phase that its number decides."""

    def __init__(self, web: Web, limits: Limits, frequency: Floats) -> None:
        super().__init__(web, limits)
        self.frequency = frequency
        self.credit = np.random.default_rng(0).random(web.pages)

    def rank(self, cycle: int) -> tuple[Floats, Truths]:
        self.credit += self.frequency
        return self.credit, self.credit >= 1

    def observe(self, cycle: int, pages: Integers, has_changed: Truths) -> None:
        super().observe(cycle, pages, has_changed)
        self.credit[pages] -= 1


def proportional_known(web: Web, limits: Limits) -> Paced:
    """Fetches in proportion to the rate, once a cycle at most."""
    return Paced(web, limits, _spend(lambda price: web.rate(1) / price, limits.budget))


def lambda_crawl_known(web: Web, limits: Limits) -> Paced:
    """LambdaCrawl's frequencies, which abandon no page: (sqrt(r^2 + 4 w r / price) - r) / 2, once a cycle at most."""
    rate, weight = web.rate(1), web.weight
    return Paced(
        web, limits, _spend(lambda price: (np.sqrt(rate**2 + 4 * weight * rate / price) - rate) / 2, limits.budget)
    )


class IndexKnown(Aged):
    """The index that the product uses, with the rate of the cycle instead of a belief."""

    def rank(self, cycle: int) -> tuple[Floats, Truths]:
        age = cycle - self.fetched
        return self.web.weight * index(self.web.rate(cycle), age), age >= 1


def _spend(frequency_at: Callable[[float], Floats], budget: float) -> Floats:
    """The frequencies, once a cycle at most, at the price at which they use up the budget."""
    low, high = -60.0, 60.0
    for _ in range(_HALVINGS):
        price = (low + high) / 2
        is_dear = np.minimum(frequency_at(np.exp(price)), 1).sum() > budget
        low, high = (price, high) if is_dear else (low, price)
    return np.minimum(frequency_at(np.exp(high)), 1)
