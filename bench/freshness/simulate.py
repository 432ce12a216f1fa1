"""Plays a policy against a simulated web, cycle by cycle, and measures how fresh it keeps the web.

Every page was fetched once before the first cycle, so all begin current and nobody knows a rate but those who are told.
A cycle's fetches happen at its start and take no time.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bench.freshness.web import Floats, Integers, Truths, Web

_COLD_CYCLES = 60


@dataclass(frozen=True, slots=True)
class Limits:
    """budget: fetches a cycle. cap: fetches a cycle of each host; None for any number."""

    budget: int
    cap: int | None = None


class Policy(Protocol):
    """Who decides what is fetched. Pages are numbers from 0."""

    def choose(self, cycle: int) -> Integers:
        """The pages to fetch at the start of `cycle`, each once."""
        ...

    def observe(self, cycle: int, pages: Integers, has_changed: Truths) -> None:
        """What the fetches found: whether each page had changed since it was fetched before."""
        ...


@dataclass(frozen=True, slots=True)
class Run:
    """What came of it.

    steady: mean freshness of the second half; cold: of the first 60 cycles; used: share of the budget; digest: of all
    choices.
    """

    steady: float
    cold: float
    used: float
    digest: str


def play(web: Web, policy: Policy, limits: Limits) -> Run:
    """Play all cycles of `web`. Raises BudgetExceeded when the policy asks for more than it may.

    A cycle's freshness is its expectation, given when each page was last fetched: as true as what the drawn changes
    would give, with less noise.
    """
    is_stale = np.zeros(web.pages, bool)
    hazard = np.zeros(web.pages)
    fresh = np.zeros(web.cycles)
    used = 0
    digest = hashlib.sha256()
    for cycle in range(1, web.cycles + 1):
        pages = policy.choose(cycle)
        _keeps_within(pages, web, limits, cycle)
        policy.observe(cycle, pages, is_stale[pages])
        is_stale[pages] = False
        hazard[pages] = 0.0
        rate = web.rate(cycle)
        fresh[cycle - 1] = (web.weight * np.exp(-hazard) * -np.expm1(-rate) / rate).sum()
        hazard += rate
        is_stale |= web.has_changed[cycle - 1]
        used += len(pages)
        digest.update(np.sort(pages).astype("<i8").tobytes())
    fresh /= web.weight.sum()
    return Run(
        float(fresh[web.cycles // 2 :].mean()),
        float(fresh[:_COLD_CYCLES].mean()),
        used / (limits.budget * web.cycles),
        digest.hexdigest()[:16],
    )


class BudgetExceeded(Exception):
    """A policy asked for more than it may, or for a page twice."""


def _keeps_within(pages: Integers, web: Web, limits: Limits, cycle: int) -> None:
    if len(pages) > limits.budget or len(np.unique(pages)) < len(pages):
        raise BudgetExceeded(f"cycle {cycle}: {len(pages)} fetches, {len(np.unique(pages))} pages, of {limits.budget}")
    if limits.cap is not None and len(pages) and np.bincount(web.host[pages]).max() > limits.cap:
        raise BudgetExceeded(f"cycle {cycle}: {np.bincount(web.host[pages]).max()} fetches of a host, of {limits.cap}")


def best(value: Floats, is_due: Truths, host: Integers, limits: Limits) -> Integers:
    """The due pages of most value: by rank within their host up to the cap, then the budget's worth; ties by number."""
    pages = np.flatnonzero(is_due)
    pages = pages[np.argsort(-value[pages], kind="stable")]
    if limits.cap is not None:
        pages = pages[_rank(host[pages]) < limits.cap]
    return pages[: limits.budget]


def _rank(groups: Sequence[int] | Integers) -> Integers:
    """Of each element how many before it are of its group."""
    order = np.argsort(groups, kind="stable")
    sorted_groups = np.asarray(groups)[order]
    begins = np.flatnonzero(np.r_[True, sorted_groups[1:] != sorted_groups[:-1]])
    lengths = np.diff(np.r_[begins, len(sorted_groups)])
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - np.repeat(begins, lengths)
    return rank
