"""The bounds that the freshness bench divides by, and the rule in numpy that the product's SQL is held against."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.freshness.bounds import bound_caps, disc_bound, index, periodic_opt
from bench.freshness.reference import belief, evidence, value
from bench.freshness.simulate import Limits, best
from bench.freshness.web import Floats

CASES = json.loads((Path(__file__).parents[1] / "cases" / "scheduling_vectors.json").read_text())


def cases(kind: str) -> list[Any]:
    """The vectors of a kind, named by their numbers."""
    return [
        pytest.param(case["in"], case["out"], id=str(case["id"])) for case in CASES["vectors"] if case["kind"] == kind
    ]


@pytest.mark.parametrize(("given", "expected"), cases("optimum"))
def test_the_optimum_of_known_rates_is_that_of_the_vectors(given: dict[str, Any], expected: dict[str, Any]) -> None:
    rate, weight = np.array(given["lambda"]), np.array(given["w"], float)
    frequency, freshness = periodic_opt(rate, weight, given["budget_per_day"])
    assert frequency == pytest.approx(expected["f"], abs=2e-6)
    assert freshness == pytest.approx(expected["freshness_periodic"], abs=1e-6)
    bound = disc_bound(rate, weight, given["budget_per_day"])
    assert bound == pytest.approx(expected["daily_grid_upper_bound"], abs=1e-6)


@pytest.mark.parametrize(("given", "expected"), cases("evidence"))
def test_the_evidence_in_numpy_is_that_of_the_vectors(given: dict[str, Any], expected: dict[str, Any]) -> None:
    found = evidence(np.array([given["changed"]]), np.array([given["tau_days"]]), unmodified(given))
    assert found[0].tolist() == expected["ev"]


@pytest.mark.parametrize(("given", "expected"), cases("index_known_rate"))
def test_the_index_in_numpy_is_that_of_the_vectors(given: dict[str, Any], expected: dict[str, Any]) -> None:
    assert index(np.array([given["lambda_per_day"]]), np.array([given["tau_days"]])) == pytest.approx(
        expected["V"], 1e-7
    )


@pytest.mark.parametrize(("given", "expected"), cases("posterior_index"))
def test_the_value_in_numpy_is_that_of_the_vectors(given: dict[str, Any], expected: dict[str, Any]) -> None:
    held = np.zeros((1, 8), np.int64)
    for check in given["checks"]:
        age = None if check["last_modified_age_days"] is None else np.array([check["last_modified_age_days"]], float)
        held += evidence(np.array([check["changed"]]), np.array([check["tau_days"]], float), age)
    believed = belief(np.log([given["prior"]]), held)
    assert value(np.array([given["w"]]), believed, np.array([given["tau_days"]], float)) == pytest.approx(
        expected["V"], 1e-7
    )


@pytest.mark.parametrize(("given", "expected"), cases("plan"))
def test_the_choice_in_numpy_is_that_of_the_vectors(given: dict[str, Any], expected: dict[str, Any]) -> None:
    pages = len(given["V"])
    chosen = best(
        np.array(given["V"]), np.ones(pages, bool), np.array(given["host"]), Limits(given["budget"], given["cap"])
    )
    assert sorted(chosen.tolist()) == expected["url_ids"]


def test_a_budget_is_used_up_by_pages_that_are_worth_the_same_at_any_frequency() -> None:
    rate = weight = np.exp([2.0, 0.0])
    frequency, freshness = periodic_opt(rate, weight, 0.25)
    assert frequency.sum() == pytest.approx(0.25)
    assert disc_bound(rate, weight, 0.25) <= freshness + 1e-6


@settings(max_examples=8, deadline=None)
@given(st.data())
def test_more_may_be_kept_fresh_with_more_budget_and_less_under_caps(data: st.DataObject) -> None:
    pages = data.draw(st.integers(2, 12))
    rate, weight = logarithmic(data, pages), logarithmic(data, pages)
    host = np.array(data.draw(st.lists(st.integers(0, 2), min_size=pages, max_size=pages)))
    budget = data.draw(st.floats(0.1, pages))
    cap = data.draw(st.floats(0.05, 3))
    free = disc_bound(rate, weight, budget)
    assert 0 < bound_caps(rate, weight, budget, host, cap) <= free + 1e-9
    assert free <= disc_bound(rate, weight, 1.5 * budget) + 1e-9
    assert free <= periodic_opt(rate, weight, budget)[1] + 1e-6


def logarithmic(data: st.DataObject, count: int) -> Floats:
    return np.exp(data.draw(st.lists(st.floats(-6, 2), min_size=count, max_size=count)))


def unmodified(given: dict[str, Any]) -> Floats | None:
    age = given["last_modified_age_days"]
    return None if age is None else np.array([age], float)
