"""Tests of the store."""

import pytest

from crawler.store import files


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only test_files.py asks whether files survive a power cut; the others need not pay for it."""
    monkeypatch.setattr(files, "_sync", lambda path: None)
