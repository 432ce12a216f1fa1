"""`make bench-state` at a size that takes seconds: it runs, says what it must, and knows what is too much."""

import json
import subprocess
import sys
from pathlib import Path

from bench.state.__main__ import together
from bench.state.report import failures

ROOT = Path(__file__).resolve().parents[2]
SAID = {
    "n_urls",
    "cycle_seconds",
    "cycle_cpu_seconds",
    "cycle_bytes_written",
    "cycle_bytes_read",
    "checkpoint_seconds",
    "checkpoint_every_cycles",
    "peak_mb",
    "rewrite_seconds",
    "rewrite_ratio",
    "stages",
    "machine",
}


def test_cycles_over_a_generated_lake_say_what_they_cost(tmp_path: Path) -> None:
    size = "--urls 20000 --fetched 400 --links 4000 --buckets 1 --processes 1"
    command = [sys.executable, "-m", "bench.state", "cycle", *size.split(), "--keep", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr  # a busy machine may miss a limit of time
    found = json.loads(done.stdout.splitlines()[-1])
    assert set(found) >= SAID
    assert found["fetched"] == 400
    assert found["links"] > 3000
    assert set(found["stages"]) == {"plan", "admit", "fingerprint", "merge", "check", "publish"}
    assert found["bytes_written_by_table"]["plan"] > 0
    assert found["bytes_written_by_table"]["checkpoint"] > 0


def test_ratios_are_those_of_the_largest_lake_to_a_tenth_of_it() -> None:
    sizes = [
        {"n_urls": 10**6, "cycle_bytes_written": 100, "cycle_seconds": 10.0, "cycle_cpu_seconds": 20.0},
        {"n_urls": 10**7, "cycle_bytes_written": 120, "cycle_seconds": 25.0, "cycle_cpu_seconds": 30.0},
    ]
    found = together(sizes)
    assert (found["n_urls"], found["bytes_ratio"], found["time_ratio"], found["cpu_ratio"]) == (10**7, 1.2, 2.5, 1.5)


def test_a_limit_is_missed_on_its_own_side_and_from_its_own_size_on() -> None:
    assert (
        failures({"n_urls": 10**7, "bytes_ratio": 2.7, "cycle_seconds": 900, "seen_links_per_second": 4_000_000}) == []
    )
    missed = failures({"n_urls": 10**8, "bytes_ratio": 1.31, "cycle_seconds": 121, "seen_links_per_second": 3_999_999})
    assert len(missed) == 3
