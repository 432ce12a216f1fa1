"""Tests of the stages."""

import pytest

from crawler.store import files


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """What survives a power cut is asked in tests/store/test_files.py; the others need not pay for it."""
    monkeypatch.setattr(files, "_sync", lambda path: None)
