"""Would the gates notice if a part of the rule were lost? Each mutation edits the product's SQL and plays the gates.

Two gates over half of their cycles, within which the rule unharmed meets them; the second only if the first lets a
mutation pass. The continuous index cannot be told from the discrete one by freshness: test vectors 13 to 18 catch it.
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
from crawler.store import query

_INDEX = "ELSE freshness_index(belief, days, lag)"
_PLAYED = (GATES[1], GATES[0])  # Cho 1/30 and Fetterly 1/30: what one of them forgives, the other does not
_CYCLES = 120


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
    with ProcessPoolExecutor(os.cpu_count() or 1, mp_context=multiprocessing.get_context("spawn")) as pool:
        played = [pool.submit(_shares, mutation) for mutation in MUTATIONS]
        table = Table(title=f"Mutations of the SQL, {_CYCLES} cycles, % of the bound")
        musts = (f"{scenario.title} (must {100 * (scenario.must or 0):.1f})" for scenario in _PLAYED)
        for title in ("mutation", *musts, "caught by"):
            table.add_column(title)
        unnoticed = 0
        for mutation, future in zip(MUTATIONS, played, strict=True):
            shares = future.result()
            caught = list(_caught(mutation, shares))
            unnoticed += not caught
            cells = (f"{100 * shares[scenario]:.1f}" if scenario in shares else "" for scenario in _PLAYED)
            table.add_row(mutation.name, *cells, ", ".join(caught) or "NOTHING")
    Console(highlight=False).print(table)
    return 1 if unnoticed else 0


def share_with(mutation: Mutation, scenario: Scenario, cycles: int) -> float:
    """The share of the bound that the mutated SQL reaches."""
    with sql_with([mutation.edit]):
        return play_product(scenario, cycles=cycles).steady / scenario.bound(scenario.web(cycles))


def differs_from_vector(mutation: Mutation) -> bool:
    """Whether vector 13 of the index, of a page that changes every eight days and was fetched a day ago, is missed."""
    with sql_with([mutation.edit]):
        macro = query.catalogue().execute("SELECT freshness_index_at(1.25e-1, 1)").fetchall()[0][0]
    return abs(float(macro) - 0.110455823) > 1e-8


def _shares(mutation: Mutation) -> dict[Scenario, float]:
    """The share of each gate until one catches the mutation."""
    shares: dict[Scenario, float] = {}
    for scenario in _PLAYED:
        shares[scenario] = share_with(mutation, scenario, _CYCLES)
        if shares[scenario] < (scenario.must or 0):
            break
    return shares


def _caught(mutation: Mutation, shares: dict[Scenario, float]) -> Iterator[str]:
    for scenario, share in shares.items():
        if share < (scenario.must or 0):
            yield scenario.name
    if mutation.by_vector and differs_from_vector(mutation):
        yield "vectors 13 to 18"
