"""What is played: webs with budgets, which of them are gates, and the policies of the table.

A gate is the least share of the bound that the product must reach; a goal is what its makers want.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from bench.freshness.bounds import bound_caps, disc_bound
from bench.freshness.policies import (
    Fixed,
    IndexKnown,
    Nutch,
    NutchDue,
    NutchPaced,
    Uniform,
    lambda_crawl_known,
    proportional_known,
)
from bench.freshness.simulate import Limits, Policy, play
from bench.freshness.web import CYCLES, Floats, Web, cho2000, fetterly, make_web

Make: TypeAlias = Callable[[Web, Limits], Policy]

PRODUCT = "recrawl"


@dataclass(frozen=True, slots=True)
class Scenario:
    """A web and what may be fetched of it. part: the budget is one `part`-th of the pages a cycle.

    sql_cycles: those that the product's SQL plays. Beyond them the same rule in numpy stands for it, in a hundredth of
    the time, if it has chosen the very same pages until then.
    """

    name: str
    title: str
    population: Callable[[Floats], Floats]
    part: int
    cap_share: float | None = None
    redrawn: bool = False
    must: float | None = None
    goal: float | None = None
    sql_cycles: int = 3

    def web(self, cycles: int = CYCLES) -> Web:
        """The web that all policies are played against."""
        return make_web(self.population, redrawn=self.redrawn, cycles=cycles)

    def limits(self, web: Web) -> Limits:
        """The budget of a cycle, and the cap of a host in it."""
        budget = web.pages // self.part
        return Limits(budget, None if self.cap_share is None else round(self.cap_share * budget))

    def bound(self, web: Web) -> float:
        """The freshness that is 1 in the table.

        The Lagrangian bound with known rates; where they are drawn anew, what the index does that is told each new
        rate, since one bound for all cycles would be that of another web.
        """
        limits = self.limits(web)
        if self.redrawn:
            return play(web, IndexKnown(web, limits), limits).steady
        if limits.cap is None:
            return disc_bound(web.rate(1), web.weight, limits.budget)
        return bound_caps(web.rate(1), web.weight, limits.budget, web.host, limits.cap)


GATES = (
    Scenario("fetterly_1_30", "Fetterly 1/30", fetterly, 30, must=0.975, goal=0.985, sql_cycles=CYCLES),
    Scenario("cho_1_30", "Cho 1/30", cho2000, 30, must=0.955, goal=0.97, sql_cycles=CYCLES),
    Scenario("cho_1_10", "Cho 1/10", cho2000, 10, must=0.975, goal=0.985, sql_cycles=15),
    Scenario("capped", "Fetterly 1/30, capped", fetterly, 30, cap_share=0.03, must=0.975, goal=0.985, sql_cycles=15),
    Scenario("redrawn", "Cho 1/30, redrawn", cho2000, 30, redrawn=True, must=0.91, sql_cycles=15),
)
BUDGETS = (
    Scenario("fetterly_1_100", "Fetterly 1/100", fetterly, 100),
    Scenario("fetterly_1_10", "Fetterly 1/10", fetterly, 10),
    Scenario("fetterly_1_3", "Fetterly 1/3", fetterly, 3),
    Scenario("cho_1_100", "Cho 1/100", cho2000, 100),
    Scenario("cho_1_3", "Cho 1/3", cho2000, 3),
)

# Those that do not know the rates, each of which the product must be ahead of in every scenario.
BLIND: dict[str, Make] = {
    "uniform": Uniform,
    "fixed_7d": lambda web, limits: Fixed(web, limits, 7),
    "fixed_30d": lambda web, limits: Fixed(web, limits, 30),
    "nutch": Nutch,
    "nutch_due": NutchDue,
    "nutch_paced": NutchPaced,
}
KNOWING: dict[str, Make] = {
    "proportional_known": proportional_known,
    "lambda_crawl_known": lambda_crawl_known,
    "index_known": IndexKnown,
}
TITLES = {
    PRODUCT: "this product (its SQL)",
    "uniform": "uniform",
    "fixed_7d": "fixed, 7 days",
    "fixed_30d": "fixed, 30 days",
    "nutch": "Nutch adaptive",
    "nutch_due": "  with all budget and weights: due first",
    "nutch_paced": "  with all budget and weights: stretched",
    "proportional_known": "proportional, rates known",
    "lambda_crawl_known": "LambdaCrawl, rates known",
    "index_known": "index, rates known",
}
