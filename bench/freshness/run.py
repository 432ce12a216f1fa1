"""Plays scenarios in processes beside each other, and gathers each policy's share of the bound."""

import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

from bench.freshness.product import Product
from bench.freshness.reference import Reference
from bench.freshness.scenarios import BLIND, KNOWING, PRODUCT, Scenario
from bench.freshness.simulate import Run, play
from bench.freshness.web import CYCLES

_STABLE_CYCLES = 4


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a scenario.

    shares: by policy, of the bound. numpy: that of the rule written in numpy. compared: cycles over which the SQL was
    played and chose the very same pages as the rule in numpy; 0 if it did not.
    """

    scenario: Scenario
    bound: float
    shares: dict[str, float]
    product: Run
    uniform: Run
    numpy: float
    compared: int


def run_all(scenarios: Sequence[Scenario], processes: int, *, whole: bool) -> tuple[list[Result], bool]:
    """Play every policy in each scenario; in the order of `scenarios`. whole: see `run_scenario`.

    And whether one thread and two plan the first of them alike.
    """
    os.environ["OMP_NUM_THREADS"] = "1"  # of the processes to come: numpy's arrays are too small for threads
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        results = pool.map(partial(run_scenario, whole=whole), scenarios)
        stable = pool.submit(is_stable, scenarios[0])
        return list(results), stable.result()


def run_scenario(scenario: Scenario, *, whole: bool) -> Result:
    """Play every policy in one scenario.

    whole: the SQL to the end. Else over `sql_cycles`, unless it chooses otherwise than the rule in numpy there.
    """
    web = scenario.web()
    limits = scenario.limits(web)
    bound = scenario.bound(web)
    runs = {name: play(web, make(web, limits), limits) for name, make in (BLIND | KNOWING).items()}
    reference = play(web, Reference(web, limits), limits)
    compared = web.cycles if whole or scenario.sql_cycles == web.cycles else same_cycles(scenario, scenario.sql_cycles)
    product = reference
    if compared in {0, web.cycles}:
        product = play_product(scenario)
        compared = web.cycles if product.digest == reference.digest else 0
    shares = {name: round(run.steady / bound, 4) for name, run in ({PRODUCT: product} | runs).items()}
    return Result(scenario, bound, shares, product, runs["uniform"], round(reference.steady / bound, 4), compared)


def same_cycles(scenario: Scenario, cycles: int) -> int:
    """`cycles` if over so many the SQL chooses the very pages that the rule in numpy chooses, else 0."""
    web = scenario.web(cycles)
    limits = scenario.limits(web)
    reference = play(web, Reference(web, limits), limits)
    return cycles if play_product(scenario, cycles=cycles).digest == reference.digest else 0


def is_stable(scenario: Scenario) -> bool:
    """Whether the product's SQL chooses the same pages with one thread and with two."""
    return len({play_product(scenario, threads=threads, cycles=_STABLE_CYCLES).digest for threads in (1, 2)}) == 1


def play_product(scenario: Scenario, *, threads: int = 1, cycles: int = CYCLES) -> Run:
    """Play the product's own SQL in a scenario."""
    web = scenario.web(cycles)
    limits = scenario.limits(web)
    with Product(web, limits, threads=threads) as product:
        return play(web, product, limits)
