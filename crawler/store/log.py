"""Names of the log's files, and which of them count.

A file is `<layout>/<table>/<partition>/cycle=YYYY-MM-DD/eNNNNNNNN-SSSS[-whole][-rR].parquet`. Epoch and sequence
number say who wrote it and in which order; `-whole` says that it replaces every older file of its table, partition
and cycle; `-rR` is revision R of that very file, without what a purge took out. A whole file in a month's folder,
`month=YYYY-MM`, is what upkeep has merged: it holds the rows of that month's cycles, has the epoch and sequence of the
last file among them, and replaces them all. Pure rules on names: reads listings, writes nothing.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from crawler.store.files import Files
from crawler.store.lease import Settled

_PATH = re.compile(
    r"(\w+)/((?:bucket|shard)=\d{4})/(?:cycle|month)=([\d-]+)/e(\d{8})-(\d{4,})(-whole)?(?:-r(\d+))?\.parquet"
)
_REVISION = re.compile(r"-r\d+\.parquet$")

_NOTHING = (0, 0)  # before every file
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
        folder = f"{self.table}/{self.partition}/{folder_of(self.cycle)}"
        return f"{folder}/e{self.epoch:08d}-{self.sequence:04d}{suffix}.parquet"

    @property
    def place(self) -> tuple[int, int]:
        """Where it stands in the order of the partition's log."""
        return self.epoch, self.sequence

    @property
    def is_month(self) -> bool:
        """Whether it holds a month's cycles."""
        return self.cycle == month_of(self.cycle)

    @property
    def first(self) -> "LogFile":
        """The file as it was first written, which stands for all its revisions."""
        return replace(self, revision=0)


def month_of(cycle: str) -> str:
    """The month of a cycle, or of a month's folder."""
    return cycle[: len("YYYY-MM")]


def folder_of(cycle: str) -> str:
    """The folder of a cycle, or of a month."""
    return f"{'month' if cycle == month_of(cycle) else 'cycle'}={cycle}"


def parse_name(name: str) -> LogFile | None:
    """The file of the log with that name, relative to the layout; None if it is none."""
    match = _PATH.fullmatch(name)
    if match is None:
        return None
    table, partition, cycle, epoch, sequence, whole, revision = match.groups()
    return LogFile(table, partition, cycle, int(epoch), int(sequence), bool(whole), int(revision or 0))


def first_name(name: str) -> str:
    """The name that the file `name` had as it was first written."""
    return _REVISION.sub(".parquet", name)


def list_cycle(files: Files, layout: str, table: str, partition: str, cycle: str) -> list[LogFile]:
    """The files of one table, partition and cycle, void ones included, oldest first."""
    folder = f"{table}/{partition}/{folder_of(cycle)}"
    parsed = (parse_name(f"{folder}/{name}") for name in files.names(f"{layout}/{folder}"))
    return sorted(filter(None, parsed), key=lambda file: (file.epoch, file.sequence, file.revision))


def list_table(files: Files, layout: str, table: str, partition: str) -> list[LogFile]:
    """The files of one table and partition over all cycles, void ones included."""
    found = []
    for folder in files.folders(f"{layout}/{table}/{partition}"):
        if folder.startswith(("cycle=", "month=")):
            found += list_cycle(files, layout, table, partition, folder.partition("=")[2])
    return found


def counting(found: Iterable[LogFile], settled: Settled) -> list[LogFile]:
    """Those of `found` that count by `settled`: newest revisions that no newer whole file of the cycle replaces.

    To know what a month's file replaces it must be in `found`.
    """
    valid = newest_revisions(file for file in found if settled.counts(file.epoch, file.sequence))
    newest: dict[tuple[str, str, str], tuple[int, int]] = {}
    for file in valid:
        if file.whole:
            key = (file.table, file.partition, file.cycle)
            newest[key] = max(newest.get(key, _NOTHING), file.place)

    def is_replaced(file: LogFile) -> bool:
        if file.place < newest.get((file.table, file.partition, file.cycle), _NOTHING):
            return True
        month = month_of(file.cycle)
        return month != file.cycle and file.place <= newest.get((file.table, file.partition, month), _NOTHING)

    return [file for file in valid if not is_replaced(file)]


def standing(names: Iterable[str]) -> list[str]:
    """Of names that several publications give, sorted, those that stand when some name what others have replaced.

    Publications are renewed one after the other; a month and a day that is in it are the same rows, and so are two
    revisions but for what was taken out.
    """
    distinct = set(names)
    parsed = {file: name for name in distinct if (file := parse_name(name)) is not None}
    newest = newest_revisions(parsed)
    months: dict[tuple[str, str, str], tuple[int, int]] = {}
    for file in newest:
        if file.is_month:
            key = (file.table, file.partition, file.cycle)
            months[key] = max(months.get(key, _NOTHING), file.place)

    def stands(file: LogFile) -> bool:
        place = months.get((file.table, file.partition, month_of(file.cycle)), _NOTHING)
        return file.place > place or (file.is_month and file.place == place)

    return sorted({*distinct.difference(parsed.values()), *(parsed[file] for file in newest if stands(file))})


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
