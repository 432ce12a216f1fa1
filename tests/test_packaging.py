"""What is installed: the declared dependencies are those that are imported, and each has a tested version."""

import ast
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CONSTRAINTS = (ROOT / "constraints.txt").read_text().splitlines()
MODULE_OF = {"ada-url": "ada_url", "charset-normalizer": "charset_normalizer"}
IMPORTED_BY_NAME = {"backports-zstd"}  # the standard library has it from Python 3.14 on


def names(requirements: list[str]) -> set[str]:
    return {re.match(r"[A-Za-z0-9_-]+", requirement)[0] for requirement in requirements}  # type: ignore[index]


def imported(folder: Path) -> set[str]:
    found = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names)


def test_the_library_declares_exactly_what_it_imports() -> None:
    declared = {MODULE_OF.get(name, name) for name in names(PROJECT["dependencies"]) - IMPORTED_BY_NAME}
    assert imported(ROOT / "crawler") - {"crawler"} == declared


def test_every_dependency_has_a_tested_version() -> None:
    wanted = PROJECT["dependencies"] + [one for extra in PROJECT["optional-dependencies"].values() for one in extra]
    assert names(wanted) - {line.partition("==")[0] for line in CONSTRAINTS} == set()


def test_constraints_are_exact_versions_without_addresses_or_paths() -> None:
    odd = [line for line in CONSTRAINTS if not re.fullmatch(r"[a-z0-9.-]+==[0-9a-z.]+( ; [a-z_]+ .*)?", line)]
    assert odd == []
    assert not any("/" in line for line in CONSTRAINTS)
