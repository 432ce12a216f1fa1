"""Traps among the URLs of a bucket: parts of a host that make URLs without end, known by what their pages brought.

Reads the bucket's state and the settings `traps`; makes temporary tables of its connection, writes nothing. A merge
stops arriving URLs by them, a plan leaves known ones out. What one URL's shape says is core/shape.py's.

A pattern or a host is judged by the distinct main texts among its pages. Nothing is remembered: a trap opens again with
the plan after its pages, which are fetched as any other, brought new texts, or after its setting has changed. Only what
the table `watched` names is judged, in narrow columns, and most of it by a sample of its texts.
"""

from typing import Any

import duckdb

from crawler.core.patterns import is_host_of
from crawler.store import query
from crawler.store.lake import Lake

_ARRIVING = "url_key UBIGINT, pattern_key UBIGINT, host_key UBIGINT, host VARCHAR, url VARCHAR, depth USMALLINT"


def open_pages(con: duckdb.DuckDBPyConnection) -> None:
    """Make the table `trap_page` of the state that is open on `con`: what all the rules ask of it."""
    query.materialise(con, "trap_page", "trap/page")


def size_sources(lake: Lake, con: duckdb.DuckDBPyConnection) -> None:
    """Make the table `repeated_page` that `merge/arriving` reads: of the table `watched`, whom links name."""
    query.keep_rows(con, "arriving_url", _ARRIVING, [])
    _size_texts(lake, con)


def size_arriving(lake: Lake, con: duckdb.DuckDBPyConnection) -> None:
    """Make the tables that `merge/judged` reads: the sizes with the URLs that arrive.

    The tables candidate (the arriving URLs) and verdict must be there.
    """
    query.materialise(con, "arriving_url", "merge/arriving_url")
    query.materialise(con, "watched", "trap/watched_arriving")
    _keep_exempt(lake, con)
    _size_places(lake, con)


def count_held(lake: Lake, con: duckdb.DuckDBPyConnection) -> None:
    """Make the table `kept_out` of all that rules of traps keep out of plans, after `size_arriving`.

    All texts of the bucket are compared for it, which no decision needs.
    """
    query.materialise(con, "watched", "trap/watched_all")
    _size_texts(lake, con)
    _size_places(lake, con)
    _size_hosts(lake, con)
    query.materialise(con, "kept_out", "trap/held", _limits(lake))


def barren_hosts(lake: Lake, con: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """By host of a candidate on which new content is rare the number of its distinct texts: its cap in a plan."""
    query.keep_rows(con, "arriving_url", _ARRIVING, [])
    open_pages(con)
    query.materialise(con, "watched", "trap/watched")
    _keep_exempt(lake, con)
    _size_hosts(lake, con)
    return {host: max(texts, 1) for host, texts in query.run(con, "trap/caps").fetchall()}


def stop_known(lake: Lake, con: duckdb.DuckDBPyConnection) -> None:
    """Add to the table `verdict` which candidates of a plan a rule of traps leaves out; `barren_hosts` came before.

    Makes the table repeated_page as well.
    """
    _size_texts(lake, con)
    _size_places(lake, con)
    query.materialise(con, "stopped", "trap/stopped", _limits(lake))
    query.materialise(con, "verdict", "trap/verdict")


def _size_texts(lake: Lake, con: duckdb.DuckDBPyConnection) -> None:
    _keep_exempt(lake, con)
    query.materialise(con, "text_size", "trap/text", _limits(lake))
    query.materialise(con, "repeated_page", "trap/repeated")


def _size_places(lake: Lake, con: duckdb.DuckDBPyConnection) -> None:
    query.materialise(con, "large_pattern", "trap/large_pattern", _limits(lake))
    query.materialise(con, "pattern_size", "trap/pattern", _limits(lake))
    query.materialise(con, "path_size", "trap/path", _limits(lake))


def _size_hosts(lake: Lake, con: duckdb.DuckDBPyConnection) -> None:
    query.materialise(con, "large_host", "trap/large_host", _limits(lake))
    query.materialise(con, "host_size", "trap/host", _limits(lake))


def _keep_exempt(lake: Lake, con: duckdb.DuckDBPyConnection) -> None:
    """Make the table `exempt_host` of those watched; hosts are only looked at where some are exempt."""
    patterns = lake.settings.traps.exempt_hosts
    hosts = query.run(con, "trap/known_hosts").fetchall() if patterns else []
    exempt = [(key,) for key, host in hosts if any(is_host_of(pattern, host) for pattern in patterns)]
    query.keep_rows(con, "exempt_host", "host_key UBIGINT", exempt)


def _limits(lake: Lake) -> dict[str, Any]:
    return lake.settings.traps.model_dump()
