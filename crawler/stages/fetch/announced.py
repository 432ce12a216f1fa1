"""The sitemaps of a host as links: those that its robots.txt names, or the usual place.

Pure. The links become known URLs in the next merge, as those of a page do; the owner of the sitemap's host fetches it.
"""

from datetime import datetime

from crawler.core.columns import LinkSource
from crawler.core.config import Settings
from crawler.core.keys import url_key
from crawler.core.model import Row
from crawler.core.url_rules import UrlRules
from crawler.core.urls import CanonicalUrl, canonicalize
from crawler.stages.fetch.hosts import Origin
from crawler.stages.fetch.rows import link_row

_USUAL_PLACE = "/sitemap.xml"


def sitemap_links(origin: Origin, host: str, found_at: datetime, settings: Settings, url_rules: UrlRules) -> list[Row]:
    """The sitemaps of `origin`, of `host`, whose robots.txt has been decided; none that is no URL to crawl."""
    wanted, rules = settings.sitemaps, origin.rules
    named = rules.sitemaps if rules and wanted.robots else ()
    if not named and wanted.guess and (rules is None or not rules.sitemaps):
        named = (f"{origin.url}{_USUAL_PLACE}",)
    if not named:
        return []
    url = f"{origin.url}/robots.txt"
    hops = origin.targets[0].hops if origin.targets else 0
    source = LinkSource(url_key(url), url, 0, hops, found_at, announced_by=[host])
    aims = [canonicalize(text, None, url_rules) for text in named]
    return [link_row(source, "robots", aim, settings) for aim in aims if isinstance(aim, CanonicalUrl)]
