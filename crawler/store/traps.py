"""Traps among the URLs of a bucket: parts of a host that make URLs without end, known by what their pages brought.

Reads the bucket's state and the settings `traps`; makes temporary tables of its connection, writes nothing. A merge
stops arriving URLs by them, a plan leaves known ones out. What one URL's shape says is core/shape.py's.

A pattern or a host is judged by the distinct main texts among its pages. Nothing is remembered: a trap opens again with
the plan after its pages, which are fetched as any other, brought new texts, or after its setting has changed.
"""

from typing import Any

import duckdb

from crawler.core.patterns import is_host_of
from crawler.store import query
from crawler.store.lake import Lake

_ARRIVING = "url_key UBIGINT, pattern_key UBIGINT, host_key UBIGINT, host VARCHAR, url VARCHAR, depth USMALLINT"


def size_texts(lake: Lake, con: duckdb.DuckDBPyConnection) -> None:
    """Make the tables text_size and repeated_page of the state that is open on `con`, before anything arrives."""
    query.keep_rows(con, "arriving_url", _ARRIVING, [])
    _keep_exempt(lake, con)
    query.materialise(con, "text_size", "trap/text")
    query.materialise(con, "repeated_page", "trap/repeated", _limits(lake))


def size_arriving(lake: Lake, con: duckdb.DuckDBPyConnection) -> None:
    """Make the tables that `merge/judged` and `merge/rejected` read: the sizes with the URLs that arrive.

    The tables candidate (the arriving URLs) and verdict, and those of `size_texts`, must be there.
    """
    query.materialise(con, "arriving_url", "merge/arriving_url")
    _keep_exempt(lake, con)
    _size_places(lake, con)
    query.materialise(con, "host_size", "trap/host", _limits(lake))
    query.materialise(con, "held", "trap/held", _limits(lake))


def barren_hosts(lake: Lake, con: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """By host on which new content is rare the number of its distinct texts: the cap that a plan gives it."""
    size_texts(lake, con)
    query.materialise(con, "host_size", "trap/host", _limits(lake))
    return {host: max(texts, 1) for host, texts in query.run(con, "trap/caps").fetchall()}


def stop_known(lake: Lake, con: duckdb.DuckDBPyConnection) -> None:
    """Add to the table `verdict` which candidates of a plan a rule of traps leaves out; `barren_hosts` came before."""
    _size_places(lake, con)
    query.materialise(con, "stopped", "trap/stopped", _limits(lake))
    query.materialise(con, "verdict", "trap/verdict")


def _size_places(lake: Lake, con: duckdb.DuckDBPyConnection) -> None:
    query.materialise(con, "pattern_size", "trap/pattern", _limits(lake))
    query.materialise(con, "path_size", "trap/path", _limits(lake))


def _keep_exempt(lake: Lake, con: duckdb.DuckDBPyConnection) -> None:
    """Make the table `exempt_host`; hosts are only looked at where some are exempt."""
    patterns = lake.settings.traps.exempt_hosts
    hosts = query.run(con, "trap/known_hosts").fetchall() if patterns else []
    exempt = [(key,) for key, host in hosts if any(is_host_of(pattern, host) for pattern in patterns)]
    query.keep_rows(con, "exempt_host", "host_key UBIGINT", exempt)


def _limits(lake: Lake) -> dict[str, Any]:
    return lake.settings.traps.model_dump()
