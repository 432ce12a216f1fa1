"""The pages that are measured: those of the fetch bench with 60 to 90 KB, so 75 KB on average.

Each has about 1,250 visible words and 50 links, of which 30 are navigation that all pages of a site share.
"""

from bench.fetch.web import Writer, page_path

_SITES = 5
_PAGES = 40
_LEAST_BYTES, _MOST_BYTES = 60_000, 90_000


def bench_pages() -> list[tuple[str, bytes]]:
    """URL and body of each page, site by site, as a crawl of one host after the other meets them."""
    writer = Writer()
    return [page for site in range(_SITES) for page in _of_site(writer, f"site-{site}.bench.test")]


def _of_site(writer: Writer, host: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    number = 0
    while len(found) < _PAGES:
        body = writer.page(host, number)
        if _LEAST_BYTES <= len(body) <= _MOST_BYTES:
            found.append((f"http://{host}{page_path(number)}", body))
        number += 1
    return found
