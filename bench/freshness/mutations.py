"""Would the gates notice if a part of the rule were lost? Each mutation edits the product's SQL and plays the gates.

The continuous index cannot be told from the discrete one by freshness: the test vectors 13 to 18 catch it.
"""

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from bench.freshness.run import play_product
from bench.freshness.scenarios import GATES, Scenario
from bench.freshness.variants import Edit, sql_with
from bench.freshness.web import CYCLES
from crawler.store import query

_INDEX = "ELSE freshness_index(belief, days, lag)"
_PLAYED = GATES[:2]  # Fetterly 1/30 and Cho 1/30: what one of them forgives, the other does not


@dataclass(frozen=True, slots=True)
class Mutation:
    """A rule that is not the product's. by_vector: the freshness gates cannot see it, the vectors of the index do."""

    name: str
    edit: Edit
    by_vector: bool = False


MUTATIONS = (
    Mutation("age only", Edit("plan/scored", _INDEX, "ELSE days")),
    Mutation("rate x age", Edit("plan/scored", _INDEX, "ELSE mean_rate(belief) * days")),
    Mutation("probability of a change", Edit("plan/scored", _INDEX, "ELSE stale_share(belief, days)")),
    Mutation("index of the mean rate", Edit("plan/scored", _INDEX, "ELSE freshness_index_at(mean_rate(belief), days)")),
    Mutation("weights ignored", Edit("plan/scored", "coalesce(s.weight, 1e0) *", "1e0 *")),
    Mutation(
        "no prior from hosts and crawl",
        Edit(
            "plan/host_belief",
            "log_prior(h.sums, h.urls, crawl_belief.sums, crawl_belief.urls)",
            "log_prior(no_evidence(), 0, no_evidence(), 0)",
        ),
    ),
    Mutation(
        "changes are no evidence",
        Edit(
            "macros/00_check_evidence_at", "THEN ln(1 - 9.95e-1 * exp(-rate * greatest(days, 1e0 / 1440)))", "THEN 0e0"
        ),
    ),
    Mutation(
        "continuous index",
        Edit("macros/00_freshness_index_at", "(1e0 + days * (1e0 - exp(-rate)))", "(1e0 + days * rate)"),
        by_vector=True,
    ),
)


def main() -> int:
    """Play every mutation; 1 if one passes unnoticed."""
    os.environ["OMP_NUM_THREADS"] = "1"
    tasks = [(mutation, scenario) for mutation in MUTATIONS for scenario in _PLAYED]
    with ProcessPoolExecutor(os.cpu_count() or 1, mp_context=multiprocessing.get_context("spawn")) as pool:
        shares = dict(zip(tasks, pool.map(_play, tasks), strict=True))
    table = Table(title="Mutations of the SQL, % of the bound")
    for title in ("mutation", *(f"{scenario.title} (must {100 * (scenario.must or 0):.1f})" for scenario in _PLAYED)):
        table.add_column(title)
    table.add_column("caught by")
    unnoticed = 0
    for mutation in MUTATIONS:
        reached = [shares[mutation, scenario] for scenario in _PLAYED]
        caught = list(_caught(mutation, dict(zip(_PLAYED, reached, strict=True))))
        unnoticed += not caught
        table.add_row(mutation.name, *(f"{100 * share:.1f}" for share in reached), ", ".join(caught) or "NOTHING")
    Console(highlight=False).print(table)
    return 1 if unnoticed else 0


def share_with(mutation: Mutation, scenario: Scenario, cycles: int = CYCLES) -> float:
    """The share of the bound that the mutated SQL reaches."""
    with sql_with([mutation.edit]):
        return play_product(scenario, cycles=cycles).steady / scenario.bound(scenario.web(cycles))


def differs_from_vector(mutation: Mutation) -> bool:
    """Whether vector 13 of the index, of a page that changes every eight days and was fetched a day ago, is missed."""
    with sql_with([mutation.edit]):
        macro = query.catalogue().execute("SELECT freshness_index_at(1.25e-1, 1)").fetchall()[0][0]
    return abs(float(macro) - 0.110455823) > 1e-8


def _play(task: tuple[Mutation, Scenario]) -> float:
    return share_with(*task)


def _caught(mutation: Mutation, shares: dict[Scenario, float]) -> Iterator[str]:
    for scenario, share in shares.items():
        if share < (scenario.must or 0):
            yield scenario.name
    if mutation.by_vector and differs_from_vector(mutation):
        yield "vectors 13 to 18"
