"""The lake: its metadata, its partitions' owners, and which files of a partition count.

Everything else in this package works through a `Lake`. It carries the settings and the clock that were read at the
edge, so a stage needs nothing but a lake and plain values.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import duckdb

from crawler.core.clock import Clock
from crawler.core.config import Settings
from crawler.core.cycle import Cycle, resolve_cycle
from crawler.core.errors import CorruptLake, NoLake, OtherLake, SchemaMismatch
from crawler.store import log, query
from crawler.store.files import Files
from crawler.store.lease import Guard, KernelLock, Lease, Owner, Settled, acquire, newest_lease, this_process
from crawler.store.log import LogFile

SCHEMA_VERSION = 4
REWRITING = "upkeep"
_META = "meta"


@dataclass(frozen=True, slots=True)
class Metadata:
    """What is fixed for a lake: its schema version, its layout number, its buckets and its first cycle."""

    schema_version: int
    layout: int
    buckets: int
    first_cycle: date

    def to_json(self) -> bytes:
        fields = {
            "schema_version": self.schema_version,
            "layout": self.layout,
            "buckets": self.buckets,
            "first_cycle": self.first_cycle.isoformat(),
        }
        return json.dumps(fields).encode()


class Lake:
    """An open lake. Safe to use from several processes; a connection belongs to one thread."""

    def __init__(self, files: Files, metadata: Metadata, settings: Settings, clock: Clock, guard: Guard) -> None:
        self.files = files
        self.metadata = metadata
        self.settings = settings
        self.clock = clock
        self.guard = guard
        self.buckets = metadata.buckets
        self.layout = f"layout={metadata.layout}"

    @classmethod
    def open(cls, settings: Settings, clock: Clock) -> "Lake":
        """The lake that the settings name. Raises NoLake, OtherLake, SchemaMismatch, CorruptLake."""
        files = Files(settings.lake.root)
        metadata = read_metadata(files)
        if metadata.schema_version != SCHEMA_VERSION:
            raise SchemaMismatch(files.root, metadata.schema_version, SCHEMA_VERSION)
        if metadata.buckets != settings.lake.buckets:
            raise OtherLake(files.root, "lake.buckets", metadata.buckets, settings.lake.buckets)
        return cls(files, metadata, settings, clock, KernelLock(Path(files.root, "locks")))

    @classmethod
    def create(cls, settings: Settings, clock: Clock) -> "Lake":
        """Make the lake that the settings name, or open it if it is there already."""
        files = Files(settings.lake.root)
        metadata = Metadata(SCHEMA_VERSION, 1, settings.lake.buckets, clock.now().date())
        files.create_bytes(metadata.to_json(), f"{_META}/0001.json")
        return cls.open(settings, clock)

    def cycle(self, text: str) -> Cycle:
        """The cycle that `text` names. Raises BadCycle if this lake cannot run it."""
        return resolve_cycle(text, first=self.metadata.first_cycle, now=self.clock.now())

    def connect(self) -> duckdb.DuckDBPyConnection:
        """A fresh connection to this process's engine."""
        return query.connect(self.settings.engine)

    # Ownership

    @contextmanager
    def own(self, kind: str, number: int, cycle: Cycle) -> Iterator[Owner]:
        """Own a partition (`kind` is bucket or shard) while the block runs, to write rows of `cycle`.

        The release at the end is part of the work: it raises LeaseLost if somebody took over. After an error in the
        block nothing is released, so the next owner seals what counts. Raises BucketTaken.
        """
        partition = partition_name(kind, number)
        holder = this_process()
        let_go = self.guard.hold(partition, holder)
        try:
            owner = acquire(self.files, self.layout, partition, str(cycle), holder, self._last_sequence)
            yield owner
            owner.release()
        finally:
            let_go()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the lock of what writes files of the log anew, while the block runs. Raises BucketTaken."""
        let_go = self.guard.hold(REWRITING, this_process())
        try:
            yield
        finally:
            let_go()

    def commit(self, owner: Owner, lead: str, staged: Mapping[str, Path], *, whole: Iterable[str] = ()) -> int:
        """Write one sequence number of `owner`: the files `staged` by table, that of `lead` last.

        A reader sees all of them or none, since the number counts only if the lead's file exists. The tables in
        `whole` replace what the cycle had of them. Returns the sequence number.
        """
        sequence = owner.sequence + 1
        replacing = set(whole)
        for table in [*(table for table in staged if table != lead), lead]:
            file = LogFile(table, owner.partition, str(owner.cycle), owner.epoch, sequence, table in replacing)
            self.files.put(staged[table], f"{self.layout}/{file.name}")
        owner.sequence = sequence
        return sequence

    def settled(self, kind: str, number: int) -> Settled:
        """What of a partition's past is fixed now."""
        return newest_lease(self.files, self.layout, partition_name(kind, number)).settled

    def ownership(self, kind: str, number: int) -> tuple[Lease, str | None]:
        """The newest lease of a partition, and who holds it alive: nobody after a release, or if its owner is dead."""
        partition = partition_name(kind, number)
        while True:
            lease = newest_lease(self.files, self.layout, partition)
            holder = self.guard.holder(partition)
            # An owner takes the lock before its lease and releases in the other order; look again if it did just now.
            if lease.holder is None or holder is not None or newest_lease(self.files, self.layout, partition) == lease:
                return lease, holder

    def written(self, kind: str, number: int, lease: Lease | None = None) -> Settled:
        """What of a partition counts so far, the files of an epoch that goes on included: its next owner seals them.

        lease: the newest one, if the caller has it.
        """
        partition = partition_name(kind, number)
        lease = lease or newest_lease(self.files, self.layout, partition)
        last = self._last_sequence(partition, lease) if lease.holder is not None else 0
        return Settled(lease.epoch, {**lease.settled.sealed, lease.epoch: last}) if last else lease.settled

    def _last_sequence(self, partition: str, lease: Lease) -> int:
        kind = partition.partition("=")[0]
        found = [
            file.sequence
            for lead in log.LEADS[kind]
            for file in log.list_cycle(self.files, self.layout, lead, partition, str(lease.cycle))
            if file.epoch == lease.epoch
        ]
        return log.dense_last(found)

    # Reading

    def current(
        self, table: str, kind: str, number: int, settled: Settled, cycle: Cycle | None = None
    ) -> list[LogFile]:
        """The files of a table and partition that count by `settled`, of one cycle or of all, oldest first.

        Of one cycle: those of its own folder, without what upkeep has merged (see `merged`).
        """
        partition = partition_name(kind, number)
        if cycle is None:
            found = log.list_table(self.files, self.layout, table, partition)
        else:
            days = (str(cycle), log.month_of(str(cycle)))
            found = [file for day in days for file in log.list_cycle(self.files, self.layout, table, partition, day)]
        counting = (file for file in log.counting(found, settled) if cycle is None or file.cycle == str(cycle))
        return sorted(counting, key=lambda file: file.place)

    def merged(self, table: str, kind: str, number: int, settled: Settled, cycle: Cycle) -> list[LogFile]:
        """The file that upkeep has merged the month of `cycle` into, if it has; rows of other cycles are in it."""
        month = log.month_of(str(cycle))
        return log.counting(
            log.list_cycle(self.files, self.layout, table, partition_name(kind, number), month), settled
        )

    def path(self, file: LogFile) -> str:
        """Where DuckDB finds `file`."""
        return self.files.path(f"{self.layout}/{file.name}")

    def paths(self, files: Iterable[LogFile]) -> list[str]:
        """Where DuckDB finds `files`."""
        return [self.path(file) for file in files]


def partition_name(kind: str, number: int) -> str:
    """The folder name of a partition, e.g. `bucket=0003`."""
    return f"{kind}={number:04d}"


def read_metadata(files: Files) -> Metadata:
    """The newest metadata of the lake, of whatever schema version. Raises NoLake, CorruptLake."""
    versions = [name for name in files.names(_META) if name.endswith(".json")]
    if not versions:
        raise NoLake(files.root)
    name = f"{_META}/{versions[-1]}"
    try:
        fields = json.loads(files.read(name))
        return Metadata(
            int(fields["schema_version"]),
            int(fields["layout"]),
            int(fields["buckets"]),
            date.fromisoformat(fields["first_cycle"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise CorruptLake(files.path(name), f"is no lake metadata: {error}") from error
