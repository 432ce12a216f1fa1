"""What readers see: SQL views over the files that the newest publication of each cycle names.

The same views are made in memory for `recrawl sql` and in `recrawl.duckdb`, which holds no rows, for any other DuckDB
client. Writes nothing but that file.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import duckdb

from crawler.store import query
from crawler.store.lake import Lake
from crawler.store.manifest import CYCLE_TABLES, TAIL_TABLES, Manifest, published
from crawler.store.scoping import seed_paths
from crawler.store.state import FOLD, checkpoint_name

VIEWS_FILE = "recrawl.duckdb"
_LOG_VIEWS = {"capture": "capture_log"}  # the others have their table's name


def open_reader(lake: Lake) -> duckdb.DuckDBPyConnection:
    """A connection of its own with the views observation, page, host, cycle, coverage, freshness and the rest."""
    engine = lake.settings.engine
    con = duckdb.connect(config={"threads": engine.threads, "memory_limit": engine.memory_limit})
    con.execute("SET TimeZone = 'UTC'")
    _make_views(lake, con)
    return con


def write_views_file(lake: Lake) -> Path:
    """Replace `recrawl.duckdb` in the lake's root by one that shows the newest publications."""
    staged = lake.files.staged(".duckdb")
    con = duckdb.connect(str(staged))
    try:
        _make_views(lake, con)
    finally:
        con.close()
    target = Path(lake.files.path(VIEWS_FILE))
    os.replace(staged, target)
    return target


def _make_views(lake: Lake, con: duckdb.DuckDBPyConnection) -> None:
    manifests = published(lake)
    for _, text in query.scripts("macros"):
        con.execute(text)
    for table in CYCLE_TABLES:
        names = _distinct(_named(manifests, table))
        _view(con, _LOG_VIEWS.get(table, table), query.files_query(table, _paths(lake, names)))
    _view(con, "copy", query.files_query("copy", _paths(lake, _distinct(name for m in manifests for name in m.copies))))
    _view(con, "plan", query.files_query("plan", _paths(lake, _distinct(name for m in manifests for name in m.plans))))
    _view(con, "admitted", query.files_query("admitted", _paths(lake, _distinct(m.admitted for m in manifests))))
    _view(con, "seed", query.files_query("seed", seed_paths(lake)))
    _view(con, "publication", _publication_query(manifests))
    _state_views(lake, con, manifests)
    # Every view is bound when it is made, and those below it again: the fold, which takes longest, comes last.
    _view(con, "state_page", query.files_query("page", []))
    for _, text in query.scripts("views"):
        con.execute(text)
    con.execute(f"CREATE OR REPLACE VIEW state_page AS {query.with_steps('state/page', FOLD)}")


def _state_views(lake: Lake, con: duckdb.DuckDBPyConnection, manifests: list[Manifest]) -> None:
    """The views that fold the state: each bucket's newest checkpoint and what the publications hold beyond it."""
    checkpoints: dict[int, int] = {}
    for manifest in manifests:
        for bucket, files in manifest.buckets.items():
            checkpoints[bucket] = max(checkpoints.get(bucket, 0), files.checkpoint)
    present = [(bucket, epoch) for bucket, epoch in sorted(checkpoints.items()) if epoch]
    for part, table in (("page", "page"), ("host", "host_state")):
        paths = [lake.files.path(checkpoint_name(lake, bucket, epoch, part)) for bucket, epoch in present]
        _view(con, f"base_{part}", query.files_query(table, paths))
    tails = {"observation": _named(manifests, "observation"), "host_state": _named(manifests, "host_state")}
    for table in TAIL_TABLES:
        tails[table] = [name for m in manifests for files in m.buckets.values() for name in files.tail.get(table, [])]
    for table, names in tails.items():
        view = "tail_host" if table == "host_state" else f"tail_{table}"
        _view(con, view, _tail_query(table, _paths(lake, _distinct(names)), present))
    _view(con, "newest_host", query.sql_text("state/host"))


def _tail_query(table: str, paths: list[str], checkpoints: list[tuple[int, int]]) -> str:
    """The rows of `paths` that their bucket's checkpoint does not hold."""
    rows = query.files_query(table, paths)
    if not checkpoints:
        return rows
    listed = ", ".join(f"({int(bucket)}, {int(epoch)})" for bucket, epoch in checkpoints)
    return (
        f"SELECT f.* FROM ({rows}) AS f LEFT JOIN (VALUES {listed}) AS c(bucket, from_epoch) ON c.bucket = f.bucket "
        "WHERE f.epoch >= coalesce(c.from_epoch, 0)"
    )


def _publication_query(manifests: list[Manifest]) -> str:
    rows = [
        f"(DATE '{m.cycle}', {int(bucket)}::USMALLINT, {str(bucket not in m.failed).lower()}, "
        f"TIMESTAMPTZ '{m.created_at}')"
        for m in manifests
        for bucket in sorted({*m.buckets, *m.failed})
    ]
    if not rows:
        return (
            "SELECT NULL::DATE AS cycle, NULL::USMALLINT AS bucket, NULL::BOOLEAN AS complete, "
            "NULL::TIMESTAMPTZ AS published_at WHERE false"
        )
    return f"SELECT * FROM (VALUES {', '.join(rows)}) AS p(cycle, bucket, complete, published_at)"


def _named(manifests: list[Manifest], table: str) -> list[str]:
    return [name for m in manifests for files in m.buckets.values() for name in files.files.get(table, [])]


def _distinct(names: Iterable[str]) -> list[str]:
    return sorted(set(names))


def _paths(lake: Lake, names: Iterable[str]) -> list[str]:
    return [lake.files.path(f"{lake.layout}/{name}") for name in names]


def _view(con: duckdb.DuckDBPyConnection, name: str, text: str) -> None:
    con.execute(f'CREATE VIEW "{name}" AS {text}')


def view_names(con: duckdb.DuckDBPyConnection) -> Iterator[str]:
    """The names of the views that a reader's connection has."""
    for (name,) in con.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1").fetchall():
        yield name
