"""`recrawl run` told to end by signals: real processes, the server's own log as the witness."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from crawler.store.live import running
from tests.crawl import plain_web
from tests.crawl.driver import FIRST_DAY, Crawl, write_settings
from tests.crawl.server import Request, Response, WebServer, gaps
from tests.crawl.test_kill_and_resume import wait_until

ROOT = Path(__file__).parents[2]
HOSTS = plain_web.hosts(6)
DELAY_SECONDS = 0.2

pytestmark = pytest.mark.slow


def respond(request: Request) -> Response:
    response = plain_web.respond(request)
    if request.target == "/hanging":
        return Response(200, response.headers, response.body, wait_seconds=600)
    return response


class Run:
    """A process of `recrawl run` in a process group of its own, as a terminal would have it."""

    def __init__(self, settings: Path) -> None:
        program = "from crawler.cli import main; main()"
        arguments = ["run", "--cycle", str(FIRST_DAY), "--settings", str(settings), "--json"]
        command = [sys.executable, "-c", program, *arguments]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True
        )

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    def end(self, timeout: float = 60) -> tuple[int, dict[str, dict[str, int]], str]:
        out, errors = self.process.communicate(timeout=timeout)
        return self.process.returncode, json.loads(out), errors


def crawl_of(folder: Path, server: WebServer, urls: list[str]) -> Crawl:
    tables = {
        "crawl": {"user_agent": plain_web.PRODUCT},
        "lake": {"buckets": 2},
        "fetch": {
            "resolve": dict.fromkeys(HOSTS, server.address),
            "allow_private": ["127.0.0.0/8"],
            "total_seconds": 600, "read_seconds": 600, "segment_seconds": 600,
        },
        "politeness": {"delay_seconds": DELAY_SECONDS, "delay_factor": 0.0, "address_delay_seconds": 0.0},
    }  # fmt: skip
    return Crawl(write_settings(folder, tables), urls)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)], ids=["SIGTERM", "Ctrl-C"])
def test_a_run_that_is_told_to_end_does_and_the_next_goes_on(tmp_path: Path, number: int, code: int) -> None:
    with WebServer(respond) as server:
        urls = plain_web.urls(HOSTS, 30, server.suffix)
        crawl = crawl_of(tmp_path, server, urls)
        with Run(tmp_path / "recrawl.toml") as run:
            wait_until(lambda: len(server.pages()) > 30)
            if number == signal.SIGINT:
                os.killpg(run.process.pid, number)  # a terminal tells all processes of the group
            else:
                run.process.send_signal(number)
            ended, counts, errors = run.end()
        assert (ended, "goes on from there" in errors) == (code, True), errors
        assert 30 < counts["fetch"]["observed"] < len(urls)
        assert counts["fetch"]["stopped"] == 2
        assert "merge" not in counts
        assert [crawl.lake.ownership("bucket", bucket)[0].holder for bucket in range(2)] == [None, None]
        assert len(server.pages()) == counts["fetch"]["observed"], "what was asked for was written down"
        assert list((tmp_path / "lake/layout=1/progress").iterdir()) == []
        with Run(tmp_path / "recrawl.toml") as run:
            ended, counts, errors = run.end(120)
        assert ended == 0, errors
        assert Counter(f"http://{e.host}{server.suffix}{e.target}" for e in server.pages()) == Counter(urls)
    assert sorted(crawl.ask("SELECT url, outcome FROM observation")) == sorted((url, "ok") for url in urls)
    for host, found in gaps(server.log).items():
        assert min(gap for gap, _, _ in found) >= DELAY_SECONDS, host


def test_a_page_that_hangs_holds_nothing_up_and_stays_open(tmp_path: Path) -> None:
    with WebServer(respond) as server:
        hanging = f"http://{HOSTS[0]}{server.suffix}/hanging"
        crawl = crawl_of(tmp_path, server, [hanging, *plain_web.urls(HOSTS[1:], 3, server.suffix)])
        with Run(tmp_path / "recrawl.toml") as run:
            wait_until(lambda: any(entry.target == "/hanging" for entry in server.log) and len(server.pages()) == 16)
            wait_until(lambda: sum(live.progress.observed for live in running(crawl.lake)) > 0)
            run.process.send_signal(signal.SIGTERM)
            ended, counts, errors = run.end()
        assert ended == 143, errors
        assert (counts["fetch"]["observed"], counts["fetch"]["open"]) == (15, 1)
        (abandoned,) = [entry for entry in server.log if entry.target == "/hanging"]
        wait_until(lambda: abandoned.aborted)


def test_a_second_signal_ends_it_at_once_and_its_processes_follow(tmp_path: Path) -> None:
    with WebServer(respond) as server:
        crawl = crawl_of(tmp_path, server, [f"http://{host}{server.suffix}/hanging" for host in HOSTS])
        with Run(tmp_path / "recrawl.toml") as run:
            wait_until(lambda: len(server.pages()) == len(HOSTS))
            run.process.send_signal(signal.SIGTERM)
            run.process.send_signal(signal.SIGTERM)
            run.process.wait(30)
            wait_until(lambda: all(crawl.lake.ownership("bucket", bucket)[1] is None for bucket in range(2)))
            wait_until(lambda: all(entry.aborted for entry in server.pages()))
