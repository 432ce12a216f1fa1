"""The server's own audit of its request log."""

import json
import threading
import time
from pathlib import Path

from crawler.demo.audit import TOLERANCE_SECONDS, server_audit
from tests.demo.conftest import Browser, Served


def line(host: str, start: float, last_write: float, path: str = "/") -> dict[str, object]:
    return {
        "host": host, "path": path, "instant_start": "2026-01-01T00:00:00.000000+00:00", "monotonic_start": start,
        "monotonic_last_write": last_write, "monotonic_end": last_write + 0.0005,
    }  # fmt: skip


def test_a_request_within_the_delay_of_the_end_of_the_one_before_is_a_violation() -> None:
    lines = [line("a", 10.0, 10.5), line("a", 11.4, 11.5, "/early"), line("a", 12.5, 12.6), line("b", 10.1, 10.2)]
    (violation,) = server_audit(lines, {"a": 1.0, "b": 1.0})
    assert (violation.host, violation.path, violation.delay_seconds) == ("a", "/early", 1.0)
    assert round(violation.gap_seconds, 6) == 0.9


def test_requests_of_different_hosts_and_hosts_without_a_delay_may_follow_at_once() -> None:
    lines = [line("a", 10.0, 10.5), line("b", 10.5, 10.6), line("b", 10.6, 10.7)]
    assert server_audit(lines, {"a": 1.0}) == []
    assert len(server_audit(lines, {"a": 1.0}, default=0.2)) == 1


def test_overlapping_requests_are_a_violation_even_without_a_delay() -> None:
    (violation,) = server_audit([line("a", 10.2, 10.3), line("a", 10.0, 10.5)], {})
    assert round(violation.gap_seconds, 6) == -0.3


def test_a_long_request_counts_to_its_end_when_a_shorter_one_ran_beside_it() -> None:
    lines = [line("a", 10.0, 15.0), line("a", 11.0, 11.1), line("a", 15.5, 15.6)]
    assert len(server_audit(lines, {"a": 1.0})) == 2


def test_the_tolerance_is_a_millisecond() -> None:
    assert TOLERANCE_SECONDS <= 0.02
    lines = [line("a", 10.0, 10.5), line("a", 11.5 - 0.0009, 12.0), line("a", 13.0 - 0.0011, 13.5)]
    assert len(server_audit(lines, {"a": 1.0})) == 1


def test_the_audit_of_a_real_log_finds_whom_the_client_hurried_and_nobody_else(served: Served, tmp_path: Path) -> None:
    before = len(served.log_lines())
    delay = 0.05
    threads = [
        threading.Thread(target=_ask, args=(served, host, pause))
        for host, pause in (("hub", delay), ("press", delay), ("moved", delay), ("packed", 0.6 * delay))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    while len(served.log_lines()) < before + 80:
        time.sleep(0.01)
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(entry) + "\n" for entry in served.log_lines()[before:]))
    assert {violation.host for violation in server_audit(log, {}, default=delay)} == {"packed.demo.test"}


def _ask(served: Served, host: str, pause: float) -> None:
    """Twenty requests, each the pause after the end of the one before, on the client's clock."""
    browser = Browser(served.web.resolve, served.web.port)
    for _ in range(20):
        browser.get(served.url(host, "/"))
        ended = time.monotonic()
        while time.monotonic() < ended + pause:
            time.sleep(max(0.0, ended + pause - time.monotonic()))
    browser.close()
