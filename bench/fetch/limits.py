"""Limits: the politeness bound on the time of a fetch, and the memory of a task with a large plan."""

from typing import Any

from bench.fetch.measured import run_all
from bench.fetch.planned import Planned, make_planned
from bench.fetch.runs import BUCKETS, NO_DELAY, ONE_THREAD, OUT, fetch_command
from bench.fetch.server import Nginx
from bench.fetch.web import Web
from crawler.store import query

_POLITE_HOSTS, _POLITE_PAGES = 200, 20
_MEMORY_URLS, _MEMORY_PAGES = 100_000, 20_000


def makespan(web: Web, nginx: Nginx) -> dict[str, Any]:
    """How long 1 s between requests makes a fetch, against what the delays and the answers alone take.

    The bound of a host: its delays between robots.txt and the last page, and the time of all its answers.
    makespan_ratio: from the first request of a bucket to its last answer, through its slowest host's bound;
    fetch_ratio: the same for all of the fetch, the lake's opening and the last file included. The worse bucket counts.
    """
    hosts = [host for bucket in range(BUCKETS) for host in web.of_bucket(bucket)[: _POLITE_HOSTS // BUCKETS]]
    urls = web.urls(hosts, _POLITE_PAGES, port=nginx.port)
    planned = make_planned(
        OUT / "lake-polite", urls, web.addresses(), buckets=BUCKETS, politeness={"delay_seconds": 1.0}
    )
    tasks = run_all([fetch_command(planned, bucket) for bucket in range(BUCKETS)], ONE_THREAD)
    spans, wholes = [], []
    for bucket, task in enumerate(tasks):
        span, bound = _asked(planned, bucket)
        spans.append((span / bound, span, bound))
        wholes.append(task.said["fetch_seconds"] / bound)
    ratio, seconds, bound = max(spans)
    return {
        "makespan_ratio": round(ratio, 3),
        "makespan_seconds": round(seconds, 2),
        "makespan_bound": round(bound, 2),
        "fetch_ratio": round(max(wholes), 3),
    }


def memory(web: Web, nginx: Nginx) -> dict[str, Any]:
    """The peak of a task with 100,000 planned URLs, and what it grows by while it fetches.

    growth_mb: the mean of the last quarter of its pages less that of the second.
    """
    copies = -(-_MEMORY_URLS // (len(web.hosts) * web.pages))
    urls = web.urls(list(web.hosts), web.pages, port=nginx.port, copies=copies)[:_MEMORY_URLS]
    planned = make_planned(OUT / "lake-memory", urls, web.addresses(), buckets=1, politeness=NO_DELAY)
    (task,) = run_all([fetch_command(planned, 0, _MEMORY_PAGES)], ONE_THREAD)
    progress: list[tuple[float, int]] = task.said["progress"]
    last = progress[-1][1]

    def mean(start: float, end: float) -> float:
        at = [instant for instant, done in progress if start * last <= done <= end * last]
        sizes = [size for instant, size in task.memory if at[0] <= instant <= at[-1]]
        return sum(sizes) / len(sizes)

    return {
        "peak_mb": round(task.peak_bytes / 1e6, 1),
        "growth_mb": round((mean(0.75, 1) - mean(0.25, 0.5)) / 1e6, 1),
        "memory_planned_urls": len(urls),
        "memory_pages": task.said["pages"],
    }


def _asked(planned: Planned, bucket: int) -> tuple[float, float]:
    """Seconds from the first request of a bucket to its last answer, and its slowest host's bound, by the lake."""
    lake = planned.open()
    con = lake.connect()
    asked: dict[str, list[tuple[float, float]]] = {}
    for table in ("observation", "robots"):
        files = lake.paths(lake.current(table, "bucket", bucket, lake.settled("bucket", bucket)))
        query.view_files(con, "asked", table, files)
        found = con.execute("SELECT host, epoch(fetched_at), epoch(ended_at) FROM asked WHERE sent").fetchall()
        for host, began, ended in found:
            asked.setdefault(host, []).append((began, ended))
    instants = [instant for requests in asked.values() for instant in requests]
    span = max(ended for _, ended in instants) - min(began for began, _ in instants)
    bounds = [len(requests) - 1 + sum(ended - began for began, ended in requests) for requests in asked.values()]
    return span, max(bounds)
