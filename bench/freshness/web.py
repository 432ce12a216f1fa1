"""Simulated webs: pages on hosts that change as Poisson processes, with weights; two populations after the literature.

Pure functions of a seed. Rates are changes a day; a cycle is a day. All policies meet the very same changes.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Truths: TypeAlias = NDArray[np.bool_]

PAGES = 3000
HOSTS = 100
CYCLES = 240
SEED = 7

_REDRAWN_DAYS = 150.0
_HOST_SHARE = 0.5  # of the variance of the logarithm of rates that pages of a host share
_FETTERLY = (-5.18, 2.38)  # mean and deviation of ln(rate): Fetterly et al. 2003, a median page changes in 178 days
# Cho and Garcia-Molina 2000: (share of pages up to here, period in days that it ends with), from fast to slow.
_CHO = ((0.0, 1 / 8), (0.20, 1.0), (0.35, 7.0), (0.51, 30.0), (0.70, 120.0), (1.0, 3650.0))


@dataclass(frozen=True, slots=True)
class Web:
    """A web over cycles 1 to `cycles`.

    rates: (cycles or 1) x pages, changes a day of each page in each cycle, one row if they stay. weight, host: by page.
    has_changed: cycles x pages, whether the page changes between the fetch at a cycle's start and the next cycle's.
    """

    rates: Floats
    weight: Floats
    host: Integers
    has_changed: Truths

    @property
    def pages(self) -> int:
        return len(self.weight)

    @property
    def cycles(self) -> int:
        return len(self.has_changed)

    def rate(self, cycle: int) -> Floats:
        """Each page's rate in a cycle, from 1."""
        rate: Floats = self.rates[min(cycle, len(self.rates)) - 1]
        return rate


def fetterly(normal: Floats) -> Floats:
    """Rates of a web that mostly stays as it is: lognormal."""
    mean, deviation = _FETTERLY
    return np.exp(mean + deviation * normal)


def cho2000(normal: Floats) -> Floats:
    """Rates of a web of which a fifth changes more than daily and a third in years only: log-uniform by parts."""
    shares, periods = zip(*_CHO, strict=True)
    below = 0.5 * (1 + np.vectorize(math.erf)(normal / math.sqrt(2)))
    days: Floats = np.exp(np.interp(below, shares, np.log(periods)))
    return 1 / days


@cache
def make_web(
    population: Callable[[Floats], Floats], *, redrawn: bool = False, pages: int = PAGES, cycles: int = CYCLES
) -> Web:
    """A web of `population`, which turns standard normal numbers into rates.

    redrawn: a page's rate is drawn anew once in 150 days on average, at an instant that nobody is told.
    """
    random = np.random.default_rng(SEED)
    share = 1 / np.arange(1, HOSTS + 1)
    host = random.choice(HOSTS, pages, p=share / share.sum())
    weight = np.exp(random.standard_normal(pages))
    of_host = math.sqrt(_HOST_SHARE) * random.standard_normal(HOSTS)[host]
    own = random.standard_normal((cycles if redrawn else 1, pages))
    if redrawn:
        stays = random.random((cycles, pages)) >= 1 / _REDRAWN_DAYS
        stays[0] = False
        drawn_in = np.maximum.accumulate(np.where(stays, 0, np.arange(cycles)[:, None]), axis=0)
        own = np.take_along_axis(own, drawn_in, axis=0)
    rates = population(of_host + math.sqrt(1 - _HOST_SHARE) * own)
    has_changed = random.random((cycles, pages)) < -np.expm1(-rates)
    return Web(rates, weight, host.astype(np.int64), has_changed)
