"""Files of a lake appear whole, once, and survive a power cut as soon as the call returns."""

import os
import threading
from pathlib import Path

import pytest

from crawler.core.errors import BadSettings
from crawler.store import files as files_module
from crawler.store.files import Files

SYNC = files_module._sync  # before conftest.py takes it away


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(str(tmp_path / "lake"))


def test_of_many_who_create_one_name_one_wins_and_its_bytes_stay_whole(files: Files) -> None:
    contents = [str(number).encode() * 200_000 for number in range(8)]
    won: list[bytes] = []
    seen: set[bytes] = set()
    begin = threading.Barrier(len(contents) + 1)

    def create(content: bytes) -> None:
        begin.wait()
        if files.create_bytes(content, "a/b/name"):
            won.append(content)

    def look() -> None:
        begin.wait()
        while not won:
            if files.exists("a/b/name"):
                seen.add(files.read("a/b/name"))

    threads = [threading.Thread(target=create, args=[content]) for content in contents]
    threads.append(threading.Thread(target=look))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert files.read("a/b/name") == won[0]
    assert seen <= set(won), "somebody saw a part of it"
    assert os.listdir(files.path("staging")) == [], "the losers left something behind"


def test_a_name_that_is_there_is_not_created_again(files: Files) -> None:
    assert files.create_bytes(b"first", "name")
    assert not files.create_bytes(b"second", "name")
    assert files.read("name") == b"first"


def test_the_same_put_twice_leaves_the_same_file(files: Files) -> None:
    files.put_bytes(b"bytes", "folder/name")
    files.put_bytes(b"bytes", "folder/name")
    assert files.names("folder") == ["name"]
    assert os.listdir(files.path("staging")) == []


@pytest.mark.parametrize("way", ["put_bytes", "create_bytes"])
def test_bytes_are_durable_before_their_name_and_the_name_before_the_call_returns(
    files: Files, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    synced: list[tuple[str, bool]] = []

    def record(path: Path) -> None:
        synced.append((path.name if path.is_dir() else "the bytes", files.exists("new/folder/name")))
        SYNC(path)

    monkeypatch.setattr(files_module, "_sync", record)
    getattr(files, way)(b"bytes", "new/folder/name")
    # The folders that hold a new name are lake (for new), new (for folder) and folder (for name).
    assert synced == [("the bytes", False), ("lake", False), ("new", False), ("folder", True)]


def test_staged_files_and_folders_are_no_names(files: Files) -> None:
    files.put_bytes(b"", "folder/b")
    files.put_bytes(b"", "folder/a")
    files.put_bytes(b"", "folder/deeper/c")
    Path(files.path("folder/.staged")).touch()
    assert files.names("folder") == ["a", "b"]
    assert files.folders("folder") == ["deeper"]


def test_a_folder_that_is_not_there_has_no_names(files: Files) -> None:
    assert files.names("nothing") == []
    assert files.folders("nothing") == []
    assert not files.exists("nothing/name")


def test_reading_or_deleting_what_is_not_there_says_so(files: Files) -> None:
    files.put_bytes(b"", "name")
    files.delete("name")
    for call in (files.read, files.delete):
        with pytest.raises(FileNotFoundError):
            call("name")


def test_only_local_folders_hold_a_lake_yet() -> None:
    with pytest.raises(BadSettings, match="only local folders"):
        Files("memory://lake")
