"""The product's rule in numpy, written after its derivation and not after its SQL: what the SQL must agree with.

Evidence of a check: log-likelihoods of eight candidate rates, in whole 1/1024 nat. They are kept by generation of 90
days and forgotten by half in 180. Prior: of each host, drawn towards that of all. Value: the discrete index averaged
over the belief. The plan compares floor(4096 log2(value)), ties by page.
"""

import numpy as np

from bench.freshness.bounds import index
from bench.freshness.policies import Aged
from bench.freshness.simulate import Limits
from bench.freshness.web import Floats, Integers, Truths, Web

RATES: Floats = 2.0 ** np.arange(-11, 4, 2)
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
    return (np.sign(found) * np.floor(np.abs(UNIT * found) + 0.5)).astype(np.int64)  # a half away from zero, as SQL


def belief(prior: Floats, held: Integers) -> Floats:
    """The probability of each rate, pages x 8."""
    log = prior + held / UNIT
    weight = np.exp(log - log.max(axis=1, keepdims=True))
    return weight / weight.sum(axis=1, keepdims=True)


def value(weight: Floats, believed: Floats, days: Floats) -> Floats:
    """What fetching each page now is worth."""
    return weight * (believed * index(RATES, days[:, None])).sum(axis=1)


class Reference(Aged):
    """The rule as a policy. The prior is drawn anew each cycle from the beliefs of the cycle before."""

    def __init__(self, web: Web, limits: Limits) -> None:
        super().__init__(web, limits)
        self.generations: dict[int, Integers] = {}
        self.prior = np.full((web.pages, len(RATES)), -np.log(len(RATES)))
        self.checks = np.zeros(web.pages, np.int64)

    def rank(self, cycle: int) -> tuple[Floats, Truths]:
        held = self._held(cycle)
        self._draw_prior(held)
        days = cycle - self.fetched
        worth = value(self.web.weight, belief(self.prior, held), days)
        return np.floor(4096 * np.log2(np.maximum(worth, 1e-12))), days >= 0.9

    def observe(self, cycle: int, pages: Integers, has_changed: Truths) -> None:
        found = evidence(has_changed, cycle - self.fetched[pages])
        generation = cycle // GENERATION_DAYS
        self.generations.setdefault(generation, np.zeros(self.prior.shape, np.int64))[pages] += found
        self.checks[pages] += 1
        super().observe(cycle, pages, has_changed)

    def _held(self, cycle: int) -> Integers:
        held = np.zeros(self.prior.shape, np.int64)
        for generation, found in self.generations.items():
            age = cycle // GENERATION_DAYS - generation
            if age < _GENERATIONS:
                held += found * DECAY[age]
        return held >> 10

    def _draw_prior(self, held: Integers) -> None:
        seen = np.flatnonzero(self.checks)
        if not len(seen):
            return
        believed = np.round(1e6 * belief(self.prior[seen], held[seen]))
        hosts = int(self.web.host.max()) + 1
        of_host = np.zeros((hosts, len(RATES)))
        np.add.at(of_host, self.web.host[seen], believed)
        pages = np.bincount(self.web.host[seen], minlength=hosts)[:, None]
        of_all = np.maximum(of_host.sum(axis=0), len(seen)) / 1e6 / len(seen)
        drawn = np.log((of_host / 1e6 + _HOST_STRENGTH * of_all) / (pages + _HOST_STRENGTH))
        self.prior = drawn[self.web.host]
