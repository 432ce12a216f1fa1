"""The result for people: the table of shares with the gates marked, and the plot of shares over budgets."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.freshness.scenarios import BLIND, BUDGETS, GATES, PRODUCT, TITLES, Scenario

Shares = Mapping[str, Mapping[str, float]]
"""By scenario, by policy: the share of the bound."""

_WIDTH = 150  # of the table where nobody's terminal says another


def failures(shares: Shares) -> list[str]:
    """What the product owes: a sentence for each gate that it misses and each blind policy that it is not ahead of."""
    found = []
    for scenario in (*GATES, *BUDGETS):
        row = shares.get(scenario.name, {})
        reached = row.get(PRODUCT)
        if reached is None:
            continue
        if scenario.must is not None and reached < scenario.must:
            found.append(f"{scenario.name}: {reached:.4f} of the bound, must be {scenario.must} at least")
        found += [
            f"{scenario.name}: {reached:.4f} of the bound, not ahead of {name} with {row[name]:.4f}"
            for name in BLIND
            if row.get(name, 0.0) >= reached
        ]
    return found


def show(shares: Shares) -> None:
    """Print the shares of the bound in percent, policy by scenario."""
    scenarios = [scenario for scenario in (*GATES, *BUDGETS) if scenario.name in shares]
    table = Table(title="Freshness over the second half of the run, % of the bound with known rates")
    table.add_column("policy", no_wrap=True)
    for scenario in scenarios:
        table.add_column(scenario.title, justify="right")
    for policy, title in TITLES.items():
        cells = [_cell(scenario, policy, shares[scenario.name].get(policy)) for scenario in scenarios]
        table.add_row(title, *cells, style="bold" if policy == PRODUCT else "")
    table.add_section()
    for kind in ("must", "goal"):
        needed = [getattr(scenario, kind) for scenario in scenarios]
        table.add_row(kind, *("" if share is None else f"{100 * share:.1f}" for share in needed))
    console = Console(highlight=False)
    Console(highlight=False, width=max(console.width, _WIDTH)).print(table)


def _cell(scenario: Scenario, policy: str, share: float | None) -> str:
    if share is None:
        return ""
    mark = ""
    if policy == PRODUCT and scenario.must is not None:
        mark = "✗ " if share < scenario.must else "★ " if share >= (scenario.goal or scenario.must) else "✓ "
    return f"{mark}{100 * share:.1f}"


def plot(shares: Shares, path: Path) -> None:
    """Draw the shares over the budget, a panel for each population."""
    from matplotlib.figure import Figure  # half a second that only a plot needs

    figure = Figure(figsize=(10, 4.6), layout="constrained")
    panels: Any = figure.subplots(1, 2, sharey=True)
    for panel, (population, title) in zip(
        panels, (("fetterly", "like Fetterly et al. 2003"), ("cho", "like Cho and Garcia-Molina 2000")), strict=True
    ):
        steps = sorted(
            (s for s in (*GATES, *BUDGETS) if s.name.startswith(f"{population}_")), key=lambda scenario: -scenario.part
        )
        for policy, label in TITLES.items():
            values = [100 * shares[step.name][policy] for step in steps]
            is_ours = policy == PRODUCT
            panel.plot(
                [f"1/{step.part}" for step in steps],
                values,
                label=label.strip() if not label.startswith(" ") else f"Nutch,{label.removeprefix('  with')}",
                color="black" if is_ours else None,
                linewidth=2.5 if is_ours else 1.2,
                linestyle=":" if policy.endswith("_known") else "-",
                marker="o" if is_ours else ".",
                zorder=3 if is_ours else 2,
            )
        panel.set_title(title)
        panel.set_xlabel("budget, fetches a day and page")
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("freshness, % of the bound with known rates")
    panels[0].set_ylim(40, 101)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110, metadata={"Software": None})
