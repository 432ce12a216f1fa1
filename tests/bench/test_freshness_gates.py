"""The gates of `make bench-freshness` in CI: the product's SQL in closed loop against simulated webs.

Reduced against the benchmark: the SQL is played over 30 cycles instead of 240 in one scenario, over fewer in the
others, and must choose the very pages that the same rule in numpy chooses; that rule is played to the end of each gate.
One mutation stands for all. Budgets, caps, seed and gates are those of the benchmark.
"""

import pytest

from bench.freshness.mutations import MUTATIONS, Mutation, differs_from_vector, share_with
from bench.freshness.policies import Uniform
from bench.freshness.product import Product
from bench.freshness.reference import Reference
from bench.freshness.report import failures
from bench.freshness.run import play_product, same_cycles
from bench.freshness.scenarios import BLIND, BUDGETS, GATES, PRODUCT, Scenario
from bench.freshness.simulate import BudgetExceeded, Limits, play
from bench.freshness.web import CYCLES

GATED_CYCLES = 30
FEW_CYCLES = 5
MUTATED_CYCLES = 24
RULE_CYCLES = dict.fromkeys(GATES, CYCLES) | dict.fromkeys(BUDGETS, CYCLES // 2)
_, CHO, _, CAPPED, _ = GATES


def names(scenario: Scenario) -> str:
    return scenario.name


def test_the_sql_meets_the_gate_and_chooses_what_the_rule_in_numpy_chooses() -> None:
    web = CHO.web(GATED_CYCLES)
    limits = CHO.limits(web)
    found = play_product(CHO, cycles=GATED_CYCLES)  # raises BudgetExceeded beyond the budget or a host's cap
    assert found.digest == play(web, Reference(web, limits), limits).digest
    assert found.steady / CHO.bound(web) >= CHO.must
    assert found.used == 1


@pytest.mark.parametrize("scenario", [scenario for scenario in GATES if scenario != CHO], ids=names)
def test_the_sql_chooses_what_the_rule_in_numpy_chooses(scenario: Scenario) -> None:
    assert same_cycles(scenario, FEW_CYCLES) == FEW_CYCLES


@pytest.mark.parametrize("scenario", [*GATES, *BUDGETS], ids=names)
def test_the_rule_meets_every_gate_and_is_ahead_of_all_that_do_not_know_the_rates(scenario: Scenario) -> None:
    web = scenario.web(RULE_CYCLES[scenario])
    limits = scenario.limits(web)
    bound = scenario.bound(web)
    policies = {PRODUCT: Reference, **BLIND}
    shares = {name: play(web, make(web, limits), limits).steady / bound for name, make in policies.items()}
    assert failures({scenario.name: shares}) == []


def test_a_plan_is_the_same_for_one_thread_and_two_and_for_a_state_that_is_folded_whole() -> None:
    web = CAPPED.web(4)
    limits = CAPPED.limits(web)
    with Product(web, limits) as one, Product(web, limits, threads=2) as two, Product(web, limits, whole=True) as whole:
        assert len({play(web, product, limits).digest for product in (one, two, whole)}) == 1


def test_a_gate_notices_that_the_index_is_lost() -> None:
    web = CHO.web(MUTATED_CYCLES)
    limits = CHO.limits(web)
    unharmed = play(web, Reference(web, limits), limits).steady / CHO.bound(web)
    assert share_with(mutation("rate x age"), CHO, MUTATED_CYCLES) < CHO.must <= unharmed


def test_the_continuous_index_is_noticed_by_the_vectors() -> None:
    assert differs_from_vector(mutation("continuous index"))


def test_a_policy_that_takes_more_than_it_may_is_stopped() -> None:
    web = CAPPED.web(2)
    with pytest.raises(BudgetExceeded, match="of 100"):
        play(web, Uniform(web, Limits(200)), Limits(100))
    with pytest.raises(BudgetExceeded, match="of a host, of 3"):
        play(web, Uniform(web, Limits(100)), Limits(100, cap=3))


def mutation(name: str) -> Mutation:
    (found,) = (candidate for candidate in MUTATIONS if candidate.name == name)
    return found
