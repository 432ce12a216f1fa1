"""Names of the log's files, and which of them count.

A file is `<layout>/<table>/<partition>/cycle=YYYY-MM-DD/eNNNNNNNN-SSSS[-whole][-rR].parquet`. Epoch and sequence
number say who wrote it and in which order; `-whole` says that it replaces every older file of its table, partition
and cycle; `-rR` is revision R of that very file, without what a purge took out. Pure rules on names: reads listings,
writes nothing.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from crawler.store.files import Files
from crawler.store.lease import Settled

_NAME = re.compile(r"e(\d{8})-(\d{4,})(-whole)?(?:-r(\d+))?\.parquet")
_REVISION = re.compile(r"-r\d+\.parquet$")

# The table whose file is written last, so that a sequence number counts exactly if this file exists.
LEADS = {"bucket": ("observation", "url"), "shard": ("copy",)}


@dataclass(frozen=True, slots=True)
class LogFile:
    """One file of the log."""

    table: str
    partition: str
    cycle: str
    epoch: int
    sequence: int
    whole: bool
    revision: int = 0

    @property
    def name(self) -> str:
        suffix = ("-whole" if self.whole else "") + (f"-r{self.revision}" if self.revision else "")
        return f"{self.table}/{self.partition}/cycle={self.cycle}/e{self.epoch:08d}-{self.sequence:04d}{suffix}.parquet"

    @property
    def first(self) -> "LogFile":
        """The file as it was first written, which stands for all its revisions."""
        return replace(self, revision=0)


def first_name(name: str) -> str:
    """The name that the file `name` had as it was first written."""
    return _REVISION.sub(".parquet", name)


def list_cycle(files: Files, layout: str, table: str, partition: str, cycle: str) -> list[LogFile]:
    """The files of one table, partition and cycle, void ones included, oldest first."""
    found = []
    for name in files.names(f"{layout}/{table}/{partition}/cycle={cycle}"):
        match = _NAME.fullmatch(name)
        if match:
            epoch, sequence, whole, revision = match.groups()
            found.append(LogFile(table, partition, cycle, int(epoch), int(sequence), bool(whole), int(revision or 0)))
    return sorted(found, key=lambda file: (file.epoch, file.sequence, file.revision))


def list_table(files: Files, layout: str, table: str, partition: str) -> list[LogFile]:
    """The files of one table and partition over all cycles, void ones included."""
    found = []
    for folder in files.folders(f"{layout}/{table}/{partition}"):
        if folder.startswith("cycle="):
            found += list_cycle(files, layout, table, partition, folder.removeprefix("cycle="))
    return found


def counting(found: Iterable[LogFile], settled: Settled) -> list[LogFile]:
    """Those of `found` that count by `settled`: newest revisions that no newer whole file of the cycle replaces."""
    valid = newest_revisions(file for file in found if settled.counts(file.epoch, file.sequence))
    newest: dict[tuple[str, str, str], tuple[int, int]] = {}
    for file in valid:
        if file.whole:
            key = (file.table, file.partition, file.cycle)
            newest[key] = max(newest.get(key, (0, 0)), (file.epoch, file.sequence))
    return [
        file
        for file in valid
        if (file.epoch, file.sequence) >= newest.get((file.table, file.partition, file.cycle), (0, 0))
    ]


def newest_revisions(found: Iterable[LogFile]) -> list[LogFile]:
    """Of each file the newest revision, in the order of `found`."""
    newest: dict[LogFile, LogFile] = {}
    for file in found:
        if file.revision >= newest.get(file.first, file).revision:
            newest[file.first] = file
    return list(newest.values())


def dense_last(sequences: Iterable[int]) -> int:
    """The last of 1, 2, 3, ... without a gap in `sequences`; 0 if 1 is missing."""
    present = set(sequences)
    last = 0
    while last + 1 in present:
        last += 1
    return last
