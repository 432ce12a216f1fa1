"""Documents do not lag: generated pages are current, links lead somewhere, named commands and words exist."""

import re
from pathlib import Path

import pytest
import typer.main

from crawler.cli import app
from tools.docs import DOCS, pages

ROOT = DOCS.parent
WRITTEN = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
TARGETS = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("name", sorted(pages()))
def test_a_generated_page_is_current(name: str) -> None:
    assert (DOCS / name).read_text() == pages()[name], "run `make docs`"


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_lead_somewhere(path: Path) -> None:
    targets = re.findall(r"\]\((?!https?://)([^)#]+)", path.read_text())
    assert [target for target in targets if not (path.parent / target).exists()] == []


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_in_documents_exist(path: Path) -> None:
    text = path.read_text()
    assert set(re.findall(r"(?:bin/|`)recrawl ([a-z]+)", text)) - set(COMMANDS) == set()
    assert set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE)) - TARGETS == set()


def test_the_makefile_explains_the_targets_that_the_readme_promises() -> None:
    assert {"demo", "test", "check", "up", "down", "cluster", "cluster-down", "docs", "shell"} <= TARGETS


def test_tests_that_the_architecture_names_exist() -> None:
    named = re.findall(r"`(tests/[a-z_/]+\.py)`", (ROOT / "ARCHITECTURE.md").read_text())
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_glossary_says_each_word_once_in_order() -> None:
    words = re.findall(r"^\| \*\*(.+?)\*\* \|", (DOCS / "glossary.md").read_text(), re.MULTILINE)
    assert words == sorted(set(words), key=str.lower)


def test_the_glossary_knows_every_stage_and_table_idea() -> None:
    words = set(re.findall(r"\*\*(.+?)\*\*", (DOCS / "glossary.md").read_text()))
    stages = {"plan", "admit", "fingerprint", "merge", "check", "publish", "seed"}
    tables = {"observation", "capture", "page", "copy"}
    assert (stages | tables) - words == set()


def test_decisions_are_numbered_without_a_gap() -> None:
    numbers = [int(path.name[:4]) for path in sorted((DOCS / "decisions").glob("*.md"))]
    assert numbers == list(range(len(numbers)))
