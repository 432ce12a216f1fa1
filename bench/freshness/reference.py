"""The product's rule in numpy, written after its derivation and not after its SQL: what the SQL must agree with.

Evidence of a check: log-likelihoods of eight candidate rates, in whole 1/1024 nat, forgotten by half in 180 days in
steps of 90. Prior: of each host, drawn towards that of all pages as of the cycle before. Value: the discrete index
averaged over the belief. The plan compares floor(4096 log2(value)), ties by page.
"""

import numpy as np

from bench.freshness.bounds import index
from bench.freshness.policies import Aged
from bench.freshness.simulate import Limits
from bench.freshness.web import Floats, Integers, Truths, Web

RATES: Floats = np.exp2(np.arange(-11.0, 4.0, 2.0))
UNIT = 1024
GENERATION_DAYS = 90
_FALSE_CHANGE = 0.005
_HALF_LIFE_DAYS = 180
_HOST_STRENGTH = 5
_GENERATIONS = 20
DECAY = np.round(UNIT * 2.0 ** (-GENERATION_DAYS * np.arange(_GENERATIONS) / _HALF_LIFE_DAYS)).astype(np.int64)


def evidence(has_changed: Truths, days: Floats, unmodified_days: Floats | None = None) -> Integers:
    """What each check says of the rates, checks x 8. unmodified_days: since a trusted Last-Modified; nan where none."""
    exposure = RATES * days[:, None]
    changed = np.log1p(-(1 - _FALSE_CHANGE) * np.exp(-exposure))
    found = np.where(has_changed[:, None], changed, -exposure)
    if unmodified_days is not None:
        since = unmodified_days[:, None]
        found = np.where(has_changed[:, None] & ~np.isnan(since), np.log(RATES) - RATES * since, found)
    whole: Integers = (np.sign(found) * np.floor(np.abs(UNIT * found) + 0.5)).astype(np.int64)  # as SQL rounds a half
    return whole


def belief(prior: Floats, held: Integers) -> Floats:
    """The probability of each rate, pages x 8."""
    log = prior + held / UNIT
    weight: Floats = np.exp(log - log.max(axis=1, keepdims=True))
    probability: Floats = weight / weight.sum(axis=1, keepdims=True)
    return probability


def value(weight: Floats, believed: Floats, days: Floats) -> Floats:
    """What fetching each page now is worth."""
    worth: Floats = weight * (believed * index(RATES, days[:, None])).sum(axis=1)
    return worth


class Reference(Aged):
    """The rule as a policy."""

    def __init__(self, web: Web, limits: Limits) -> None:
        super().__init__(web, limits)
        self.evidence = np.zeros((web.pages, len(RATES)), np.int64)
        self.generation = np.zeros(web.pages, np.int64)
        self.checks = np.zeros(web.pages, np.int64)
        self.crawl = np.full(len(RATES), 1 / len(RATES))  # of the cycle before

    def rank(self, cycle: int) -> tuple[Floats, Truths]:
        held = _aged(self.evidence, cycle // GENERATION_DAYS - self.generation)
        days = cycle - self.fetched
        worth = value(self.web.weight, belief(self._prior(held), held), days)
        return np.floor(4096 * np.log2(np.maximum(worth, 1e-12))), days >= 0.9

    def observe(self, cycle: int, pages: Integers, has_changed: Truths) -> None:
        found = evidence(has_changed, cycle - self.fetched[pages])
        generation = cycle // GENERATION_DAYS
        self.evidence[pages] = _aged(self.evidence[pages], generation - self.generation[pages]) + found
        self.generation[pages] = generation
        self.checks[pages] += 1
        super().observe(cycle, pages, has_changed)

    def _prior(self, held: Integers) -> Floats:
        """The log of each page's prior, that of its host; keeps what the next cycle takes for the whole crawl's."""
        checked = np.flatnonzero(self.checks)
        host = self.web.host[checked]
        hosts = int(self.web.host.max()) + 1
        pages = np.bincount(host, minlength=hosts)[:, None]
        sums = np.zeros((hosts, len(RATES)))
        if len(checked):
            np.add.at(sums, host, np.round(1e6 * belief(np.log(self.crawl)[None], held[checked])))
        prior = np.log((sums / 1e6 + _HOST_STRENGTH * self.crawl) / (pages + _HOST_STRENGTH))
        if len(checked):
            self.crawl = np.maximum(sums.sum(axis=0) / 1e6, 1e-6 * len(checked)) / len(checked)
        of_page: Floats = prior[self.web.host]
        return of_page


def _aged(found: Integers, generations: Integers) -> Integers:
    return found * DECAY[np.minimum(generations, _GENERATIONS - 1)][:, None] >> 10
