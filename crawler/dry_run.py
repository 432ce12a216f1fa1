"""A plan of a whole cycle that is not made: `plan` and `admit` as they are, on files that are thrown away.

Takes no lease and writes nothing into the lake; the candidate table goes where the operator says.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from crawler.core.cycle import Cycle
from crawler.core.model import Row
from crawler.stages import admit
from crawler.store.lake import Lake
from crawler.store.planning import choose
from crawler.store.plans import open_plan, read_plan
from crawler.store.trial import check_output, write_choice, write_standings


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a cycle would fetch. reasons: URLs by reason. is_planned: whether the cycle has a plan, which stands.

    cutoff_value: what the last URL that is taken for its value is worth; None if the budget reaches all of them.
    """

    cycle: str
    output: str
    budget_urls: int
    budget_bytes: int
    admitted: int
    expected_bytes: int
    cutoff_value: float | None
    is_planned: bool
    reasons: list[Row]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def dry_run(lake: Lake, cycle: Cycle, output: Path, advance: Callable[[], None] = lambda: None) -> DryRun:
    """Write the candidate table of `cycle` as it would be planned now, or when it begins, to the file `output`.

    advance: called after each bucket. Raises BadOutput, CorruptLake.
    """
    check_output(lake, output)
    now = max(lake.clock.now(), cycle.start)
    plans, standings = [], []
    with TemporaryDirectory(prefix="recrawl-") as folder:
        for bucket in range(lake.buckets):
            con = lake.connect()
            path = Path(folder) / f"plan-{bucket}.parquet"
            standings.append(path.with_name(f"standing-{bucket}.parquet"))
            choose(lake, con, cycle, bucket, now, path, whole=True)
            write_standings(lake, con, bucket, now, standings[-1])
            plans.append(open_plan(str(path)))
            con.close()
            advance()
        admitted = admit.choose(lake, cycle, plans)
        reasons = write_choice(lake, standings, admitted[0], output)
    return DryRun(
        cycle=str(cycle),
        output=str(output),
        budget_urls=lake.settings.plan.budget_urls,
        budget_bytes=lake.settings.plan.budget_bytes,
        admitted=sum(int(row["admitted"]) for row in admitted),
        expected_bytes=sum(int(row["expected_bytes"]) for row in admitted),
        cutoff_value=admitted[0]["cutoff_value"],
        is_planned=any(read_plan(lake, cycle, bucket) for bucket in range(lake.buckets)),
        reasons=reasons,
    )
