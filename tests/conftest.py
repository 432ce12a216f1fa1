"""The command `recrawl`, run as its user does."""

import sys
from pathlib import Path

import pytest

from crawler.cli import main
from tests.command import Ended, Recrawl


@pytest.fixture
def recrawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Recrawl:
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RECRAWL_SETTINGS", raising=False)

    def run(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["recrawl", *arguments])
        try:
            main()
            code = 0
        except SystemExit as exit_:
            code = int(exit_.code or 0)
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    return run
