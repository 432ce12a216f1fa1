"""URLs that are known under an identity that the URL rules of today give another name.

Reads the bucket's state and the settings `urls` and `host`; changes the table `verdict` of its connection, writes
nothing. What is known stays as it is: a rule that is taken back finds everything again.
"""

import duckdb

from crawler.core.keys import url_key
from crawler.core.urls import CanonicalUrl, canonicalize
from crawler.store import query
from crawler.store.lake import Lake


def leave_renamed(lake: Lake, con: duckdb.DuckDBPyConnection) -> None:
    """Note in `verdict` which candidates of a plan are another URL today, so that no page is fetched under two names.

    Costs nothing without rules; with rules some ten seconds for a million URLs of their hosts.
    """
    rules = lake.settings.url_rules
    if rules.is_default:
        return
    parameters = {"ruled_hosts": list(rules.hosts), "everywhere": rules.changes_queries_everywhere}
    renamed = []
    for key, url in query.run(con, "identity/ruled", parameters).fetchall():
        found = canonicalize(url, None, rules)
        if isinstance(found, CanonicalUrl) and found.url != url:
            renamed.append((key, url_key(found.url)))
    query.keep_rows(con, "renamed", "url_key UBIGINT, identity_key UBIGINT", renamed)
    query.materialise(con, "verdict", "identity/verdict")


def old_name(lake: Lake, con: duckdb.DuckDBPyConnection, key: int) -> str | None:
    """The known URL that stands for the one of `key`, whose name is not known; after `leave_renamed`. None if none."""
    if lake.settings.url_rules.is_default:
        return None
    found = query.run(con, "identity/old_name", {"url_key": key}).fetchone()
    return found[0] if found else None
