"""What readers see: SQL views over the files that the newest publication of each cycle names.

The same views are made in memory for `recrawl sql` and in `recrawl.duckdb`, which holds no rows, for any other DuckDB
client. Writes nothing but that file.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import duckdb

from crawler.core.errors import CorruptLake
from crawler.store import log, query
from crawler.store.budget import rule_queries
from crawler.store.lake import Lake
from crawler.store.manifest import CYCLE_TABLES, TAIL_TABLES, Manifest, published
from crawler.store.scoping import seed_paths
from crawler.store.state import FOLD, checkpoint_name, checkpoint_revisions

VIEWS_FILE = "recrawl.duckdb"
FOLDED = {"newest_host": "state/host", "newest_tally": "state/tally"}
"""The views that fold what the checkpoints hold of hosts, and the statement of each."""
_LOG_VIEWS = {"capture": "capture_log"}  # the others have their table's name
_PUBLISHED_TAILS = {"tail_observation": "observation", "tail_host": "host_state", "tail_robots": "robots"}
_FILE = re.compile(r"bucket=(\d+)/.*/e(\d+)-[^/]*$")


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
    """Make all views of `con`.

    A view is bound when it is made, those below it with it, and thousands of file names take long each time. So every
    list of files is a macro, which names one file while the views are made.
    """
    manifests = published(lake)
    at = max((datetime.fromisoformat(m.created_at) for m in manifests), default=lake.clock.now())
    for _, text in query.scripts("macros"):
        con.execute(text)
    sources = {**_log_sources(lake, manifests), **_state_sources(lake, manifests)}
    for view, source in sources.items():
        for name, paths in source.lists(view).items():
            _list_files(con, name, paths[:1])
        _view(con, view, source.text(view))
    _view(con, "publication", _publication_query(manifests))
    for view, text in rule_queries(lake, at).items():
        _view(con, view, text)
    for view, statement in FOLDED.items():
        _view(con, view, query.sql_text(statement))
    _view(con, "state_page", query.files_query("page", []))  # the fold takes long to bind, too
    for _, text in query.scripts("views"):
        con.execute(text)
    _view(con, "state_page", query.with_steps("state/page", FOLD))
    for view, source in sources.items():
        for name, paths in source.lists(view).items():
            _list_files(con, name, paths)


def _list_files(con: duckdb.DuckDBPyConnection, name: str, paths: Sequence[str]) -> None:
    listed = ", ".join("'" + path.replace("'", "''") + "'" for path in paths)
    con.execute(f'CREATE OR REPLACE MACRO "{name}"() AS [{listed}]')


@dataclass(frozen=True, slots=True)
class _Source:
    """The rows of files of a table. from_epochs: by bucket the first epoch whose rows count, if not all do."""

    table: str
    paths: list[str]
    from_epochs: tuple[int, ...] = ()

    def lists(self, view: str) -> dict[str, list[str]]:
        """The files by the macro that names them: the months that upkeep has merged are in folders of another key."""
        months = [path for path in self.paths if "/month=" in path]
        days = [path for path in self.paths if "/month=" not in path]
        return {name: paths for name, paths in ((f"files_{view}", days), (f"months_{view}", months)) if paths}

    def text(self, view: str) -> str:
        """The query of `view`; a filter on cycle, bucket or shard opens no file of another."""
        if not self.paths:
            return query.files_query(self.table, [])
        return " UNION ALL ".join(self._rows(name, paths[0]) for name, paths in self.lists(view).items())

    def _rows(self, name: str, path: str) -> str:
        """The rows of the files that macro `name` lists; path: of one of them."""
        columns = query.columns_of(self.table)
        folders = ", ".join(f"'{column}': {kind}" for column, kind in columns if f"/{column}=" in path)
        shown = ", ".join(f'"{column}"' for column, _ in columns)
        hive = f"hive_types = {{{folders}}}" if folders else "hive_partitioning = false"
        rows = f"SELECT {shown} FROM read_parquet({name}(), {hive})"
        if not any(self.from_epochs):
            return rows
        return f"{rows} WHERE epoch >= {list(self.from_epochs)}[bucket + 1]"


def _log_sources(lake: Lake, manifests: list[Manifest]) -> dict[str, _Source]:
    """By view what the publications name, and the seeds."""
    names: dict[str, Iterable[str]] = {table: _named(manifests, table) for table in CYCLE_TABLES}
    names["copy"] = (name for m in manifests for name in m.copies)
    names["plan"] = (name for m in manifests for name in m.plans)
    names["admitted"] = (m.admitted for m in manifests)
    found = {
        _LOG_VIEWS.get(table, table): _Source(table, _paths(lake, log.standing(named)))
        for table, named in names.items()
    }
    return found | {"seed": _Source("seed", seed_paths(lake))}


def _state_sources(lake: Lake, manifests: list[Manifest]) -> dict[str, _Source]:
    """By view what the state is folded of: each bucket's newest checkpoint and what the publications hold beyond it."""
    newest = [
        max((m.buckets[b].checkpoint for m in manifests if b in m.buckets), default=0) for b in range(lake.buckets)
    ]
    found: dict[str, _Source] = {}
    for part, table in (("page", "page"), ("host", "host_state"), ("robots", "robots")):
        names = [checkpoint_name(lake, bucket, epoch, part) for bucket, epoch in enumerate(newest) if epoch]
        found[f"base_{part}"] = _Source(table, list(map(lake.files.path, names)))
    # A checkpoint of a schema before version 4 has no tally: then all observations are counted.
    tallied = [epoch if epoch in checkpoint_revisions(lake, b, "tally") else 0 for b, epoch in enumerate(newest)]
    names = [checkpoint_name(lake, bucket, epoch, "tally") for bucket, epoch in enumerate(tallied) if epoch]
    found["base_tally"] = _Source("tally", list(map(lake.files.path, names)))
    for view, table in _PUBLISHED_TAILS.items():
        found[view] = _tail(lake, table, _named(manifests, table), newest)
    for table in TAIL_TABLES:
        named = (name for m in manifests for files in m.buckets.values() for name in files.tail.get(table, []))
        found[f"tail_{table}"] = _tail(lake, table, named, newest)
    found["counted_observation"] = _tail(lake, "observation", _named(manifests, "observation"), tallied)
    return found


