"""The sitemaps that settings name, as links: so they become known, judged and marked as those of robots.txt do.

Reads the settings; makes a temporary table of its connection, writes nothing.
"""

import duckdb

from crawler.core.keys import bucket_of, host_key, url_key
from crawler.core.model import Row
from crawler.core.shape import pattern_key
from crawler.core.urls import CanonicalUrl, canonicalize
from crawler.store import tables
from crawler.store.lake import Lake

_TABLE = "given_link"


def keep_given_sitemaps(lake: Lake, con: duckdb.DuckDBPyConnection, bucket: int) -> None:
    """Make the table `given_link` of the sitemaps on hosts of `bucket`, by the columns of table link."""
    general = [(text, None) for text in lake.settings.sitemaps.urls]
    own = [(text, host) for host, settings in lake.settings.host.items() for text in settings.sitemaps]
    rules = lake.settings.url_rules
    rows = []
    for text, for_host in [*general, *own]:
        found = canonicalize(text, None, rules)
        if isinstance(found, CanonicalUrl) and bucket_of(host_key(found.host), lake.buckets) == bucket:
            rows.append(_link(lake, bucket, found, for_host or found.host))
    con.register("given_rows", tables.rows_table("link", rows))
    con.execute(f"CREATE OR REPLACE TEMP TABLE {_TABLE} AS FROM given_rows")
    con.unregister("given_rows")


def _link(lake: Lake, bucket: int, found: CanonicalUrl, announced_by: str) -> Row:
    now = lake.clock.now()
    key = url_key(found.url)
    return {
        "cycle": now.date(),
        "bucket": bucket,
        "epoch": 0,
        "sequence": 0,
        "source_url_key": key,
        "source_url": found.url,
        "source_depth": 0,
        "source_hops": 0,
        "kind": "settings",
        "nofollow": False,
        "target_url_key": key,
        "target_host_key": host_key(found.host),
        "target_url": found.url,
        "target_fetch_url": found.fetch_url,
        "target_host": found.host,
        "target_pattern_key": pattern_key(found.url),
        "is_first": False,
        "announced_by": [announced_by],
        "found_at": now,
    }
