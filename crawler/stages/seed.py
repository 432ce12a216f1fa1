"""Seed: make URLs known that no link names, as starting points.

Reads lines; writes a seed file, which the default scope follows, and the seeds' rows in their buckets' logs.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from crawler.core.cycle import Cycle
from crawler.core.errors import BadSeeds
from crawler.core.keys import bucket_of, host_key, url_key
from crawler.core.shape import pattern_key
from crawler.core.urls import CanonicalUrl, Reject, canonicalize
from crawler.store import tables
from crawler.store.lake import Lake
from crawler.store.marks import read_marks, write_marks
from crawler.store.purges import all_purges
from crawler.store.scoping import SEEDS


def run(lake: Lake, lines: Iterable[str], *, source: str = "given") -> dict[str, Any]:
    """Add the URLs in `lines` (empty lines and `#` comments are skipped).

    Returns how many were added and how many lines were rejected, by reason. Raises BadSeeds if no line holds a URL,
    BucketTaken while a bucket's owner is at work.
    """
    found: dict[str, CanonicalUrl] = {}
    rejected: Counter[str] = Counter()
    purges, rules = all_purges(lake), lake.settings.url_rules
    for line in lines:
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        result = canonicalize(text, None, rules)
        if isinstance(result, Reject):
            rejected[result.reason] += 1
        elif any(purge.covers(result.url, result.host) for purge in purges):
            rejected["purged"] += 1
        else:
            found.setdefault(result.url, result)
    if not found:
        problem = f"no line is a URL to crawl ({_counted(rejected)})" if rejected else "there is no line with a URL"
        raise BadSeeds(source, problem)
    _write_seeds(lake, list(found.values()))
    return {"added": len(found), "rejected": dict(rejected)}


def _write_seeds(lake: Lake, seeds: list[CanonicalUrl]) -> None:
    now = lake.clock.now()
    staged = lake.files.staged(".parquet")
    columns = [{"url": s.url, "fetch_url": s.fetch_url, "host": s.host, "added_at": now} for s in seeds]
    tables.write_rows(staged, "seed", columns)
    while not lake.files.create(staged, f"{SEEDS}/{len(lake.files.names(SEEDS)) + 1:04d}.parquet"):
        tables.write_rows(staged, "seed", columns)
    by_bucket: dict[int, list[CanonicalUrl]] = {}
    for seed in seeds:
        by_bucket.setdefault(bucket_of(host_key(seed.host), lake.buckets), []).append(seed)
    cycle = Cycle(now.date())
    for bucket, members in sorted(by_bucket.items()):
        with lake.own("bucket", bucket, cycle) as owner:
            marks = read_marks(lake, "url", "bucket", bucket, owner.settled)
            rows = [
                {
                    "cycle": cycle.day,
                    "bucket": bucket,
                    "epoch": owner.epoch,
                    "sequence": owner.sequence + 1,
                    "url_key": url_key(seed.url),
                    "host_key": host_key(seed.host),
                    "url": seed.url,
                    "fetch_url": seed.fetch_url,
                    "host": seed.host,
                    "pattern_key": pattern_key(seed.url),
                    "depth": 0,
                    "hops": 0,
                    "is_seed": True,
                    "kind": "seed",
                    "source_url": None,
                    "discovered_at": now,
                }
                for seed in members
            ]
            file = lake.files.staged(".parquet")
            tables.write_rows(file, "url", rows, write_marks(marks))
            lake.commit(owner, "url", {"url": file})


def _counted(reasons: Counter[str]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