def _tail(lake: Lake, table: str, names: Iterable[str], from_epochs: list[int]) -> _Source:
    """The rows of the files `names` that their bucket's checkpoint does not hold: those of its epoch and later.

    Of files that replace older ones these are not all rows.
    """
    later = []
    for name in log.standing(names):
        bucket, epoch = _place(name)
        if epoch >= from_epochs[bucket]:
            later.append(name)
    return _Source(table, _paths(lake, later), tuple(from_epochs))


def _place(name: str) -> tuple[int, int]:
    """The bucket and the epoch of a file of the log, by its name."""
    match = _FILE.search(name)
    if match is None:
        raise CorruptLake(name, "is named by a publication and is no file of a bucket's log")
    return int(match[1]), int(match[2])


def _publication_query(manifests: list[Manifest]) -> str:
    """By cycle and bucket whether it is published whole. A few rows: thousands would take long to bind, each time."""
    kind = "STRUCT(cycle DATE, published_at TIMESTAMPTZ, complete USMALLINT[], failed USMALLINT[])[]"
    listed = ", ".join(
        f"{{'cycle': '{m.cycle}', 'published_at': '{m.created_at}', "
        f"'complete': {sorted(set(m.buckets) - set(m.failed))}, 'failed': {sorted(m.failed)}}}"
        for m in manifests
    )
    rows = f"SELECT unnest([{listed}]::{kind}) AS p"
    return (
        f"WITH published AS ({rows}) "
        "SELECT p.cycle, unnest(p.complete) AS bucket, true AS complete, p.published_at FROM published UNION ALL "
        "SELECT p.cycle, unnest(p.failed), false, p.published_at FROM published"
    )


def _named(manifests: list[Manifest], table: str) -> list[str]:
    return [name for m in manifests for files in m.buckets.values() for name in files.files.get(table, [])]


def _paths(lake: Lake, names: Iterable[str]) -> list[str]:
    return [lake.files.path(f"{lake.layout}/{name}") for name in names]


def _view(con: duckdb.DuckDBPyConnection, name: str, text: str) -> None:
    con.execute(f'CREATE OR REPLACE VIEW "{name}" AS {text}')


def view_names(con: duckdb.DuckDBPyConnection) -> Iterator[str]:
    """The names of the views that a reader's connection has."""
    for (name,) in con.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1").fetchall():
        yield name
