"""A checkpoint of a bucket, written now whatever the policy says, so that its cost is known without waiting for it."""

import time
from typing import Any

from crawler.core.cycle import Cycle
from crawler.store.lake import Lake
from crawler.store.state import open_state, write_checkpoint


def run(lake: Lake, _cycle: Cycle, bucket: int) -> dict[str, Any]:
    """Fold the state and write it; returns its rows, how many of them the tail had touched, and the times.

    due: the touched rows with which the policy would have written it; buckets differ by a quarter around that. Times
    named `write` are those of `write_checkpoint` alone.
    """
    began, worked = time.perf_counter(), time.process_time()
    state = open_state(lake, lake.connect(), bucket, lake.settled("bucket", bucket))
    base_rows, touched = state.counts()
    settings = lake.settings.lake
    folded, folding = time.perf_counter(), time.process_time()
    rows = write_checkpoint(state)
    ended, worked_until = time.perf_counter(), time.process_time()
    return {
        "rows": rows,
        "touched": touched,
        "due": int(max(settings.checkpoint_min_rows, settings.checkpoint_share * base_rows)),
        "microseconds": int(1e6 * (ended - began)),
        "cpu_microseconds": int(1e6 * (worked_until - worked)),
        "write_microseconds": int(1e6 * (ended - folded)),
        "write_cpu_microseconds": int(1e6 * (worked_until - folding)),
    }
