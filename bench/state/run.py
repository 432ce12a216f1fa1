"""What is measured of one size of lake, and what of sixty cycles, as plain numbers.

The first cycle is only planned and admitted: it has no admission before it, so it cannot know where its budget will
end. The second surveys every bucket. What comes after is what every cycle costs, and is measured.

Checkpoints come once in many cycles, so they are left out of the cycles that are measured, and added as the policy has
it: one is due when its tail touches so many URLs; a cycle is seen to touch so many; so a checkpoint, which is measured
by writing one of every bucket, is shared among as many cycles. Two cycles touch some URLs both, which is not
counted: it would make checkpoints rarer.
"""

import functools
import shutil
from collections.abc import Callable, Iterable
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

from bench.state import near, views
from bench.state.cycle import Cycled, Player, touched
from bench.state.generate import make_lake
from bench.state.measure import Cost, Workers
from bench.state.web import Web

Found: TypeAlias = dict[str, Any]
Say: TypeAlias = Callable[[str], None]

WARM_CYCLES = 2
SAMPLED_URLS = 5_000_000
SAMPLE = 16
"""Buckets of a larger lake of which checkpoints and rewrites are measured, for all."""

DRIFT_CYCLES = 60
_WEEK = 7  # as often as surveys of a bucket


def measure(
    web: Web, *, cycles: int, processes: int, say: Say, is_profiled: bool = False, publish: bool = True
) -> Found:
    """Everything of the lake of `web`, which is made anew."""
    seconds = make_lake(web, processes=processes, say=say)
    found: Found = {"n_urls": web.urls, "generate_seconds": round(seconds, 1)}
    with Player(web, processes=processes, is_profiled=is_profiled) as player:
        say(f"{web.urls:,} URLs: planning cycle 1")
        player.choose(1)
        played: list[Cycled] = []
        for number in range(2, WARM_CYCLES + cycles + 1):
            say(f"{web.urls:,} URLs: cycle {number}")
            cycled = player.play(number, publish=publish and number == WARM_CYCLES + cycles)
            played += [cycled] if number > WARM_CYCLES else []
        peak = player.workers.peak_mb
        found["statements"] = dearest(player.workers)
    last = WARM_CYCLES + cycles
    say(f"{web.urls:,} URLs: the rewrite of everything")
    found |= _rewrite(web, last, processes)
    say(f"{web.urls:,} URLs: checkpoints")
    checkpoint, checkpoint_peak = _checkpoint(web, last, processes)
    found |= _amortised(played, checkpoint, touched(web, [last]), processes)
    found["peak_mb"] = max(peak, checkpoint_peak)
    found["rewrite_ratio"] = round(found["rewrite_seconds"] / found["cycle_seconds"], 2)
    found["rewrite_bytes_ratio"] = round(found["rewrite_bytes_written"] / found["cycle_bytes_written"], 2)
    return found


def _amortised(played: list[Cycled], checkpoint: Found, touched_rows: int, processes: int) -> Found:
    """A cycle's cost with its share of a checkpoint."""
    period = max(1.0, checkpoint["due"] / max(1, touched_rows))
    stages = {
        stage: _stage([cycled.stages[stage] for cycled in played if stage in cycled.stages])
        for stage in _stages(played)
    }
    seconds = fmean(cycled.seconds - cycled.checkpoint_seconds(processes) for cycled in played)
    cpu = fmean(cycled.cpu_seconds - cycled.checkpoint_cpu_seconds for cycled in played)
    written = {
        table: round(fmean(cycled.bytes_written.get(table, 0) for cycled in played))
        for table in sorted({table for cycled in played for table in cycled.bytes_written})
    }
    written["checkpoint"] = round(checkpoint["bytes"] / period)
    return {
        "cycle_seconds": round(seconds + checkpoint["seconds"] / period, 2),
        "cycle_cpu_seconds": round(cpu + checkpoint["cpu_seconds"] / period, 2),
        "cycle_bytes_written": sum(written.values()),
        "cycle_bytes_read": round(fmean(cycled.bytes_read for cycled in played)),
        "bytes_written_by_table": written,
        "bytes_written_per_page": round(sum(written.values()) / fmean(cycled.admitted for cycled in played)),
        "fetched": round(fmean(cycled.admitted for cycled in played)),
        "links": round(fmean(cycled.links for cycled in played)),
        "touched_rows": touched_rows,
        "checkpoint_every_cycles": round(period, 2),
        "all_checkpoints_seconds": round(checkpoint["seconds"], 2),
        "checkpoint_bytes": checkpoint["bytes"],
        "checkpoint_seconds": round(checkpoint["write_seconds"] * 1e7 / checkpoint["rows"], 2),
        "checkpoint_cpu_seconds": round(checkpoint["write_cpu_seconds"] * 1e7 / checkpoint["rows"], 2),
        "stages": stages,
    }


def _stages(played: list[Cycled]) -> Iterable[str]:
    return played[-1].stages


def _stage(costs: list[Cost]) -> Found:
    tables = sorted({table for cost in costs for table in cost.bytes_written})
    return {
        "seconds": round(fmean(cost.seconds for cost in costs), 2),
        "cpu_seconds": round(fmean(cost.cpu_seconds for cost in costs), 2),
        "bytes_read": round(fmean(cost.bytes_read for cost in costs)),
        "bytes_written": {table: round(fmean(cost.bytes_written.get(table, 0) for cost in costs)) for table in tables},
    }


def _sample(web: Web) -> tuple[range, float]:
    """The buckets that stand for all, and how many each stands for."""
    step = web.buckets // SAMPLE if web.urls > SAMPLED_URLS and web.buckets > SAMPLE else 1
    return range(0, web.buckets, step), float(step)


