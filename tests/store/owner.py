"""Processes for test_lease.py: `own ROOT` owns bucket 0 until it is killed, `race ROOT` lets 20 processes take it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from crawler.core.errors import BucketTaken, LeaseLost
from crawler.store.files import Files
from crawler.store.lease import KernelLock, acquire, this_process

LAYOUT = "layout=1"
PARTITION = "bucket=0000"
TAKERS = 20


def take(root: str, *, guarded: bool) -> Any:
    files = Files(root)
    holder = this_process()
    if guarded:
        KernelLock(Path(root, "locks")).hold(PARTITION, holder)
    return acquire(files, LAYOUT, PARTITION, "2026-03-01", holder, lambda *_: 0)


def own(root: str) -> None:
    """Own the bucket with children of every kind; they live until standard input ends, and so do we."""
    take(root, guarded=True)
    subprocess.Popen(["cat"], close_fds=False)
    runs, say_runs = os.pipe()
    if not os.fork():
        os.write(say_runs, b".")
        sys.stdin.read()
        os._exit(0)
    os.read(runs, 1)
    say("owned")
    sys.stdin.read()


def race(root: str, *, guarded: bool) -> None:
    """Say how each of the takers ended, a line each. No taker ends before all have tried."""
    begin, let_begin = os.pipe()
    end, let_end = os.pipe()
    tried, say_tried = os.pipe()
    for _ in range(TAKERS):
        if os.fork():
            continue
        os.close(let_begin)
        os.close(let_end)
        os.read(begin, 1)
        try:
            result = f"owner of epoch {take(root, guarded=guarded).epoch}"
        except (BucketTaken, LeaseLost) as error:
            result = type(error).__name__
        os.write(say_tried, f"{result}\n".encode())
        os.read(end, 1)
        os._exit(0)
    os.close(let_begin)
    os.close(say_tried)
    with os.fdopen(tried) as results:
        say(*(results.readline().strip() for _ in range(TAKERS)))
    os.close(let_end)
    for _ in range(TAKERS):
        os.wait()


def say(*lines: str) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()


if __name__ == "__main__":
    if sys.argv[1] == "own":
        own(sys.argv[2])
    else:
        race(sys.argv[2], guarded=sys.argv[1] == "race-guarded")
