"""Seed: make URLs known that no link names, as starting points.

Reads lines; writes a seed file, which the default scope follows, and the seeds' rows in their buckets' logs: table url,
and mention for those that are sitemaps.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from datetime import datetime
from itertools import chain, repeat
from typing import Any

from crawler.core.cycle import Cycle
from crawler.core.errors import BadSeeds
from crawler.core.keys import bucket_of, host_key, url_key
from crawler.core.model import Row
from crawler.core.shape import pattern_key
from crawler.core.urls import CanonicalUrl, Reject, canonicalize
from crawler.store import tables
from crawler.store.lake import Lake
from crawler.store.marks import read_marks, write_marks
from crawler.store.purges import all_purges
from crawler.store.scoping import SEEDS


def run(lake: Lake, lines: Iterable[str], *, sitemaps: Iterable[str] = (), source: str = "given") -> dict[str, Any]:
    """Add the URLs in `lines` (empty lines and `#` comments are skipped).

    sitemaps: further URLs, of sitemaps or feeds. Returns how many were added and how many lines were rejected, by
    reason. Raises BadSeeds if no line holds a URL, BucketTaken while a bucket's owner is at work.
    """
    found: dict[str, CanonicalUrl] = {}
    rejected: Counter[str] = Counter()
    purges, rules = all_purges(lake), lake.settings.url_rules
    listing: set[str] = set()
    for line, is_sitemap in chain(zip(lines, repeat(False)), zip(sitemaps, repeat(True))):
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
            if is_sitemap:
                listing.add(result.url)
    if not found:
        problem = f"no line is a URL to crawl ({_counted(rejected)})" if rejected else "there is no line with a URL"
        raise BadSeeds(source, problem)
    _write_seeds(lake, list(found.values()), listing)
    return {"added": len(found), "rejected": dict(rejected)}


def _write_seeds(lake: Lake, seeds: list[CanonicalUrl], sitemaps: Collection[str]) -> None:
    now = lake.clock.now()
    seed_file = lake.files.staged(".parquet")
    columns = [{"url": s.url, "fetch_url": s.fetch_url, "host": s.host, "added_at": now} for s in seeds]
    tables.write_rows(seed_file, "seed", columns)
    while not lake.files.create(seed_file, f"{SEEDS}/{len(lake.files.names(SEEDS)) + 1:04d}.parquet"):
        tables.write_rows(seed_file, "seed", columns)
    by_bucket: dict[int, list[CanonicalUrl]] = {}
    for seed in seeds:
        by_bucket.setdefault(bucket_of(host_key(seed.host), lake.buckets), []).append(seed)
    cycle = Cycle(now.date())
    for bucket, members in sorted(by_bucket.items()):
        with lake.own("bucket", bucket, cycle) as owner:
            marks = read_marks(lake, "url", "bucket", bucket, owner.settled)
            stamp = {"cycle": cycle.day, "bucket": bucket, "epoch": owner.epoch, "sequence": owner.sequence + 1}
            staged = {"url": lake.files.staged(".parquet")}
            tables.write_rows(
                staged["url"], "url", [_url_row(seed, now) for seed in members], write_marks(marks), stamp
            )
            if mentions := [_mention_row(seed) for seed in members if seed.url in sitemaps]:
                staged["mention"] = lake.files.staged(".parquet")
                tables.write_rows(staged["mention"], "mention", mentions, stamp=stamp)
            lake.commit(owner, "url", staged)


def _url_row(seed: CanonicalUrl, now: datetime) -> Row:
    return {
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


def _mention_row(seed: CanonicalUrl) -> Row:
    return {
        "url_key": url_key(seed.url),
        "url": seed.url,
        "inlinks": 0,
        "is_sitemap": True,
        "announced_by": [seed.host],
    }


def _counted(reasons: Counter[str]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