def _checkpoint(web: Web, last: int, processes: int) -> tuple[Found, int]:
    """What it costs to fold every bucket and write its checkpoint; `write_...` is `write_checkpoint` alone."""
    numbers, factor = _sample(web)
    with Workers(web.settings, processes) as workers:
        cost = workers.run("checkpoint", web.cycle(last), numbers)
        peak = workers.peak_mb
    said = cost.said
    return {
        "seconds": factor * said["microseconds"] / 1e6 / processes,
        "cpu_seconds": factor * said["cpu_microseconds"] / 1e6,
        "write_seconds": factor * said["write_microseconds"] / 1e6 / processes,
        "write_cpu_seconds": factor * said["write_cpu_microseconds"] / 1e6,
        "rows": round(factor * said["rows"]),
        "due": factor * said["due"],
        "bytes": round(factor * cost.bytes_written["checkpoint"]),
    }, peak


def _rewrite(web: Web, last: int, processes: int) -> Found:
    """Generate and update of the design that rewrites everything, with what the last cycle brought."""
    numbers, factor = _sample(web)
    with Workers(web.settings, processes) as workers:
        costs = {stage: workers.run(stage, web.cycle(last), numbers) for stage in ("generate", "rewrite")}
        peak = workers.peak_mb
    shutil.rmtree(Path(web.settings.lake.root, "rewritten"))
    return {
        "rewrite_seconds": round(factor * sum(cost.seconds for cost in costs.values()), 2),
        "rewrite_cpu_seconds": round(factor * sum(cost.cpu_seconds for cost in costs.values()), 2),
        "rewrite_bytes_written": round(factor * sum(sum(cost.bytes_written.values()) for cost in costs.values())),
        "rewrite_peak_mb": peak,
    }


def dearest(workers: Workers, most: int = 20) -> dict[str, list[tuple[str, float, int]]]:
    """By stage its dearest statements with their CPU seconds and runs a cycle, after what is no statement."""
    found = {}
    for stage, statements in workers.statements.items():
        cycles, whole = workers.stages[stage]
        rows = [
            (name, round(seconds / cycles, 2), round(runs / cycles)) for name, (runs, seconds) in statements.items()
        ]
        rest = round((whole - sum(seconds for _, seconds in statements.values())) / cycles, 2)
        found[stage] = [("(all else)", rest, 1), *sorted(rows, key=lambda row: -row[1])[:most]]
    return found


def measure_seen(web: Web) -> Found:
    """The seen check against all keys of a lake."""
    with Workers(web.settings, 1) as workers:
        said = workers.run("seen", web.cycle(1)).said
    return {
        "seen_links_per_second": round(said["links"] / (said["microseconds"] / 1e6)),
        "seen_links_per_cpu_second": round(said["links"] / (said["cpu_microseconds"] / 1e6)),
        "seen_keys": said["keys"],
        "seen_links": said["links"],
    }


def measure_views(web: Web) -> Found:
    """The opening of what readers see."""
    shutil.rmtree(web.folder, ignore_errors=True)
    with get_context("spawn").Pool(1) as pool:
        pool.apply(views.make_lake, (web,))
    with Workers(web.settings, 1) as workers:
        said = workers.run("views", web.cycle(views.CYCLES)).said
    shutil.rmtree(web.folder)
    return {
        "views_seconds": round(said["microseconds"] / 1e6, 2),
        "views_cpu_seconds": round(said["cpu_microseconds"] / 1e6, 2),
        "views_cycles": said["cycles"],
    }


def measure_near(known: int, arrived: int) -> Found:
    """The near step on random SimHashes; `python -m bench.state.near` has the clustered ones, too."""
    return near.measure("random", known, arrived)


def measure_drift(web: Web, *, processes: int, say: Say, cycles: int = DRIFT_CYCLES) -> Found:
    """Many real cycles at equal work: what the last ones cost through what the first ones did, checkpoints included.

    Weeks are compared, since a bucket is surveyed once in one: the third cycle to the ninth, and the last seven.
    """
    make_lake(web, processes=processes, say=say)
    played = []
    with Player(web, processes=processes) as player:
        player.choose(1)
        for number in range(2, cycles + 1):
            say(f"cycle {number} of {cycles} over {web.urls:,} URLs")
            played.append(player.play(number))
    width = min(_WEEK, max(1, len(played) // 2))
    first, last = played[1 : width + 1], played[-width:]
    cost = functools.partial(_mean_work, processes=processes)
    every = [sum(cycled.bytes_written.values()) for cycled in played[1:]]
    fetched = sum(cycled.admitted for cycled in played[1:])
    return {
        "drift_ratio": round(cost(last) / cost(first), 3),
        "drift_cycles": cycles,
        "drift_urls": web.urls,
        "drift_fetched": played[-1].admitted,
        "drift_first_cpu_seconds": round(cost(first), 2),
        "drift_last_cpu_seconds": round(cost(last), 2),
        "drift_checkpoint_rows": sum(cycled.checkpoint_rows for cycled in played),
        "drift_bytes_written_per_page": round(sum(every) / fetched),
        "drift_bytes_ratio": round(
            fmean(_without_checkpoints(each) for each in last) / fmean(_without_checkpoints(each) for each in first), 3
        ),
        "drift_cpu_seconds": [round(cycled.cpu_seconds, 2) for cycled in played],
    }


def _mean_work(played: list[Cycled], *, processes: int) -> float:
    """CPU seconds of a cycle but for checkpoints, which come in some weeks and not in others."""
    return fmean(cycled.cpu_seconds - cycled.checkpoint_cpu_seconds for cycled in played)


def _without_checkpoints(cycled: Cycled) -> int:
    return sum(size for table, size in cycled.bytes_written.items() if table != "checkpoint")
