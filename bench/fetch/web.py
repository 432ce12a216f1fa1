"""The pages that are fetched: 500 sites, the same bytes on every machine.

A page has 30 to 100 KB, half of it script, style and wrappers as on real sites, about 1,250 visible words and 50 links,
of which 30 are navigation that all pages of a site share. Most of what is linked is not there: nobody follows it.
Writes files under `bench/out`.
"""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from crawler.core.keys import bucket_of, host_key

_VERSION = 3  # of what is generated; files of another are made anew
_LEAST_BYTES, _MOST_BYTES = 30_000, 98_000
_NAVIGATION, _FOOTER, _IN_TEXT, _FOREIGN = 18, 12, 16, 4
_SENTENCES = 112
_PARAGRAPH = 5  # sentences
_ROBOTS = """\
User-agent: *
Disallow: /private/
Disallow: /*?session=
Allow: /

Sitemap: http://{host}/sitemap.xml
"""


@dataclass(frozen=True, slots=True)
class Web:
    """Sites of `pages` pages each; half of the hosts belong to each of two buckets."""

    root: Path
    hosts: tuple[str, ...]
    pages: int

    def addresses(self) -> dict[str, str]:
        """A loopback address for each host."""
        return {host: f"127.1.{number // 250}.{number % 250 + 1}" for number, host in enumerate(self.hosts)}

    def urls(self, hosts: list[str], pages: int, *, port: int, copies: int = 0) -> list[str]:
        """Page by page over all hosts; copies: so many variants of each page, which the server makes different."""
        prefixes = [f"/many/{copy}" for copy in range(copies)] or [""]
        return [
            f"http://{host}:{port}{prefix}{page_path(page)}"
            for page in range(pages)
            for prefix in prefixes
            for host in hosts
        ]

    def of_bucket(self, bucket: int) -> list[str]:
        """The hosts of one of two buckets."""
        return [host for host in self.hosts if bucket_of(host_key(host), 2) == bucket]


def page_path(page: int) -> str:
    """Where a page of a site is."""
    return f"/articles/{page % 7}/story-{page}.html"


def make_web(root: Path, hosts: int, pages: int) -> Web:
    """Write the sites under `root`, unless they are there already."""
    web = Web(root, _names(hosts), pages)
    stamp, made = root / "stamp.json", {"version": _VERSION, "hosts": hosts, "pages": pages}
    if stamp.exists() and json.loads(stamp.read_text()) == made:
        return web
    stamp.unlink(missing_ok=True)
    writer = Writer()
    for host in web.hosts:
        folder = root / host
        for part in range(min(7, pages)):
            (folder / "articles" / str(part)).mkdir(parents=True, exist_ok=True)
        (folder / "robots.txt").write_text(_ROBOTS.format(host=host))
        for page in range(pages):
            (folder / page_path(page)[1:]).write_bytes(writer.page(host, page))
    stamp.write_text(json.dumps(made))
    return web


def _names(count: int) -> tuple[str, ...]:
    names: tuple[list[str], list[str]] = ([], [])
    number = 0
    while min(map(len, names)) < count // 2:
        number += 1
        name = f"site-{number:04d}.bench.test"
        mine = names[bucket_of(host_key(name), 2)]
        if len(mine) < count // 2:
            mine.append(name)
    return tuple(sorted(names[0] + names[1]))


