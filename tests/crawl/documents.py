"""Debian's documentation packages as a small web: one host a package, files served as a plain file server would.

`breadth_first` is the reference crawl of it: another parser (libxml2's), the standard library's urljoin, an own minimal
canonical form. No product code.
"""

import mimetypes
import re
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from urllib.parse import quote, unquote, urldefrag, urljoin, urlsplit

from lxml import html

from tests.crawl.server import Request, Response

ROOT = Path(__file__).parents[2] / "build" / "debian-docs"
FOLDERS = {
    "python.docs.test": "usr/share/doc/python3.11/html",
    "git.docs.test": "usr/share/doc/git-doc",
    "postgresql.docs.test": "usr/share/doc/postgresql-doc-15/html",
    "sqlite.docs.test": "usr/share/doc/sqlite3",
    "nodejs.docs.test": "usr/share/doc/nodejs/api",
    "policy.docs.test": "usr/share/doc/debian-policy/policy.html",
    "reference.docs.test": "usr/share/developers-reference",
}
_SAFE = "!$&'()*+,/:;=@|[]%~"
_REFRESH = re.compile(r"^\s*[\d.]+\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']*)", re.IGNORECASE)
_UNRESERVED = re.compile(r"%(2[DdEe]|3[0-9]|4[1-9A-Fa-f]|5[0-9AaFf]|6[1-9A-Fa-f]|7[0-9AaEe])")


def install() -> str | None:
    """Unpack the packages into build/ unless they are there. Returns why it cannot, else None."""
    if (ROOT / ".complete").exists():
        return None
    script = Path(__file__).with_name("install_docs.sh")
    done = subprocess.run([str(script), str(ROOT)], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode == 0:
        return None
    lines = done.stderr.strip().splitlines()
    return f"Debian's documentation packages cannot be had: {lines[-1] if lines else done.returncode}"


class Documents:
    """Serves the trees below `root`; redirects a folder without its slash, finds index.html, answers 404 else."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._etags: dict[Path, str] = {}

    def respond(self, request: Request) -> Response:
        """The answer of the file server."""
        path = self.file(request.host, request.target)
        if path is None:
            return Response(404, (("Content-Type", "text/html"),), b"<p>not here</p>")
        if path.is_dir():
            return Response(301, (("Location", urlsplit(request.target).path + "/"),))
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        facts = path.stat()
        etag = f'"{facts.st_mtime_ns:x}-{facts.st_size:x}"'
        return Response(200, (("Content-Type", kind), ("ETag", etag)), path.read_bytes())

    def file(self, host: str, target: str) -> Path | None:
        """The file or folder that a request means, None if there is none."""
        folder = FOLDERS.get(host)
        if folder is None:
            return None
        named = unquote(urlsplit(target).path)
        path = self.root / folder / named.lstrip("/")
        if named.endswith("/"):
            path /= "index.html"
        return path if path.exists() else None


def breadth_first(seeds: list[str], get: Callable[[str], Response]) -> tuple[list[set[str]], dict[str, Response]]:
    """The URLs that a crawl fetches, cycle by cycle, and the response of each.

    Links of a page whose bytes another one brought first are not followed.
    """
    cycles: list[set[str]] = []
    responses: dict[str, Response] = {}
    bodies: set[bytes] = set()
    new = {canonical(seed, seed) or seed for seed in seeds}
    while new:
        cycles.append(new)
        found: set[str] = set()
        for url in sorted(new, key=lambda url: (len(url), url)):
            response = responses[url] = get(url)
            headers = dict(response.headers)
            if response.status == 301:
                found.add(canonical(headers["Location"], url) or "")
            elif response.status == 200 and headers["Content-Type"].startswith("text/html"):
                if response.body not in bodies:
                    found |= {canonical(link, base) or "" for link, base in links(response.body, url)}
                bodies.add(response.body)
        new = {url for url in found if url and urlsplit(url).hostname in FOLDERS} - responses.keys()
    return cycles, responses


def links(body: bytes, url: str) -> set[tuple[str, str]]:
    """The references of a page that lead to other pages, each with the base URL to resolve it."""
    tree = html.document_fromstring(body, parser=html.HTMLParser(encoding="utf-8", huge_tree=True))
    base = next((urljoin(url, found) for found in tree.xpath("//base/@href")), url)
    found = {
        element.get("href")
        for element in tree.iter("a", "area")
        if element.get("href") is not None and "nofollow" not in element.get("rel", "")
    }
    found |= set(tree.xpath("//iframe/@src | //frame/@src"))
    for element in tree.iter("link"):
        if {"next", "canonical"} & set(element.get("rel", "").lower().split()) and element.get("href"):
            found.add(element.get("href"))
    for element in tree.iter("meta"):
        if element.get("http-equiv", "").lower() == "refresh" and (
            target := _REFRESH.match(element.get("content", ""))
        ):
            found.add(target[1].strip())
    return {(link, base) for link in found}


@cache
def canonical(link: str, base: str) -> str | None:
    """An http URL without fragment, its path escaped one way, its query sorted; None for another scheme."""
    link = re.sub(r"[\t\r\n]", "", link.strip())
    address = re.split("[?#]", link, maxsplit=1)[0]
    link = address.replace("\\", "/") + link[len(address) :]  # a backslash is a slash to every browser
    try:
        parts = urlsplit(urldefrag(urljoin(base, link)).url)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port not in {None, 80} else ""
    except ValueError:
        return None
    if parts.scheme != "http":
        return None
    path = _UNRESERVED.sub(lambda escape: chr(int(escape[1], 16)), quote(parts.path or "/", safe=_SAFE))
    query = "&".join(sorted(piece for piece in quote(parts.query, safe=_SAFE + "?").split("&") if piece))
    return f"http://{host}{port}{path}" + (f"?{query}" if query else "")
