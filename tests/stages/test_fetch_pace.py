"""The pace of hosts and addresses in a real fetch: real threads and sockets, a server that keeps its own log."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import duckdb

from crawler.core.clock import SystemClock
from crawler.core.config import Settings
from crawler.core.cycle import Cycle
from crawler.core.fetch_settings import HostSettings
from crawler.core.keys import host_key
from crawler.core.model import Row
from crawler.stages import fetch
from crawler.store import query, tables
from tests.stages.memory_ledger import MemoryLedger, make_settings
from tests.web.server import ScriptedServer
from tests.web.site import PAGE, site

ADDRESS = "127.0.0.9"
TOLERANCE_SECONDS = 0.005


def run(ledger: MemoryLedger, server: ScriptedServer, settings: Settings, **hosts: HostSettings) -> dict[str, int]:
    """A fetch with settings for hosts besides, whose names are without their `.test`."""
    settings = settings.model_copy(update={"host": {f"{name}.test": own for name, own in hosts.items()}})
    with server.intercept():
        return fetch.fetch(ledger, settings, SystemClock(), Cycle(datetime.now(UTC).date()), 0, 1)


def violations(ledger: MemoryLedger) -> list[Any]:
    """What politeness_audit finds in the rows of a ledger."""
    con = duckdb.connect()
    for _, text in query.scripts("macros"):
        con.execute(text)
    stamp = {"cycle": datetime.now(UTC).date(), "bucket": 0, "epoch": 1, "sequence": 1}
    for table in ("observation", "robots"):
        con.register(table, tables.rows_table(table, [{**row, **stamp} for row in ledger.rows[table]]))
    con.execute(query.sql_text("views/06_politeness_audit").replace("CREATE VIEW", "CREATE TEMP VIEW"))
    return con.execute("FROM politeness_audit").fetchall()


def urls(*paths: str, host: str = "a.test") -> list[str]:
    return [f"http://{host}/{path}" for path in paths]


def numbered(count: int, host: str = "a.test") -> list[str]:
    return urls(*map(str, range(count)), host=host)


def state(host: str, **known: Any) -> Row:
    """A row of host_state that an earlier task left."""
    now = datetime.now(UTC)
    row = {
        "host_key": host_key(host), "host": host, "address": None, "delay_seconds": 0.0, "allowed_at": now,
        "response_seconds": 0.0, "crawl_delay_seconds": None, "penalty": 1.0, "error_streak": 0, "requests": 1,
        "busy_at": None, "slow": False, "validator_audits": 0, "validator_lies": 0,
    }  # fmt: skip
    return row | known


def starts(server: ScriptedServer, host: str = "a.test") -> list[float]:
    return sorted(r.started for r in server.log if r.url.startswith(f"http://{host}/"))


def closest(instants: Sequence[float]) -> float:
    return min(two - one for one, two in pairwise(instants))


# Several connections


def test_several_connections_ask_a_slow_site_at_its_usual_rate() -> None:
    ledger = MemoryLedger(numbered(8))
    with site({"http://a.test/*": {"body": PAGE, "delay_before_headers_s": 0.5}}) as server:
        run(ledger, server, make_settings(delay_seconds=0.1), a=HostSettings(connections=4))
        pages = [request for request in server.log if not request.url.endswith("robots.txt")]
    assert server.log[0].url.endswith("robots.txt")
    # When a server sees a request depends on its own thread as well; the log is exact.
    assert closest(starts(server)) >= 0.05
    sent = sorted(row["fetched_at"].timestamp() for table in ("observation", "robots") for row in ledger.rows[table])
    assert closest(sent) >= 0.1 - 1e-4
    at_once = [sum(o.started <= r.started < (o.ended or 0.0) for o in pages) for r in pages]
    assert 3 <= max(at_once) <= 4
    assert len(ledger.outcomes()) == 8
    assert {row["connections"] for row in ledger.rows["observation"]} == {4}
    assert violations(ledger) == []


def test_a_busy_answer_stops_all_connections_of_a_site() -> None:
    busy = {"status": 429, "headers": [["Retry-After", "1"]], "body": "slow down"}
    slow = {"body": PAGE, "delay_before_headers_s": 0.3}
    ledger = MemoryLedger(numbered(10))
    with site({"http://a.test/*": slow, "http://a.test/2": busy}) as server:
        run(ledger, server, make_settings(delay_seconds=0.05), a=HostSettings(connections=3))
        ended = next(request.ended for request in server.log if request.url.endswith("/2"))
        assert ended is not None
        early = [at for at in starts(server) if ended + 0.1 < at < ended + 1 - TOLERANCE_SECONDS]
    assert early == []
    assert len(ledger.outcomes()) == 10
    assert violations(ledger) == []


def test_several_connections_do_not_exceed_the_cap_of_a_day() -> None:
    ledger = MemoryLedger(numbered(9))
    with site({"http://a.test/*": {"body": PAGE, "delay_before_headers_s": 0.2}}) as server:
        run(ledger, server, make_settings(), a=HostSettings(connections=4, max_urls=3))
        assert len(server.log) == 1 + 3


# Sections


def test_sections_of_a_site_take_turns_by_their_shares_best_first_within_each() -> None:
    ledger = MemoryLedger(urls(*(f"docs/{n}" for n in range(6)), *(f"blog/{n}" for n in range(3)), "about"))
    with site() as server:
        run(ledger, server, make_settings(), a=HostSettings(prefixes={"/docs/": 3, "/blog/": 1}))
        asked = [request.url.removeprefix("http://a.test/") for request in server.log[1:]]
    for section in ("docs", "blog"):
        found = [path for path in asked if path.startswith(section)]
        assert found == sorted(found)
    assert [path.partition("/")[0] for path in asked[:5]].count("docs") == 3
    assert {"docs", "blog", "about"} == {path.partition("/")[0] for path in asked[:5]}
    assert len(asked) == 10


# The slow lane


def test_hosts_that_do_not_answer_move_to_the_slow_lane_which_is_kept() -> None:
    silent = {f"http://dead{n}.test/*": {"body": PAGE, "delay_before_headers_s": 5} for n in range(3)}
    hosts = ["a.test", *(f"dead{n}.test" for n in range(3))]
    fast = {"read_seconds": 0.2, "threads": 4, "slow_threads": 1, "segment_seconds": 0.1}
    ledger = MemoryLedger([url for n in range(3) for url in numbered(6, f"dead{n}.test")] + numbered(15))
    with site(silent, hosts=hosts) as server:
        run(ledger, server, make_settings(fetch=fast))
    assert set(ledger.outcomes().values()) == {"ok", "timed_out"}
    newest = {row["host"]: row for row in ledger.rows["host_state"]}
    assert {host for host, row in newest.items() if row["slow"]} == {f"dead{n}.test" for n in range(3)}
    assert ledger.hosts()["dead0.test"].slow
    late = sorted(row["fetched_at"] for row in ledger.rows["observation"] if row["outcome"] == "timed_out")[-6:]
    assert min(two - one for one, two in pairwise(late)) > timedelta(seconds=0.15), "one at a time"


# The day's cap


def test_a_host_that_was_too_busy_yesterday_gets_half_of_what_its_day_allows() -> None:
    settings = make_settings(fetch={"window_hours": 0.00023}, delay_seconds=0.1)  # 0.83 s: eight requests
    for days, requests in ((0, 4), (1, 4), (2, 8)):
        ledger = MemoryLedger(numbered(12))
        ledger.rows["host_state"] = [state("a.test", busy_at=datetime.now(UTC) - timedelta(days=days))]
        with site() as server:
            run(ledger, server, settings)
            assert len(server.log) == requests, days


def test_when_a_host_was_too_busy_is_written_down() -> None:
    ledger = MemoryLedger(numbered(2))
    with site({"http://a.test/0": {"status": 503, "body": "busy"}}) as server:
        run(ledger, server, make_settings())
    assert ledger.rows["host_state"][-1]["busy_at"] == ledger.rows["observation"][0]["ended_at"]
    assert ledger.rows["host_state"][-1]["penalty"] > 1


# Addresses


def test_an_address_is_asked_at_its_rate_and_each_row_says_by_which_terms() -> None:
    hosts = {f"h{number}.test": {"address": ADDRESS} for number in range(5)}
    ledger = MemoryLedger([url for host in hosts for url in numbered(2, host)])
    ledger.shared_addresses = {ADDRESS: 2}
    with site(hosts=hosts) as server:
        run(ledger, server, make_settings(address_delay_seconds=0.04))
        # A server sees a request as late as its own thread lets it; the log has the instant of the send.
    rows = [row for table in ("observation", "robots") for row in ledger.rows[table]]
    sent = sorted(row["fetched_at"] for row in rows)
    assert len(sent) == 15
    assert min(two - one for one, two in pairwise(sent)) >= timedelta(seconds=0.075)
    assert {(row["address_delay_seconds"], row["address_buckets"]) for row in rows} == {(0.04, 2)}
    assert violations(ledger) == []


def test_an_exempt_address_has_no_interval() -> None:
    hosts = {f"h{number}.test": {"address": ADDRESS} for number in range(5)}
    ledger = MemoryLedger([f"http://{host}/" for host in hosts])
    with site(hosts=hosts) as server:
        run(ledger, server, make_settings(address_delay_seconds=60.0, address_exempt=["127.0.0.0/8"]))
    assert len(ledger.outcomes()) == 5
    assert {row["address_delay_seconds"] for row in ledger.rows["observation"]} == {0.0}


def test_the_gate_is_that_of_the_address_that_is_connected_and_a_host_follows_it() -> None:
    """Both hosts were known elsewhere; DNS now says that they are neighbours."""
    hosts = {f"h{number}.test": {"address": ADDRESS} for number in range(2)}
    ledger = MemoryLedger([url for host in hosts for url in numbered(3, host)])
    ledger.rows["host_state"] = [state(host, address=f"127.0.0.{20 + number}") for number, host in enumerate(hosts)]
    with site(hosts=hosts) as server:
        run(ledger, server, make_settings(address_delay_seconds=0.1))
    rows = [row for table in ("observation", "robots") for row in ledger.rows[table]]
    sent = sorted(row["fetched_at"] for row in rows)
    assert min(two - one for one, two in pairwise(sent)) >= timedelta(seconds=0.095)
    assert {row["address"] for row in ledger.rows["host_state"][2:]} == {ADDRESS}


# Hosts without a plan


def test_a_hold_of_a_host_without_a_plan_is_kept_when_a_robots_txt_redirects_there() -> None:
    onward = {"status": 302, "headers": [["Location", "http://b.test/robots.txt"]]}
    ledger = MemoryLedger(numbered(2), window_seconds=2)
    until = datetime.now(UTC) + timedelta(hours=1)
    ledger.rows["host_state"] = [state("b.test", delay_seconds=3600.0, allowed_at=until)]
    with site({"http://a.test/robots.txt": onward}, hosts=["a.test", "b.test"]) as server:
        run(ledger, server, make_settings())
        assert starts(server, "b.test") == []
