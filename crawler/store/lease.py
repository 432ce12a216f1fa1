"""Ownership of a partition: one owner at a time, and one answer for ever to which of its files count.

A partition (`bucket=0003`, `shard=0003`) has numbered epochs. Epoch N begins when `lease/<partition>/eN.json` is
created, which only one can do. That file seals epoch N-1: it names the last sequence number of N-1 that counts, so
files that a stopped owner writes later are void for everyone. An owner releases by creating N+1 for nobody; if that
is refused, somebody took over and the task has failed.

Reads and writes only lease files and lock files. Never deletes one.
"""

import fcntl
import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from crawler.core.errors import BucketTaken, CorruptLake, LeaseLost
from crawler.store.files import Files

LEASES = "lease"
_TRIES = 3
_LOOK_SECONDS = 0.005


@dataclass(frozen=True, slots=True)
class Settled:
    """What of a partition's past is fixed: epochs up to `last`, each with its last sequence number that counts."""

    last: int
    sealed: dict[int, int] = field(default_factory=dict)

    def counts(self, epoch: int, sequence: int) -> bool:
        """Whether a file of that epoch and sequence number counts, for everyone and for ever."""
        return epoch <= self.last and sequence <= self.sealed.get(epoch, 0)


@dataclass(frozen=True, slots=True)
class Lease:
    """One lease file. `holder` is None if it was written by a release."""

    epoch: int
    holder: str | None
    cycle: str | None
    settled: Settled

    def to_json(self) -> bytes:
        history = sorted(self.settled.sealed.items())
        return json.dumps(
            {
                "epoch": self.epoch,
                "holder": self.holder,
                "cycle": self.cycle,
                "sealed": self.settled.sealed.get(self.epoch - 1, 0),
                "history": history,
            }
        ).encode()

    @classmethod
    def from_json(cls, content: bytes, path: str) -> "Lease":
        try:
            fields = json.loads(content)
            sealed = {int(epoch): int(sequence) for epoch, sequence in fields["history"]}
            epoch = int(fields["epoch"])
            return cls(epoch, fields["holder"], fields["cycle"], Settled(epoch - 1, sealed))
        except (ValueError, KeyError, TypeError) as error:
            raise CorruptLake(path, f"is no lease file: {error}") from error


NO_LEASE = Lease(0, None, None, Settled(0))  # there is no epoch 0, so it is settled from the start


def newest_lease(files: Files, layout: str, partition: str) -> Lease:
    """The newest lease of `partition`; NO_LEASE if it never had one."""
    folder = f"{layout}/{LEASES}/{partition}"
    names = [name for name in files.names(folder) if name.startswith("e")]
    if not names:
        return NO_LEASE
    path = f"{folder}/{names[-1]}"
    return Lease.from_json(files.read(path), path)


class Guard(Protocol):
    """What keeps a partition from being taken from a live owner."""

    def hold(self, partition: str, holder: str) -> Callable[[], None]:
        """Hold `partition` for this process; returns the call that lets go. Raises BucketTaken."""

    def holder(self, partition: str) -> str | None:
        """Who holds `partition` at this moment; None if nobody does."""


class KernelLock:
    """The guard of a local lake: a kernel lock that is held as long as the owner lives, stopped or not.

    A dead owner's partition is free at once. Children do not inherit it: the descriptor is closed in a fork and
    at exec.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def hold(self, partition: str, holder: str) -> Callable[[], None]:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{partition}.lock"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        if not _lock(descriptor, tries=_TRIES):
            found = _read_holder(descriptor)
            os.close(descriptor)
            raise BucketTaken(partition, found)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, holder.encode(), 0)
        _HELD.add(descriptor)

        def let_go() -> None:
            if descriptor in _HELD:  # a forked child that ends its copy of the block has closed it already
                _HELD.discard(descriptor)
                fcntl.flock(descriptor, fcntl.LOCK_UN)  # also for a child that is just being forked
                os.close(descriptor)

        return let_go

    def holder(self, partition: str) -> str | None:
        try:
            descriptor = os.open(self.folder / f"{partition}.lock", os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        try:
            return None if _lock(descriptor, fcntl.LOCK_SH) else _read_holder(descriptor)
        finally:
            os.close(descriptor)


def _lock(descriptor: int, kind: int = fcntl.LOCK_EX, *, tries: int = 1) -> bool:
    """Lock without waiting for an owner; whoever looks who holds it is waited for, since that ends at once."""
    for left in reversed(range(tries)):
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if left:
                time.sleep(_LOOK_SECONDS)
        else:
            return True
    return False


def _read_holder(descriptor: int) -> str:
    return os.pread(descriptor, 200, 0).decode(errors="replace") or "a process that is just starting"


_HELD: set[int] = set()


def _forget_held_locks() -> None:
    for descriptor in _HELD:
        os.close(descriptor)
    _HELD.clear()


os.register_at_fork(after_in_child=_forget_held_locks)


class Owner:
    """The owner of a partition during one epoch, from `acquire` to `release`.

    epoch: its number. sequence: the last sequence number that it wrote. taken_over: whether the owner before it did
    not release, so that what it did last is unknown.
    """

    def __init__(self, files: Files, layout: str, partition: str, lease: Lease, taken_over: bool) -> None:
        self.files = files
        self.layout = layout
        self.partition = partition
        self.epoch = lease.epoch
        self.settled = lease.settled
        self.cycle = lease.cycle
        self.taken_over = taken_over
        self.sequence = 0

    @property
    def written(self) -> Settled:
        """What counts for the owner itself: the settled past and its own files so far."""
        return Settled(self.epoch, {**self.settled.sealed, self.epoch: self.sequence})

    def release(self) -> None:
        """End the epoch for nobody. Raises LeaseLost if somebody took over: then what we wrote may not count."""
        sealed = dict(self.settled.sealed)
        if self.sequence:
            sealed[self.epoch] = self.sequence
        lease = Lease(self.epoch + 1, None, None, Settled(self.epoch, sealed))
        if not create_lease(self.files, self.layout, self.partition, lease):
            raise LeaseLost(self.partition, self.epoch)


def acquire(
    files: Files,
    layout: str,
    partition: str,
    cycle: str,
    holder: str,
    last_sequence: Callable[[str, Lease], int],
) -> Owner:
    """Become the owner of `partition` in a new epoch, to write rows of `cycle`.

    `last_sequence(partition, lease)` lists the files of that lease's epoch and returns the last one that counts.
    Raises LeaseLost if another taker was faster.
    """
    before = newest_lease(files, layout, partition)
    sealed = dict(before.settled.sealed)
    if before.holder is not None:
        last = last_sequence(partition, before)
        if last:
            sealed[before.epoch] = last
    lease = Lease(before.epoch + 1, holder, cycle, Settled(before.epoch, sealed))
    if not create_lease(files, layout, partition, lease):
        raise LeaseLost(partition, lease.epoch)
    return Owner(files, layout, partition, lease, taken_over=before.holder is not None)


def create_lease(files: Files, layout: str, partition: str, lease: Lease) -> bool:
    """Create the file of `lease` unless that epoch has begun; says whether it was ours."""
    return files.create_bytes(lease.to_json(), f"{layout}/{LEASES}/{partition}/e{lease.epoch:08d}.json")


def this_process() -> str:
    """Who we are in a lease: machine, process, and a token that no other holder has."""
    return f"{socket.gethostname()} pid {os.getpid()} thread {threading.get_native_id()} {uuid.uuid4().hex[:8]}"
