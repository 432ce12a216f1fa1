"""How `recrawl explain` shows what is believed of a URL and when it comes next."""

from collections.abc import Iterator

from crawler.cli.show import show
from crawler.store.ask import Answer
from crawler.store.outlook import Outlook

_BAR = 24  # characters of a certainty
_PARTS = " ▏▎▍▌▋▊▉"


def outlook_facts(seen: Outlook) -> Iterator[tuple[str, str]]:
    """Name and text of every fact of the outlook but the belief itself."""
    if seen.forced:
        yield "forced", seen.forced
    worth = "ranked apart from others" if seen.value is None else f"{seen.value:.4g} days of freshness for a fetch now"
    yield "worth", f"{worth} (priority {seen.priority}, weight {seen.weight:.4g})"
    if seen.stale_probability is not None:
        yield (
            "stale by now",
            f"with probability {seen.stale_probability:.0%}, by {seen.checks} checks with a check before",
        )
    if seen.cutoff_cycle:
        limit = "its budget was not used up" if seen.cutoff_value is None else f"{seen.cutoff_value:.4g}"
        yield "cut-off", f"{limit} in cycle {seen.cutoff_cycle}"
    yield "next fetch", f"{seen.next_cycle}: {seen.next_reason}" if seen.next_cycle else seen.next_reason


def show_belief(seen: Outlook) -> None:
    """Write the belief in each period, with a bar."""
    rows = ((period, f"{share:.1%}", bar(share)) for period, share in seen.belief.items())
    show(Answer(("changes about every", "probability", ""), rows), title="What is believed of its changes")


def bar(share: float) -> str:
    """A bar of `share`, between 0 and 1."""
    eighths = round(share * _BAR * 8)
    return "█" * (eighths // 8) + _PARTS[eighths % 8].strip()
