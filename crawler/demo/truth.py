"""The truth about the demo web: what exists, what may be fetched, and when each page changed.

Pure functions of the web's plan: any process can judge a crawl with it, and need not ask the server.
"""

import json
import os
from datetime import datetime
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from crawler.demo.answer import page_status
from crawler.demo.hosts import Role
from crawler.demo.pages import Kind, Page
from crawler.demo.render import is_disallowed
from crawler.demo.site import Plan, Site, normal_path

_FOLLOWED = (Kind.FRONT, Kind.SECTION, Kind.ARTICLE, Kind.PRINT, Kind.NOTICE)


class Truth:
    """What an all-knowing observer would say. URLs may be spelled in any way that the server takes for the same."""

    def __init__(self, plan: Plan) -> None:
        self.site = Site(plan)

    @classmethod
    def from_ready(cls, path: str | os.PathLike[str]) -> Self:
        """The truth about the web whose server wrote this ready file."""
        plan = json.loads(Path(path).read_text(encoding="utf-8"))["plan"]
        return cls(Plan(**(plan | {"start": datetime.fromisoformat(plan["start"])})))

    def urls(self, instant: datetime | None = None) -> list[str]:
        """The canonical URLs of all pages that a polite crawler can find by links, from the seeds on.

        With an instant only those that exist then. Left out: sitemaps, redirects, broken links, the endless calendar
        and maze, what robots.txt disallows, and pages that are linked only in ways that say not to follow.
        """
        return [
            self._site_url(page)
            for page in self.site.pages.values()
            if page.kind in _FOLLOWED
            and self.site.hosts[page.host].role != Role.CLOSED
            and (instant is None or self.site.exists(page, instant))
        ]

    def allowed(self, url: str) -> bool:
        """Whether robots.txt lets a crawler without a group of its own fetch the URL."""
        parts = urlsplit(url)
        host = self.site.hosts.get(parts.hostname or "")
        return host is not None and not is_disallowed(host, normal_path(parts.path or "/"))

    def exists(self, url: str, instant: datetime) -> bool:
        """Whether the URL is a page or sitemap of its own at that instant."""
        page = self._page(url)
        return page is not None and self.site.exists(page, instant)

    def status_at(self, url: str, instant: datetime) -> int | None:
        """The status of an unconditional GET of a page; None for a URL that is none."""
        page = self._page(url)
        return page_status(self.site, page, instant) if page else None

    def version_at(self, url: str, instant: datetime) -> int | None:
        """The number of changes until that instant; None where the page does not exist."""
        page = self._page(url)
        if page is None or not self.site.exists(page, instant):
            return None
        return self.site.state(page, instant).version

    def changed_between(self, url: str, earlier: datetime, later: datetime) -> bool:
        """Whether what was true at `earlier` is no longer at `later`: other content, a birth or an end."""
        return self.version_at(url, earlier) != self.version_at(url, later)

    def changes(self, url: str, after: datetime, until: datetime) -> list[datetime]:
        """The instants in (after, until] at which the page's content changes, as if it always existed."""
        page = self._page(url)
        return self.site.changes(page, after, until) if page else []

    def changes_per_day(self, url: str) -> float:
        """The rate of the Poisson process that edits the page's text; a section's list changes on top of it."""
        page = self._page(url)
        return page.per_day if page else 0.0

    def original(self, url: str) -> str | None:
        """The URL of which a mirror's page is a copy to the byte; itself for any other page, None for no page."""
        page = self._page(url)
        if page is None:
            return None
        host = self.site.hosts[page.host]
        is_copy = bool(host.mirror_of) and page.kind != Kind.SITEMAP
        return self.site.url(host.mirror_of if is_copy else host.name, page.path)

    def redirects(self) -> dict[str, str]:
        """URL to the URL that it redirects to, for every redirect."""
        found = {}
        for (host, path), redirect in self.site.redirects.items():
            is_path = redirect.target.startswith("/")
            found[self.site.url(host, path)] = self.site.url(host, redirect.target) if is_path else redirect.target
        return found

    def crawl_delays(self) -> dict[str, float]:
        """The Crawl-delay in seconds of every host; 0 without one."""
        return {host.name: host.crawl_delay for host in self.site.hosts.values()}

    def _page(self, url: str) -> Page | None:
        parts = urlsplit(url)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        if parts.scheme != "http" or parts.port != self.site.plan.port:
            return None
        return self.site.find(parts.hostname or "", path)

    def _site_url(self, page: Page) -> str:
        return self.site.url(page.host, page.path)