class Writer:
    """Writes the pages of the sites: of each host and number always the same."""

    def __init__(self) -> None:
        chance = random.Random("vocabulary")
        letters = "etaoinshrdlucmfwypvbgk"
        self.words = ["".join(chance.choices(letters, k=chance.randint(2, 10))) for _ in range(6000)]
        weights = [1 / (rank + 10) for rank in range(len(self.words))]
        drawn = iter(chance.choices(self.words, weights, k=60_000))
        self.sentences = [self._sentence(chance, drawn) for _ in range(4000)]
        self.script = json.dumps(
            [
                {"id": chance.getrandbits(40), "slug": "-".join(chance.choices(self.words, k=3)), "at": chance.random()}
                for _ in range(4000)
            ]
        )

    def _sentence(self, chance: random.Random, drawn: Iterator[str]) -> str:
        found = [next(drawn) for _ in range(chance.randint(7, 14))]
        found[0] = found[0].capitalize()
        if chance.random() < 0.25:
            place = chance.randrange(len(found))
            tag = chance.choice(["em", "strong", "code", "span"])
            found[place] = f"<{tag}>{found[place]}</{tag}>"
        return " ".join(found) + "."

    def page(self, host: str, page: int) -> bytes:
        """The page at `page_path(page)` of `host`."""
        chance = random.Random(f"{host} {page}")
        title = " ".join(chance.choices(self.words, k=6)).title()
        top = self._navigation(host, "menu", 0, _NAVIGATION)
        bottom = self._navigation(host, "foot", _NAVIGATION, _FOOTER)
        body = self._article(chance, title)
        frame = _FRAME.format(title=title, path=page_path(page), top=top, bottom=bottom, body=body)
        missing = max(chance.randint(_LEAST_BYTES, _MOST_BYTES) - len(frame), 400)
        wrappers = "".join(
            f'<div class="card card--{chance.randrange(40)} u-mt-{chance.randrange(9)}" data-track="view:'
            f'{chance.getrandbits(32):08x}" role="presentation"><span class="card__mark"></span></div>'
            for _ in range(missing // 2 // 120)
        )
        rest = missing - len(wrappers)
        start = chance.randrange(len(self.script) - rest)
        script = f"<script>window.__STATE__='{self.script[start : start + rest]}'</script>"
        return frame.replace("<!--wrappers-->", wrappers).replace("<!--script-->", script).encode()

    def _navigation(self, host: str, name: str, first: int, count: int) -> str:
        chance = random.Random(f"{host} {name}")
        labels = [" ".join(chance.choices(self.words, k=2)) for _ in range(count)]
        return "".join(
            f'<li class="{name}__entry"><a class="{name}__link" href="/topics/{first + number}.html">'
            f'<svg viewBox="0 0 24 24" width="16" height="16" aria-hidden="true"><path d="M{chance.randrange(24)} '
            f'{chance.randrange(24)}h12v4l-3 3z"/></svg><span>{label}</span></a></li>'
            for number, label in enumerate(labels)
        )

    def _article(self, chance: random.Random, title: str) -> str:
        found = chance.choices(self.sentences, k=chance.randint(_SENTENCES - 30, _SENTENCES + 30))
        links = [f"../{number % 7}/story-{number}.html" for number in chance.choices(range(10_000), k=_IN_TEXT)]
        links += [
            f"http://{name}.other.test/{chance.getrandbits(24)}" for name in chance.choices(self.words, k=_FOREIGN)
        ]
        for link in links:
            place = chance.randrange(len(found))
            found[place] = f'<a href="{link}" class="link" data-ref="{chance.getrandbits(32):x}">{found[place]}</a>'
        blocks = [
            f'<p id="p{number}" class="text">{" ".join(found[number : number + _PARAGRAPH])}</p>'
            for number in range(0, len(found), _PARAGRAPH)
        ]
        for number in range(4, len(blocks), 5):
            heading = " ".join(chance.choices(self.words, k=4))
            blocks[number] = f'<section class="part"><h2>{heading}</h2>{blocks[number]}</section>'
        return f"<h1>{title}</h1>" + "\n".join(blocks)


_FRAME = (
    """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="description" content="{title}">
<link rel="canonical" href="{path}"><link rel="stylesheet" href="/style/main.css"><link rel="icon" href="/icon.png">
<style>"""
    + "".join(f".card--{n}{{{{margin:{n}px;padding:0 {n % 7}px;border-color:#{n * 4099:06x}}}}}\n" for n in range(40))
    + """</style><!--script--></head>
<body class="page"><header class="top"><nav class="menu" aria-label="Main"><ul>{top}</ul></nav></header>
<main id="content"><article class="story">{body}</article><!--wrappers--></main>
<footer class="foot"><ul>{bottom}</ul><p>All rights reserved.</p></footer></body></html>
"""
)
