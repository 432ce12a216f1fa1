"""What the tests of the DAGs share."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

DAGS = Path(__file__).resolve().parents[2] / "dags"
STAGES = ("plan", "admit", "fetch", "fingerprint", "merge", "check", "publish")
BUCKETS = 4
USER_AGENT = "testbot/1.0 (+https://example.org/bot)"


class Calls(list[tuple[object, ...]]):
    """The calls of stages, as (stage, cycle, bucket ...); `fails` is asked before each and may raise.

    given: what any of them was passed besides, by name.
    """

    def __init__(self) -> None:
        super().__init__()
        self.fails: Callable[..., None] = lambda *call: None
        self.incomplete: list[int] = []
        self.lagging: list[str] = []
        self.given: dict[str, object] = {}

    def of(self, stage: str) -> list[tuple[object, ...]]:
        return sorted(call[1:] for call in self if call[0] == stage)


class HundredDaysAgo:
    """The clock to create a lake with whose first cycle is long past."""

    def now(self) -> datetime:
        return datetime.now(UTC) - timedelta(days=100)

    def monotonic(self) -> float:
        return 0.0
