"""The lake's side of one fetch task: what is left to ask for, and where the results go.

Reads the plan, the admission, the holds and the log of its bucket; writes segments and, at the end, whole files. Knows
nothing of the network.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from functools import cached_property
from itertools import chain
from pathlib import Path

import duckdb
import pyarrow as pa

from crawler.core.columns import FoundLinks
from crawler.core.cycle import Cycle
from crawler.core.errors import NotPlanned
from crawler.core.model import HostState, RobotsAnswer, RobotsCopy, Row, Target, Want
from crawler.store import query, tables
from crawler.store.admission import Admission, read_admission
from crawler.store.frontier import Frontier, open_frontier
from crawler.store.holds import held_hosts
from crawler.store.lake import Lake
from crawler.store.lease import Owner
from crawler.store.links import links_table
from crawler.store.plans import PlanFile, read_plan
from crawler.store.purges import keep_purged, purged_hosts
from crawler.store.recent import recent_paths
from crawler.store.state import checkpoint_epochs, checkpoint_name
from crawler.store.todo import Todo
from crawler.store.wants import leave_want, newest_answer, recent_wants

LEAD = "observation"
_GROUP_ROWS = 16_384
_FOLD_ROWS = 50_000  # links that are sorted at once; some 20 MB
FOLDED = ("observation", "link", "robots", "host_state")


class FetchLedger:
    """Opened by the owner of a bucket for the owner's cycle. Raises NotPlanned without plan or admission.

    deadline: the instant after which what is left stays open. taken_over: whether the owner before did not release,
    so that its last requests are unknown. shared_addresses: by address, how many buckets have hosts there.
    """

    def __init__(self, lake: Lake, owner: Owner) -> None:
        self.lake = lake
        self.owner = owner
        self.cycle = Cycle.parse(str(owner.cycle))
        self.bucket = int(owner.partition.partition("=")[2])
        plan = read_plan(lake, self.cycle, self.bucket)
        admission = read_admission(lake, self.cycle)
        if plan is None or admission is None:
            raise NotPlanned("fetch", self.cycle, "the plan" if plan is None else "the admission")
        self._plan: PlanFile = plan
        self._admission: Admission = admission
        self._con = lake.connect()
        self._wants: dict[str, Want] = {}
        self.taken_over = owner.taken_over
        self.shared_addresses = admission.shared_addresses(self.bucket)

    @cached_property
    def deadline(self) -> datetime:
        window = timedelta(hours=self.lake.settings.fetch.window_hours)
        start = max(self._plan.planned_at, self.cycle.start)
        if start < self.cycle.end:
            return min(start + window, self.cycle.end)
        return start + window

    def todo(self) -> Sequence[Target]:
        """The admitted rows without a valid observation since the plan, of whatever cycle.

        A host's stand together, best first; the hosts in the order of their best.
        """
        query.view_files(self._con, "plan_files", "plan", self._plan.paths)
        self._view_log(self._con, "observed", "observation", self._plan.epoch + 1)
        keep_purged(self.lake, self._con)
        parameters = {
            "cutoff_priority": self._admission.cutoff_priority,
            "cutoff_url_key": self._admission.cutoff_url_key,
            "new_cutoff_priority": self._admission.new_cutoff_priority,
            "new_cutoff_url_key": self._admission.new_cutoff_url_key,
            "planned_epoch": self._plan.epoch,
        }
        columns = query.arrow(self._con, "fetch/todo", parameters).read_all()
        self._con.register("planned", columns.select(["host"]))
        query.materialise(self._con, "todo", "fetch/todo_hosts")  # what `hosts` and `robots` look at
        self._con.unregister("planned")
        return Todo(columns)

    def frontier(self) -> Frontier | None:
        """What may be fetched of what this fetch finds; None if the budget has nothing left for it."""
        room = min(self._admission.unspent(self.bucket), self.lake.settings.fetch.discover_urls)
        if not room:
            return None
        con = self.lake.connect()
        files = self.lake.current("observation", "bucket", self.bucket, self.owner.written, self.cycle)
        query.view_files(con, "cycle_observation", "observation", self.lake.paths(files))
        ((earlier,),) = query.run(con, "fetch/discovered").fetchall()
        if earlier >= room:
            return None
        epoch = self._view_base(con, "page", "page")
        self._view_log(con, "tail_url", "url", epoch)
        self._view_log(con, "tail_observation", "observation", epoch)
        return open_frontier(self.lake, con, self.bucket, epoch, room - earlier)

    def hosts(self) -> dict[str, HostState]:
        """What is known of the hosts in `todo`, by host; call `todo` first."""
        return self._hosts(self._con)

    def hosts_of(self, hosts: Collection[str]) -> dict[str, HostState]:
        """As `hosts`, for hosts of the bucket that are not in `todo`. Any thread may ask."""
        con = self.lake.connect()
        query.keep_rows(con, "todo", "host VARCHAR", [(host,) for host in sorted(hosts)])
        return self._hosts(con)

    def _hosts(self, con: duckdb.DuckDBPyConnection) -> dict[str, HostState]:
        epoch = self._view_base(con, "host", "host_state")
        self._view_log(con, "tail_host", "host_state", epoch)
        since = self.lake.clock.now() - timedelta(days=1)
        self._view_recent(con, "recent_observation", "observation", since)
        self._view_recent(con, "recent_robots", "robots", since)
        found = query.rows(query.run(con, "fetch/hosts", {"since": since}))
        return {row["host"]: HostState(*(row[field.name] for field in fields(HostState))) for row in found}

    def robots(self) -> dict[str, RobotsCopy]:
        """The newest robots.txt decisions for the hosts in `todo`, by origin; call `todo` first."""
        return self._robots(self._con)

    def robots_of(self, hosts: Collection[str]) -> dict[str, RobotsCopy]:
        """As `robots`, for hosts of the bucket that are not in `todo`. Any thread may ask."""
        con = self.lake.connect()
        query.keep_rows(con, "todo", "host VARCHAR", [(host,) for host in sorted(hosts)])
        return self._robots(con)

    def _robots(self, con: duckdb.DuckDBPyConnection) -> dict[str, RobotsCopy]:
        epoch = self._view_base(con, "robots", "robots")
        self._view_log(con, "tail_robots", "robots", epoch)
        found = query.rows(query.run(con, "fetch/robots"))
        return {row["origin"]: RobotsCopy(**row) for row in found}

    def want(self, want: Want) -> RobotsAnswer | None:
        """What the owner of another bucket knows of a robots.txt; it is told that we want it. Any thread may ask."""
        leave_want(self.lake, want)
        return newest_answer(self.lake, want)

    def wants(self) -> list[Want]:
        """The robots.txt of hosts of this bucket that others want to know."""
        return recent_wants(self.lake, self.bucket, self._wants)

    def held(self) -> frozenset[str]:
        """The hosts of the bucket that an operator holds or has purged at this moment."""
        return frozenset(held_hosts(self.lake, self.bucket)) | purged_hosts(self.lake, self.bucket)

    def append(self, rows: Mapping[str, Sequence[Row]], links: Sequence[FoundLinks] = ()) -> None:
        """Write one segment: the rows by table, without the columns that say where they belong, and the links."""
        fresh = self._stamped(rows, links)
        staged = {table: self._stage(table, fresh[table]) for table in FOLDED if fresh[table].num_rows or table == LEAD}
        staged |= self._stage_captures(rows)
        self.lake.commit(self.owner, LEAD, staged)

    def finish(self, rows: Mapping[str, Sequence[Row]], links: Sequence[FoundLinks] = (), *, complete: bool) -> None:
        """Write the last segment's rows together with all rows of the cycle so far, one file a table.

        complete: whether nothing is left to do, be it that all was asked for or that the deadline passed. If not, we
        were stopped and have no time: only the observations, which say so, become one file; the rest is one more
        segment, which the next owner folds.
        """
        fresh = self._stamped(rows, links)
        staged: dict[str, Path] = {}
        replaced = []
        for table in FOLDED:
            earlier = self.lake.current(table, "bucket", self.bucket, self.owner.written, self.cycle)
            if table != LEAD and not complete:
                if fresh[table].num_rows:
                    staged[table] = self._stage(table, fresh[table])
                continue
            if table != LEAD and not earlier and not fresh[table].num_rows:
                continue
            metadata = {"complete": str(complete).lower()} if table == LEAD else {}
            staged[table] = self._fold(table, self.lake.paths(earlier), fresh[table], metadata)
            replaced.append(table)
        staged |= self._stage_captures(rows)
        if found := rows.get("discovery"):
            staged["discovery"] = self._stage("discovery", tables.rows_table("discovery", found, self._stamp()))
        self.lake.commit(self.owner, LEAD, staged, whole=replaced)

    def _stamped(self, rows: Mapping[str, Sequence[Row]], links: Sequence[FoundLinks]) -> dict[str, pa.Table]:
        """The tables of `rows` and `links` but the captures, with the columns that say where they belong."""
        stamp = self._stamp()
        fresh = {table: tables.rows_table(table, rows.get(table, ()), stamp) for table in FOLDED}
        if links:
            fresh["link"] = pa.concat_tables([fresh["link"], links_table(links, stamp)])
        return fresh

    def _stamp(self) -> Row:
        return {
            "cycle": self.cycle.day,
            "bucket": self.bucket,
            "epoch": self.owner.epoch,
            "sequence": self.owner.sequence + 1,
        }

    def _stage_captures(self, rows: Mapping[str, Sequence[Row]]) -> dict[str, Path]:
        captures = rows.get("capture")
        if not captures:
            return {}
        staged = self.lake.files.staged(".parquet")
        tables.write_rows(staged, "capture", captures, stamp=self._stamp())
        return {"capture": staged}

    def _stage(self, table: str, fresh: pa.Table) -> Path:
        if table == "link":
            fresh = fresh.sort_by([("target_host_key", "ascending"), ("target_url_key", "ascending")])
        staged = self.lake.files.staged(".parquet")
        tables.write_table(staged, fresh, group_rows=_GROUP_ROWS)
        return staged

    def _fold(self, table: str, earlier: Sequence[str], fresh: pa.Table, metadata: Mapping[str, str]) -> Path:
        staged = self.lake.files.staged(".parquet")
        query.view_files(self._con, "earlier", table, earlier)
        self._con.register("fresh", fresh)
        # There are fifty times as many links as pages: they are sorted one range after another.
        spans = [tables.EVERY_KEY]
        if table == "link":
            spans = tables.spans(query.run(self._con, "fetch/link_hosts").fetchall(), _FOLD_ROWS)
        parts = (
            query.arrow(self._con, f"fetch/fold_{table}", {"low_key": low, "high_key": high}) for low, high in spans
        )
        tables.write_result(staged, table, chain.from_iterable(parts), metadata)
        self._con.unregister("fresh")
        return staged

    def _view_log(self, con: duckdb.DuckDBPyConnection, view: str, table: str, from_epoch: int) -> None:
        files = self.lake.current(table, "bucket", self.bucket, self.owner.written)
        query.view_files(con, view, table, self.lake.paths(file for file in files if file.epoch >= from_epoch))

    def _view_recent(self, con: duckdb.DuckDBPyConnection, view: str, table: str, since: datetime) -> None:
        paths = recent_paths(self.lake, table, self.bucket, self.owner.written, since)
        query.view_files(con, view, table, paths)

    def _view_base(self, con: duckdb.DuckDBPyConnection, part: str, table: str) -> int:
        """Make the view of one part of the newest checkpoint; returns its epoch, 0 without one."""
        epochs = checkpoint_epochs(self.lake, self.bucket)
        names = [checkpoint_name(self.lake, self.bucket, epochs[-1], part)] if epochs else []
        query.view_files(con, f"base_{part}", table, [self.lake.files.path(name) for name in names])
        return epochs[-1] if epochs else 0
