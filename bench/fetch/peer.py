"""Scrapy fetching a list of URLs and extracting links; runs in Scrapy's own environment, knows nothing of Recrawl.

Arguments: a JSON file with `urls`, `addresses` (by host) and `user_agent`. Prints what it did as one JSON object.
"""

import json
import sys
import time
from pathlib import Path

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.resolver import dnscache

_SETTINGS = {
    "ROBOTSTXT_OBEY": True,
    "RETRY_ENABLED": False,
    "COOKIES_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "CONCURRENT_REQUESTS": 64,
    "DOWNLOAD_DELAY": 0,
    "LOG_LEVEL": "ERROR",  # its default writes a line a page
}


class Pages(Spider):
    """Fetches the given pages and nothing else."""

    name = "pages"
    pages = links = 0

    async def start(self):
        for url in self.job["urls"]:
            yield Request(url, dont_filter=True)

    def parse(self, response):
        self.pages += 1
        self.links += len(self.extractor.extract_links(response))


def main() -> None:
    """Fetch the pages and print how many they were."""
    job = json.loads(Path(sys.argv[1]).read_text())
    dnscache.update(job["addresses"])
    process = CrawlerProcess({**_SETTINGS, "USER_AGENT": job["user_agent"]})
    crawler = process.create_crawler(Pages)
    process.crawl(crawler, job=job, extractor=LinkExtractor())
    process.start()
    spider = crawler.spider
    print(json.dumps({"pages": spider.pages, "links": spider.links, "ended_at": time.monotonic()}))


if __name__ == "__main__":
    main()
