"""One task of the product in a process of its own, so that a test can kill or stop it.

    python -m tests.crawl.task fetch SETTINGS CYCLE BUCKET    the fetch of a bucket
    python -m tests.crawl.task cycle SETTINGS CYCLE           all stages of a cycle, waiting for buckets that are taken

Says `ready` on standard output before it begins; ends with the exit code of the product's error, its message on
standard error.
"""

import sys
import time
from collections.abc import Callable

from crawler.core.clock import open_clock
from crawler.core.config import load_settings
from crawler.core.cycle import Cycle
from crawler.core.errors import BucketTaken, RecrawlError
from crawler.stages import admit, check, fetch, fingerprint, merge, plan, publish
from crawler.store.lake import Lake

WAIT_SECONDS = 0.05


def main(what: str, path: str, day: str, bucket: str = "0") -> int:
    settings = load_settings(path)
    lake = Lake.open(settings, open_clock(settings.clock.simulated))
    cycle = lake.cycle(day)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    try:
        if what == "fetch":
            fetch.run(lake, cycle, int(bucket))
        else:
            _run_cycle(lake, cycle)
    except RecrawlError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


def _run_cycle(lake: Lake, cycle: Cycle) -> None:
    buckets = range(lake.buckets)
    for bucket in buckets:
        plan.run(lake, cycle, bucket)
    admit.run(lake, cycle)
    # A bucket that the other run holds is tried again after the free ones.
    waiting = list(buckets)
    while waiting:
        bucket = waiting.pop(0)
        try:
            fetch.run(lake, cycle, bucket)
        except BucketTaken:
            waiting.append(bucket)
            time.sleep(WAIT_SECONDS)
    for shard in buckets:
        _patiently(lambda shard=shard: fingerprint.run(lake, cycle, shard))
    for bucket in buckets:
        _patiently(lambda bucket=bucket: merge.run(lake, cycle, bucket))
    check.run(lake, cycle)
    publish.run(lake, cycle)


def _patiently(stage: Callable[[], object]) -> None:
    while True:
        try:
            stage()
        except BucketTaken:
            time.sleep(WAIT_SECONDS)
        else:
            return


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
