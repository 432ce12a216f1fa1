"""A fetch task that is killed leaves no parse worker behind, and its bucket is free while one still lives."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from crawler.stages import fetch
from tests.crawl import plain_web
from tests.crawl.driver import FIRST_DAY, Crawl, write_settings
from tests.crawl.plain_web import PRODUCT, Task
from tests.crawl.server import Request, Response, WebServer

HOST = "h0.plain.test"
SLOW_PAGE = b"<table>" + b"<td>x" * 400_000

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="finds children through /proc")


def respond(request: Request) -> Response:
    if request.target == "/robots.txt":
        return plain_web.ROBOTS
    return Response(200, (("Content-Type", "text/html"),), SLOW_PAGE)


@pytest.mark.parametrize("is_busy", [False, True])
def test_a_killed_task_takes_its_worker_along_and_a_worker_that_lives_on_does_not_hold_the_bucket(
    tmp_path: Path, is_busy: bool
) -> None:
    with WebServer(respond if is_busy else plain_web.respond) as server:
        crawl = _planned(tmp_path, server, pages=1 if is_busy else 30)
        with Task("fetch", tmp_path / "recrawl.toml", FIRST_DAY, 0) as task:
            (worker,) = _wait_for(lambda: _children(task.pid))
            assert not [name for name in _open_files(worker) if str(tmp_path) in name], (
                "it inherits nothing of the lake"
            )
            if not is_busy:  # the first pages are read, the others wait for the host's delay
                _wait_for(lambda: list(tmp_path.glob("lake/layout=*/observation/bucket=*/cycle=*/*.parquet")))
            os.kill(worker, signal.SIGSTOP)
            os.kill(task.pid, signal.SIGKILL)
            task.process.wait()
        with crawl.lake.own("bucket", 0, crawl.cycle) as owner:
            assert owner.taken_over
        assert _is_alive(worker)
        os.kill(worker, signal.SIGCONT)
        _wait_for(lambda: not _is_alive(worker))


def test_a_task_told_to_stop_ends_its_worker(tmp_path: Path) -> None:
    with WebServer(plain_web.respond) as server:
        crawl = _planned(tmp_path, server, pages=30)
        seen: set[int] = set()

        def stop() -> bool:
            seen.update(_children(os.getpid()))
            return bool(seen)

        counts = fetch.run(crawl.lake, crawl.cycle, 0, stop=stop)
    assert counts["open"] > 0
    assert counts["observed"] == counts.get("ok", 0)
    assert seen
    assert not any(_is_alive(worker) for worker in seen)


def _planned(folder: Path, server: WebServer, *, pages: int) -> Crawl:
    tables = {
        "crawl": {"user_agent": PRODUCT},
        "lake": {"buckets": 1},
        "fetch": {
            "resolve": {HOST: server.address},
            "allow_private": ["127.0.0.0/8"],
            "segment_pages": 1,
            "parse_seconds": 60,
        },
        "politeness": {"delay_seconds": 30.0, "delay_factor": 0.0, "address_delay_seconds": 0.0},
        "host": {HOST: {"delay_seconds": 0.0 if pages == 1 else 1.0}},
    }
    crawl = Crawl(write_settings(folder, tables), plain_web.urls([HOST], pages, server.suffix))
    crawl.plan()
    return crawl


def _children(pid: int) -> list[int]:
    """The Python processes that threads of `pid` have started and that have come up."""
    found = []
    for thread in Path(f"/proc/{pid}/task").iterdir():
        found += [int(child) for child in (thread / "children").read_text().split()]
    return [child for child in found if b"crawler.page.worker" in Path(f"/proc/{child}/cmdline").read_bytes()]


def _open_files(pid: int) -> list[str]:
    return [os.readlink(each) for each in Path(f"/proc/{pid}/fd").iterdir()]


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _wait_for(found: Callable[[], object], seconds: float = 60) -> list[int]:
    deadline = time.monotonic() + seconds
    while not (what := found()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)
    return what if isinstance(what, list) else []
