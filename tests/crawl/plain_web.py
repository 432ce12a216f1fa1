"""A web without surprises: some hosts with the same number of pages each, for tests of tasks that are disturbed."""

import subprocess
import sys
from pathlib import Path

from tests.crawl.server import Request, Response

PRODUCT = "DisturbedBot/1.0 (+http://bot.test/)"
PLAIN = (("Content-Type", "text/plain"),)
ROBOTS = Response(200, PLAIN, b"User-agent: *\nDisallow: /private/\n")
PATIENT_HOST = "patient.plain.test"  # asks for a Crawl-delay
CRAWL_DELAY_SECONDS = 3.0
PATIENT_ROBOTS = Response(200, PLAIN, f"User-agent: *\nCrawl-delay: {CRAWL_DELAY_SECONDS}\n".encode())


def hosts(count: int) -> list[str]:
    return [f"h{number}.plain.test" for number in range(count)]


def urls(names: list[str], pages: int, suffix: str) -> list[str]:
    """The URLs of `pages` pages on each host."""
    return [f"http://{host}{suffix}/p{number}" for host in names for number in range(pages)]


def respond(request: Request) -> Response:
    """A page of its own for every address; every third takes a while."""
    if request.target == "/robots.txt":
        return PATIENT_ROBOTS if request.host == PATIENT_HOST else ROBOTS
    body = f"<title>{request.target}</title><p>Page {request.target} of {request.host}.".encode()
    slow = request.target.endswith(("0", "3", "6", "9"))
    return Response(200, (("Content-Type", "text/html"),), body, wait_seconds=0.03 if slow else 0.0)


class Task:
    """A process that runs `tests.crawl.task`; entering the block waits until it begins."""

    def __init__(self, what: str, settings: Path, *arguments: object) -> None:
        command = [sys.executable, "-m", "tests.crawl.task", what, str(settings), *map(str, arguments)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
        )

    def __enter__(self) -> "Task":
        assert self.process.stdout is not None
        if self.process.stdout.readline().strip() != "ready":
            raise AssertionError(self.process.communicate()[1])
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    @property
    def pid(self) -> int:
        return self.process.pid

    def end(self, timeout: float) -> tuple[int, str]:
        """Wait for the end; the exit code and standard error."""
        _, errors = self.process.communicate(timeout=timeout)
        return self.process.returncode, errors
