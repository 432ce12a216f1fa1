"""File operations of the lake, few and whole: list, read, put, create if absent, delete.

Owns durability: a file appears under its name complete or not at all, and survives a crash once the call returns.
Knows nothing of tables, leases or cycles.
"""

import os
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import fsspec

from crawler.core.errors import BadSettings

LEFTOVER_SECONDS = 3600.0
"""A staged file that was not written to for so long has no owner any more."""


class Files:
    """The files below one root folder, by paths relative to it with `/` between parts."""

    def __init__(self, root: str) -> None:
        self._fs, self.root = fsspec.core.url_to_fs(root, **_no_cache(root))
        if self._fs.protocol not in ("file", ("file", "local")):
            raise BadSettings(f"lake.root = {root!r}", "only local folders can hold a lake yet", "Name a folder")

    def path(self, name: str) -> str:
        """Where DuckDB finds `name`."""
        return f"{self.root}/{name}"

    def names(self, folder: str) -> list[str]:
        """The files directly in `folder`, sorted; none if it does not exist. Staged files are left out."""
        try:
            entries = os.scandir(self.path(folder))
        except FileNotFoundError:
            return []
        with entries:
            return sorted(entry.name for entry in entries if entry.is_file() and not entry.name.startswith("."))

    def folders(self, folder: str) -> list[str]:
        """The folders directly in `folder`, sorted; none if it does not exist."""
        try:
            entries = os.scandir(self.path(folder))
        except FileNotFoundError:
            return []
        with entries:
            return sorted(entry.name for entry in entries if entry.is_dir())

    def read(self, name: str) -> bytes:
        """All bytes of `name`. Raises FileNotFoundError."""
        return bytes(self._fs.cat_file(self.path(name)))

    def exists(self, name: str) -> bool:
        """Whether there is a file `name`."""
        return os.path.isfile(self.path(name))

    def all_names(self) -> Iterator[str]:
        """Every file below the root, staged ones included, in no order."""
        for folder, _, names in os.walk(self.root):
            inside = os.path.relpath(folder, self.root)
            for name in names:
                yield name if inside == "." else f"{inside}/{name}"

    def size(self, name: str) -> int:
        """Bytes of `name`; 0 if it does not exist."""
        try:
            return os.stat(self.path(name)).st_size
        except FileNotFoundError:
            return 0

    def changed_at(self, name: str) -> float:
        """When `name` was last written, by the machine's clock, in seconds since 1970; now if it is gone."""
        try:
            return os.stat(self.path(name)).st_mtime
        except FileNotFoundError:
            return time.time()

    def free_bytes(self) -> int:
        """What the lake's disk has room for."""
        return shutil.disk_usage(self.root).free

    def staged(self, suffix: str) -> Path:
        """A fresh path on the lake's own file system to write a file at before `put` or `create`."""
        folder = Path(self.root, "staging")
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f".{uuid.uuid4().hex}{suffix}"

    def leftovers(self, seconds: float) -> list[str]:
        """The staged files that nobody has written to for so many seconds of the machine's time."""
        entries = os.scandir(self.path("staging")) if os.path.isdir(self.path("staging")) else ()
        staged = (f"staging/{entry.name}" for entry in entries if entry.name.startswith("."))
        return sorted(name for name in staged if time.time() - self.changed_at(name) > seconds)

    def put(self, staged: Path, name: str) -> None:
        """Give the finished file `staged` its name, whole and durable. A name is bound to its bytes for ever."""
        target = self._ready(staged, name)
        os.replace(staged, target)
        _sync(target.parent)

    def create(self, staged: Path, name: str) -> bool:
        """Like `put`, but only if nothing has the name yet; says whether it was ours. `staged` is used up."""
        target = self._ready(staged, name)
        try:
            os.link(staged, target)
        except FileExistsError:
            return False
        finally:
            staged.unlink()
        _sync(target.parent)
        return True

    def put_bytes(self, content: bytes, name: str) -> None:
        """`put` of `content`."""
        self.put(self._stage(content), name)

    def create_bytes(self, content: bytes, name: str) -> bool:
        """`create` of `content`."""
        return self.create(self._stage(content), name)

    def overwrite(self, content: bytes, name: str) -> None:
        """Give `name` other bytes, whole at each moment but not durable: for what is of no use after a crash."""
        staged, target = self.staged(".bytes"), Path(self.path(name))
        staged.write_bytes(content)
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(staged, target)

    def delete(self, name: str) -> None:
        """Remove `name`. Raises FileNotFoundError."""
        os.unlink(self.path(name))

    def remove_folder(self, name: str) -> None:
        """Remove the folder `name` if nothing is in it."""
        with suppress(OSError):  # not empty, or gone
            os.rmdir(self.path(name))

    def _stage(self, content: bytes) -> Path:
        staged = self.staged(".bytes")
        staged.write_bytes(content)
        return staged

    def _ready(self, staged: Path, name: str) -> Path:
        _sync(staged)
        target = Path(self.path(name))
        if not target.parent.is_dir():
            _make_folders(target.parent)
        return target


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _make_folders(folder: Path) -> None:
    """Make `folder` and its parents so that their names survive a crash too."""
    missing = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        each.mkdir(exist_ok=True)
        _sync(each.parent)


def _no_cache(root: str) -> dict[str, object]:
    return {"use_listings_cache": False} if root.startswith("s3://") else {}
