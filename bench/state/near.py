"""`python -m bench.state.near`: 100,000 pages that arrived are compared with 10,000,000 that are known.

Measures the near step of the fingerprint stage as a whole, as one shard would do it for all of them: the search and who
stands for whom, over known pages in Parquet. A sample is compared with everything by brute force. Two kinds of data,
random SimHashes, and those of sites that answer with one template each, which share most of their bits. The last line
is one JSON object. Writes to a temporary folder.
"""

import argparse
import functools
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from crawler.core.config import EngineSettings
from crawler.store import query
from crawler.store.near import find_in_log

KNOWN, ARRIVED, SAMPLE = 10_000_000, 100_000, 60
MAX_DISTANCE = 3
MOST_SECONDS = 20.0
_BITS = 64
_STAMP = {"cycle": "2026-03-01", "shard": 0, "epoch": 1, "sequence": 1, "max_distance": MAX_DISTANCE}
_OF_OBSERVATION = ("bucket", "observed_epoch", "observed_sequence")
Keys: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]


def main(arguments: list[str]) -> int:
    """Measure both kinds of data and print them; 1 if a sample is not what brute force finds, or it takes too long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--known", type=int, default=KNOWN, help="pages that are known")
    parser.add_argument("--kind", choices=sorted(KINDS), action="append", help="only data of this kind")
    parser.add_argument("--arrived", type=int, default=ARRIVED, help="pages that arrived")
    options = parser.parse_args(arguments)
    found = {kind: measure(kind, options.known, options.arrived) for kind in options.kind or KINDS}
    for kind, each in found.items():
        print(f"{kind:9}", "  ".join(f"{name} {value}" for name, value in each.items()), file=sys.stderr)
    named = {"random": "{}", "clustered": "{}_clustered"}
    print(json.dumps({named[kind].format(name): value for kind, each in found.items() for name, value in each.items()}))
    return int(any(not each["near_exact"] or each["near_seconds"] > MOST_SECONDS for each in found.values()))


def measure(kind: str, known: int = KNOWN, arrived: int = ARRIVED) -> dict[str, Any]:
    """The near step on data of a kind: seconds, CPU seconds, pairs, peak MB; whether a sample equals brute force."""
    one_task = functools.partial(multiprocessing.get_context("spawn").Pool, 1, maxtasksperchild=1)
    # A process for each part, so that none counts another's memory.
    with tempfile.TemporaryDirectory() as folder, one_task() as pool:
        pool.apply(_make, (kind, known, arrived, folder))
        return pool.apply(_measure, (folder,))


# Data


def _random(chance: np.random.Generator, known: int, arrived: int) -> tuple[Keys, Keys]:
    everyone = chance.integers(0, 2**_BITS, known + arrived // 2, dtype=np.uint64)
    near = _flipped(chance, everyone[: arrived - arrived // 2], MAX_DISTANCE)
    return everyone[:known], np.concatenate([near, everyone[known:]])


def _clustered(chance: np.random.Generator, known: int, arrived: int) -> tuple[Keys, Keys]:
    """Sites of 2,000 pages 3 to 8 bits around their template; a tenth of what arrives is one site in 14 bits."""
    templates = chance.integers(0, 2**_BITS, max(1, known // 2000), dtype=np.uint64)
    everyone = chance.choice(templates, known + arrived // 2)
    everyone = _flipped(chance, everyone, 3 + chance.integers(0, 6, everyone.size))
    crowded = templates[0] ^ chance.integers(0, 2**14, arrived // 10, dtype=np.uint64)
    near = _flipped(chance, everyone[: arrived - arrived // 2 - crowded.size], MAX_DISTANCE)
    return everyone[:known], np.concatenate([near, everyone[known:], crowded])


KINDS: Mapping[str, Callable[[np.random.Generator, int, int], tuple[Keys, Keys]]] = {
    "random": _random,
    "clustered": _clustered,
}


def _flipped(chance: np.random.Generator, values: Keys, times: Any) -> Keys:
    """`values` with up to `times` bits flipped, each drawn anew."""
    flipped = values.copy()
    for turn in range(int(np.max(times))):
        bits = np.uint64(1) << chance.integers(0, _BITS, values.size, dtype=np.uint64)
        flipped ^= np.where(turn < times, bits, np.uint64(0))
    return flipped


def _make(kind: str, known: int, arrived: int, folder: str) -> None:
    """Write the checkpoint of a bucket, in which all pages are, and what has arrived."""
    simhashes = KINDS[kind](np.random.default_rng(7), known, arrived)
    for table, values, standing in (("base_page", simhashes[0], 1), ("arrived", simhashes[1], 4)):
        numbers = pa.array(np.arange(values.size, dtype=np.uint64) + np.uint64(known if table == "arrived" else 0))
        columns = {
            "url_key": numbers,
            "url": pc.binary_join_element_wise(
                f"https://{table.replace('_', '-')}.example/page/", numbers.cast(pa.string()), ""
            ),
            "canonical_url": pa.nulls(values.size, pa.string()),
            "standing": pa.repeat(pa.scalar(standing, pa.int32()), values.size),
            "simhash": pa.array(values, pa.uint64()),
        }
        if table == "arrived":
            columns |= {name: pa.repeat(pa.scalar(0, pa.int32()), values.size) for name in _OF_OBSERVATION}
            columns["body_digest"] = pa.repeat(pa.scalar(bytes(32)), values.size)
        else:
            columns |= {"outcome": pa.repeat("ok", values.size), "near_of": pa.nulls(values.size, pa.string())}
            columns["noindex"] = pa.repeat(pa.scalar(value=False), values.size)
        pq.write_table(pa.table(columns), Path(folder, f"{table}.parquet"), compression="zstd", compression_level=2)


# The step


def _measure(folder: str) -> dict[str, Any]:
    con = query.connect(EngineSettings(threads=2, memory_limit="4GB"))
    started, worked = time.monotonic(), time.process_time()
    con.read_parquet(str(Path(folder, "arrived.parquet"))).create("arrived")
    con.read_parquet(str(Path(folder, "base_page.parquet"))).create_view("base_page")
    for table in ("observation", "duplicate"):
        query.view_files(con, f"tail_{table}", table, [])
    query.materialise(con, "arrived_here", "fingerprint/arrived_here", _STAMP)
    find_in_log(con, MAX_DISTANCE)
    near = sum(batch.num_rows for batch in query.arrow(con, "fingerprint/near", _STAMP))
    spent = {
        "near_seconds": round(time.monotonic() - started, 2),
        "near_cpu_seconds": round(time.process_time() - worked, 2),
    }
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    pairs = con.table("pair").to_arrow_table()
    return {
        **spent,
        "near_pairs": pairs.num_rows,
        "near_pages": near,
        "near_peak_mb": peak,
        "near_exact": _is_exact(folder, pairs),
    }


def _is_exact(folder: str, pairs: pa.Table) -> bool:
    """Whether the pairs of a sample of what arrived are those that comparing it with everything finds."""
    base_page, arrived = (
        np.unique(pq.read_table(Path(folder, f"{table}.parquet"), columns=["simhash"])["simhash"].to_numpy())
        for table in ("base_page", "arrived")
    )
    everything = np.union1d(base_page, arrived)
    for value in arrived[:: max(1, arrived.size // SAMPLE)]:
        expected = everything[np.bitwise_count(everything ^ value) <= MAX_DISTANCE]
        found = pairs.filter(pc.equal(pairs["simhash"], pa.scalar(value, pa.uint64())))["near_simhash"].to_numpy()
        if not np.array_equal(np.sort(found), expected):
            return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
