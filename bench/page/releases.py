"""Two adjacent releases of real documentation, page by page: source releases of PyPI that carry their HTML.

Fetched once with pip into `bench/out/docs`.
"""

import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from crawler.page.decode import decode
from crawler.page.markup import parse
from crawler.page.text import main_text

RELEASES = (
    ("alembic", "1.13.0", "1.13.1"),
    ("alembic", "1.13.1", "1.13.2"),
    ("alembic", "1.13.2", "1.13.3"),
    ("mako", "1.3.5", "1.3.6"),
    ("dogpile.cache", "1.3.2", "1.3.3"),
    ("roundup", "2.3.0", "2.4.0"),
)
_DOCS = Path(__file__).parents[1] / "out" / "docs"
_FOLDERS = frozenset({"doc", "docs"})
_LEAST_BYTES = 256  # copies.min_text_bytes: shorter texts have no fingerprint


@dataclass(frozen=True, slots=True)
class Documents:
    """The main texts of one documentation in two releases, by the path of the page."""

    name: str
    before: dict[str, str]
    after: dict[str, str]

    def edited(self) -> Iterator[tuple[str, str]]:
        """The texts of each page that changed."""
        for path, text in self.after.items():
            if self.before.get(path, text) != text:
                yield self.before[path], text


def all_documents() -> list[Documents]:
    """What RELEASES name."""
    return [Documents(f"{name} {old} {new}", _pages(name, old), _pages(name, new)) for name, old, new in RELEASES]


def _pages(name: str, version: str) -> dict[str, str]:
    texts = {}
    with tarfile.open(_archive(name, version)) as archive:
        for member in archive:
            path = PurePosixPath(*PurePosixPath(member.name).parts[1:])
            if (
                not member.isfile()
                or path.suffix != ".html"
                or not _FOLDERS & {*path.parts}
                or "_templates" in path.parts
            ):
                continue
            file = archive.extractfile(member)
            body = file.read() if file else b""
            text = main_text(parse(decode(body, "text/html").text))
            if len(text.encode()) >= _LEAST_BYTES:
                texts[str(path)] = text
    return texts


def _archive(name: str, version: str) -> Path:
    found = list(_DOCS.glob(f"*-{version}.tar.gz"))
    matching = [path for path in found if path.name.lower().replace("_", ".").startswith(name)]
    if not matching:
        _DOCS.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        subprocess.run([*command, f"{name}=={version}", "--dest", str(_DOCS)], check=True)
        return _archive(name, version)
    return matching[0]
