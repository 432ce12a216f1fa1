"""A month of the demo web by real fetches: freshness by the web's own truth, the product beside uniform.

Each policy crawls a web of its own in a process of its own, with the same seed, days and budget. The first days find
all pages and fetch each once; then 30 days pass on a budget of a tenth of the pages. Uniform is the product with one
statement edited: its plan takes what was longest not asked for.
"""

import json
import multiprocessing
import tempfile
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from bench.freshness.variants import UNIFORM, sql_with
from crawler.core.clock import SimulatedClock
from crawler.core.config import Settings, load_settings
from crawler.core.cycle import Cycle
from crawler.demo.truth import Truth
from crawler.demo.web import DemoWeb
from crawler.stages import admit, check, fetch, fingerprint, merge, plan, publish, seed
from crawler.store.lake import Lake
from crawler.store.state import open_state

_SEED = 7
_HOSTS, _PAGES = 60, 1200  # of a third as many, chance decides: three fetches a page teach little
_FIRST_DAY = date(2026, 3, 2)
_FINDING_DAYS = 6  # links lead so deep
_DAYS = 30
_PART = 10
# One is asked every 2 s only; the others have nothing to be fresh, or hundreds of URLs that are no pages, on which both
# policies would spend most of their budget: what traps cost is another question.
_LEFT_OUT = (
    "patient",
    "closed",
    "calendar",
    "archive",
    "facets",
    "path-sessions",
    "query-sessions",
    "soft-404",
)
_BUCKETS = 1
_SITEMAP_DAYS = 30  # a tenth of so few pages is as many as the sitemaps


@dataclass(frozen=True, slots=True)
class Month:
    """What a policy made of it. Freshness: mean over the days of the share of live pages whose stored copy is current.

    weighted: the same, by the weights of the plan (more for more in-links, a tenth for copies), which is what the
    product keeps fresh. originals: of pages only that are no copy of another.
    """

    policy: str
    freshness: float
    last_15_days: float
    weighted: float
    originals: float
    fetches: int
    pages: int


def main(*, record: bool = False) -> int:
    """Play the month for both policies; 1 if uniform kept the web as fresh as the product."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        ours, uniform = pool.map(play_month, ("recrawl", "uniform"))
    print(
        f"{_DAYS} days, {_HOSTS - len(_LEFT_OUT)} hosts, {ours.pages} pages, a budget of 1/{_PART} a day, "
        f"sitemaps once in {_SITEMAP_DAYS} days; % current"
    )
    for month in (ours, uniform):
        print(
            f"  {month.policy:8} {100 * month.freshness:.1f}   last 15 days {100 * month.last_15_days:.1f}   "
            f"weighted {100 * month.weighted:.1f}   originals {100 * month.originals:.1f}   {month.fetches} fetches"
        )
    result = {
        month.policy: {
            "freshness": round(month.freshness, 4),
            "last_15_days": round(month.last_15_days, 4),
            "weighted": round(month.weighted, 4),
            "originals": round(month.originals, 4),
            "fetches": month.fetches,
        }
        for month in (ours, uniform)
    }
    if record:
        path = Path(__file__).resolve().parents[1] / "freshness.json"
        recorded = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps(recorded | {"demo_web": result}, indent=1) + "\n")
    print(json.dumps({"demo_web": result}))
    return 0 if ours.freshness > uniform.freshness else 1


def play_month(policy: str) -> Month:
    """Crawl a web of one's own for a month by `policy`: recrawl or uniform."""
    with tempfile.TemporaryDirectory(prefix="recrawl-bench-") as temporary:
        folder = Path(temporary)
        clock = SimulatedClock(folder / "clock.json")
        clock.set(_start(0))
        web = DemoWeb(_SEED, folder / "clock.json", hosts=_HOSTS, pages=_PAGES, start=_FIRST_DAY)
        with web, sql_with(UNIFORM) if policy == "uniform" else nullcontext():
            return _crawl(policy, web, folder, clock)


