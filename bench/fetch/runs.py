"""What the runs of the bench share."""

import sys
from pathlib import Path

from bench.fetch.planned import Planned

FOLDER = Path(__file__).parent
OUT = FOLDER.parent / "out"
SCRAPY = OUT / "scrapy" / "bin" / "python"
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
NO_DELAY = {"delay_seconds": 0.0, "delay_factor": 0.0, "address_delay_seconds": 0.0}
BUCKETS = 2


def fetch_command(planned: Planned, bucket: int, most: int = 0) -> list[str]:
    """The command of a fetch task. most: pages after which it stops; 0: never."""
    return [sys.executable, "-m", "bench.fetch.ours", str(planned.settings), planned.day, str(bucket), str(most)]
