"""`python -m bench.state`."""

import argparse
import sys
from pathlib import Path

from bench.state.cycle import COUNTED, Cycled, Player
from bench.state.generate import make_lake
from bench.state.web import Web


def main() -> int:
    """Run what the arguments name."""
    parser = argparse.ArgumentParser("python -m bench.state", description=__doc__)
    parser.add_argument("part", nargs="?", default="cycle", choices=("generate", "cycle"))
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--fetched", type=int, default=100_000)
    parser.add_argument("--links", type=int, default=1_000_000)
    parser.add_argument("--buckets", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--cycles", type=int, default=2)
    parser.add_argument("--keep", type=Path, default=Path("bench/out/state"))
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--publish", action="store_true")
    o = parser.parse_args()
    web = Web(o.keep.resolve() / str(o.urls), o.urls, o.fetched, o.links, o.buckets, o.threads)
    if o.part == "generate" or not (web.folder / "web.json").exists():
        took = make_lake(web, say=lambda text: print(f"\r{text}  ", end="", file=sys.stderr))
        print(f"\nmade {web.urls} URLs in {took:.1f} s", file=sys.stderr)
    if o.part == "generate":
        return 0
    done = len(list((web.folder / "lake" / "layout=1" / "admitted").glob("cycle=*")))
    with Player(web, processes=o.processes, profile=o.profile) as player:
        for number in range(done + 1, done + o.cycles + 1):
            show(player.play(number, publish=o.publish))
        print(f"peak {player.workers.peak_mb} MB", file=sys.stderr)
        for stage, statements in player.workers.statements.items():
            print(f"-- {stage}", file=sys.stderr)
            for name, (runs, seconds) in sorted(statements.items(), key=lambda each: -each[1][1])[:16]:
                print(f"{seconds / o.cycles:9.2f} s CPU a cycle {runs // o.cycles:7} runs  {name}", file=sys.stderr)
    return 0


def show(cycle: Cycled) -> None:
    print(f"cycle {cycle.number}: {cycle.admitted} fetched, {cycle.links} links; "
          f"{cycle.seconds:.1f} s, {cycle.cpu_seconds:.1f} s CPU", file=sys.stderr)
    for stage, cost in cycle.stages.items():
        written = ", ".join(f"{table} {size / 1e6:.1f}" for table, size in cost.bytes_written.items())
        print(f"   {stage:12} {cost.seconds:7.1f} s {cost.cpu_seconds:7.1f} s CPU  read {cost.bytes_read / 1e6:8.0f} MB"
              f"  wrote MB: {written}  {cost.said}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
