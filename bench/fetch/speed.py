"""Speed: all pages of the web, fetched by our whole fetch stage and by Scrapy in turn, and our parts alone."""

import json
import sys
from collections.abc import Callable
from typing import Any

from bench.fetch.measured import Task, run_all
from bench.fetch.planned import USER_AGENT, make_planned
from bench.fetch.runs import BUCKETS, FOLDER, NO_DELAY, ONE_THREAD, OUT, SCRAPY, fetch_command
from bench.fetch.server import Nginx
from bench.fetch.web import Web, page_path

_STAGE_URLS = 1500


def speed(web: Web, nginx: Nginx, rounds: int) -> dict[str, Any]:
    """CPU a page, pages a second and memory of both sides, and their ratios. Of each side the best round counts."""
    ours, theirs = [], []
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
        ours.append(_side(_run_ours, web, nginx))
        theirs.append(_side(_run_scrapy, web, nginx))
    best, peer = (min(side, key=lambda run: run["cpu_ms_per_page"]) for side in (ours, theirs))
    write = best.pop("write")
    peer.pop("write")
    return {
        **best,
        **{f"scrapy_{name}": value for name, value in peer.items()},
        "cpu_ratio": round(best["cpu_ms_per_page"] / peer["cpu_ms_per_page"], 3),
        "pages_ratio": round(best["pages_per_second"] / peer["pages_per_second"], 2),
        "rounds_cpu_ms": [
            [mine["cpu_ms_per_page"], other["cpu_ms_per_page"]] for mine, other in zip(ours, theirs, strict=True)
        ],
        "stages": {"write": write},
    }


def _side(run: Callable[[Web, Nginx], list[Task]], web: Web, nginx: Nginx) -> dict[str, Any]:
    before = nginx.cpu_seconds()
    tasks: list[Task] = run(web, nginx)
    pages = sum(task.said["pages"] for task in tasks)
    if pages != len(web.hosts) * web.pages:
        raise SystemExit(
            f"{pages} of {len(web.hosts) * web.pages} pages: {[task.said.get('counts') for task in tasks]}"
        )
    return {
        "cpu_ms_per_page": round(1000 * sum(task.cpu_seconds for task in tasks) / pages, 3),
        "pages_per_second": round(pages / max(task.seconds for task in tasks), 1),
        "task_peak_mb": round(max(task.peak_bytes for task in tasks) / 1e6, 1),
        "nginx_cpu_ms_per_page": round(1000 * (nginx.cpu_seconds() - before) / pages, 3),
        "write": 1000 * sum(task.said.get("write_cpu_seconds", 0.0) for task in tasks) / pages,
    }


def _run_ours(web: Web, nginx: Nginx) -> list[Task]:
    urls = web.urls(list(web.hosts), web.pages, port=nginx.port)
    planned = make_planned(OUT / "lake-speed", urls, web.addresses(), buckets=BUCKETS, politeness=NO_DELAY)
    return run_all([fetch_command(planned, bucket) for bucket in range(BUCKETS)], ONE_THREAD)


def _run_scrapy(web: Web, nginx: Nginx) -> list[Task]:
    commands = []
    for bucket in range(BUCKETS):
        job = OUT / f"scrapy-{bucket}.json"
        urls = web.urls(web.of_bucket(bucket), web.pages, port=nginx.port)
        job.write_text(json.dumps({"urls": urls, "addresses": web.addresses(), "user_agent": USER_AGENT}))
        commands.append([str(SCRAPY), str(FOLDER / "peer.py"), str(job)])
    return run_all(commands, ONE_THREAD)


def stages(web: Web, nginx: Nginx) -> dict[str, float]:
    """CPU milliseconds a page of each part alone."""
    urls = web.urls(list(web.hosts), web.pages, port=nginx.port)[:_STAGE_URLS]
    planned = make_planned(OUT / "lake-stages", urls[:1], web.addresses(), buckets=1, politeness=NO_DELAY)
    job = OUT / "stages.json"
    files = [str(web.root / host / page_path(page)[1:]) for page in range(web.pages) for host in web.hosts]
    job.write_text(json.dumps({"urls": urls, "files": files[: len(urls)]}))
    command = [sys.executable, "-m", "bench.fetch.stages", str(planned.settings), str(job)]
    return run_all([command], ONE_THREAD)[0].said