def _crawl(policy: str, web: DemoWeb, folder: Path, clock: SimulatedClock) -> Month:
    truth = Truth(web.site.plan)
    settings = _settings(folder, web.resolve, {"min_interval_days": 365})
    seed.run(Lake.create(settings, clock), [url for url in web.seeds if not _is_left_out(url)])
    for number in range(_FINDING_DAYS):
        clock.set(_start(number))
        _run_cycle(Lake.open(settings, clock), number)
    pages = [url for url in truth.urls(clock.now()) if not _is_left_out(url)]
    settings = _settings(folder, web.resolve, {"budget_urls": len(pages) // _PART})
    fresh, fresh_weight, fresh_originals, fetches = [], [], [], 0
    for number in range(_FINDING_DAYS, _FINDING_DAYS + _DAYS):
        clock.set(_start(number))
        lake = Lake.open(settings, clock)
        fetches += _run_cycle(lake, number)
        now, end = clock.now(), _start(number + 1)
        live = [url for url in truth.urls(now) if not _is_left_out(url)]
        known = _known(lake)
        current = {
            url: _currency(truth, url, known[url].fetched_at if url in known else None, now, end) for url in live
        }
        weights = {url: known[url].weight if url in known else 1.0 for url in live}
        originals = [share for url, share in current.items() if truth.original(url) == url]
        fresh.append(sum(current.values()) / len(live))
        fresh_weight.append(sum(weights[url] * current[url] for url in live) / sum(weights.values()))
        fresh_originals.append(sum(originals) / len(originals))
    return Month(
        policy, fmean(fresh), fmean(fresh[-15:]), fmean(fresh_weight), fmean(fresh_originals), fetches, len(pages)
    )


def _run_cycle(lake: Lake, number: int) -> int:
    """All stages of a day in this process, which holds the SQL that is asked for; returns the number of fetches."""
    cycle = Cycle(_FIRST_DAY + timedelta(days=number))
    buckets = range(lake.buckets)
    for bucket in buckets:
        plan.run(lake, cycle, bucket)
    admitted = int(admit.run(lake, cycle)["admitted"])
    for stage in (fetch, fingerprint, merge):
        for bucket in buckets:
            stage.run(lake, cycle, bucket)
    check.run(lake, cycle)
    publish.run(lake, cycle)
    return admitted


class _Known(NamedTuple):
    fetched_at: datetime | None
    weight: float


def _known(lake: Lake) -> dict[str, _Known]:
    """By URL: when its copy was fetched, and its weight in a plan."""
    known: dict[str, _Known] = {}
    for bucket in range(lake.buckets):
        con = lake.connect()
        open_state(lake, con, bucket, lake.settled("bucket", bucket))
        columns = "url, fetched_at, page_weight(inlinks, is_alias OR duplicate_of IS NOT NULL)"
        known |= {url: _Known(*row) for url, *row in con.table("state_page").project(columns).fetchall()}
    return known


def _currency(truth: Truth, url: str, fetched_at: datetime | None, now: datetime, end: datetime) -> float:
    """For how much of the time from `now` to `end` a page's copy is what the web shows."""
    changes = truth.changes(url, fetched_at, end) if fetched_at else [now]
    until = max(changes[0], now) if changes else end
    return (until - now) / (end - now)


def _settings(folder: Path, resolve: dict[str, str], steering: dict[str, Any]) -> Settings:
    hosts = [name for name in resolve if not _is_left_out(f"//{name}")]
    sections: dict[str, dict[str, Any]] = {
        "crawl": {"user_agent": "recrawl-bench/1.0 (+https://example.org/recrawl-bench)"},
        "lake": {"root": str(folder / "lake"), "buckets": _BUCKETS},
        "clock": {"simulated": str(folder / "clock.json")},
        "scope": {"hosts": hosts},
        "politeness": {"delay_seconds": 0.0, "delay_factor": 0.0, "address_delay_seconds": 0.0},
        "plan": steering,
        "sitemaps": {"interval_days": _SITEMAP_DAYS},
        "engine": {"threads": 1, "memory_limit": "512MB"},
        "fetch": {"threads": 8, "window_hours": 0.1, "allow_private": ["127.0.0.0/8"]},
        "fetch.resolve": dict(resolve),
    }
    lines = []
    for name, keys in sections.items():
        lines.append(f"[{name}]")
        lines += [f"{json.dumps(key)} = {json.dumps(value)}" for key, value in keys.items()]
    path = folder / "recrawl.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return load_settings(path, {})


def _is_left_out(url: str) -> bool:
    return url.split("//")[1].startswith(_LEFT_OUT)


def _start(number: int) -> datetime:
    return datetime.combine(_FIRST_DAY, datetime.min.time(), UTC) + timedelta(days=number, hours=1)
