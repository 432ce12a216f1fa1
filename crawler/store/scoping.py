"""Scope in SQL: the seeds' hosts, and a verdict for every row of a candidate table.

Reads the seed files and the purges; the rules themselves are core/scope.py's.
"""

import duckdb

from crawler.core.scope import Scope
from crawler.store import query
from crawler.store.lake import Lake
from crawler.store.purges import keep_purged

SEEDS = "seed"


def seed_paths(lake: Lake) -> list[str]:
    """Where DuckDB finds the seed files."""
    return [lake.files.path(f"{SEEDS}/{name}") for name in lake.files.names(SEEDS)]


def open_scope(lake: Lake, con: duckdb.DuckDBPyConnection) -> Scope:
    """The scope that the settings and the lake's seeds make."""
    query.view_files(con, "seed_files", "seed", seed_paths(lake))
    return Scope(lake.settings.scope, frozenset(host for (host,) in query.run(con, "plan/seed_hosts").fetchall()))


def judge(lake: Lake, con: duckdb.DuckDBPyConnection, scope: Scope) -> None:
    """Make the table `verdict` for the rows of the table `candidate` (url_key, url, host, hops, announced_by)."""
    settings = lake.settings.scope
    keep_purged(lake, con)
    rules = []
    inside = []
    for host, has_announced in query.run(con, "plan/hosts").fetchall():
        if scope.covers(host):
            inside.append((host,))
        elif not settings.max_hops and not has_announced:
            continue
        rules += [(host, *rule) for rule in scope.host_rules(host, any_host=True)]
    query.keep_rows(
        con, "scope_rule", "host VARCHAR, ordinal INTEGER, allow BOOLEAN, pattern VARCHAR, rule VARCHAR", rules
    )
    query.keep_rows(con, "in_scope_host", "host VARCHAR", inside)
    parameters = {"schemes": list(settings.schemes), "ports": list(settings.ports), "max_hops": settings.max_hops}
    query.materialise(con, "verdict", "scope/verdict", parameters)
