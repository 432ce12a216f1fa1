"""What tests of the command line say: how a command ended, settings to run it with, and how a refusal reads."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

CONTACT = 'user_agent = "mybot/1.0 (+https://example.org/bot)"'


@dataclass
class Ended:
    code: int
    out: str
    err: str


Recrawl = Callable[..., Ended]


def write_settings(folder: Path, text: str) -> None:
    (folder / "recrawl.toml").write_text(text + "\n")


def is_refused(ended: Ended, *said: str) -> None:
    """A mistake of the operator: exit code 2, nothing on standard output, one line that says what and how."""
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("recrawl: ")
    assert ended.err.count("\n") == 1, ended.err
    for words in said:
        assert words in ended.err
