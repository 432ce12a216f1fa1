"""What the demo ends with: tables from the lake's views, set against the web's truth and the server's own log.

Reads the published lake, the truth and the request log. Writes nothing; whoever calls it prints.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.table import Table

from crawler.demo.audit import server_audit
from crawler.demo.hosts import DOMAIN, Role
from crawler.demo.traps import FETCH_LIMITS, is_trapped
from crawler.demo.truth import Truth
from crawler.store import query
from crawler.store.lake import Lake
from crawler.store.reader import open_reader

Row = Mapping[str, Any]

# Changes a day up to which a page belongs to the line.
_PACES = ((0.0, "never changes"), (1 / 20, "changes monthly or less"), (1 / 3, "weekly"), (1e9, "daily or more"))


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the DAG. kind: daily or backfill."""

    cycle: str
    kind: str
    state: str
    seconds: float


@dataclass(slots=True)
class Report:
    """Tables in their order, and what must hold with whether it does."""

    tables: list[Table] = field(default_factory=list)
    checks: list[tuple[str, bool]] = field(default_factory=list)

    @property
    def is_well(self) -> bool:
        return all(holds for _, holds in self.checks)

    def require(self, promise: str, holds: bool) -> None:
        self.checks.append((promise, holds))


def make_report(lake: Lake, truth: Truth, request_log: Path, runs: Sequence[Run]) -> Report:
    """Everything that the demo shows; the lake's clock says when the web is looked at."""
    con = open_reader(lake)

    def ask(name: str) -> list[dict[str, Any]]:
        return query.rows(query.run(con, f"demo/{name}"))

    report = Report()
    now = lake.clock.now()
    live = ask("live")
    add_cycles(report, ask("cycles"), runs)
    add_coverage(report, ask("coverage")[0], set(truth.urls(now)), {str(page["url"]) for page in live})
    add_freshness(report, live, truth, now)
    requests = ask("requests")[0]
    add_savings(report, requests)
    add_copies(report, ask("copies"))
    log = read_log(request_log)
    add_traps(report, ask("traps"), log)
    add_politeness(report, requests, log, least_delays(lake, truth))
    report.tables.append(_checks_table(report.checks))
    return report


def eventful_url(lake: Lake) -> str | None:
    """The URL whose story tells most: that of the page with most changes, and most checks without; None without any."""
    found = query.run(open_reader(lake), "demo/eventful").fetchone()
    return found[0] if found else None


def least_delays(lake: Lake, truth: Truth) -> dict[str, float]:
    """The seconds that each host is owed at least: the settings' floor or its Crawl-delay."""
    politeness = lake.settings.politeness
    return {
        host: max(politeness.delay_seconds, min(delay, politeness.crawl_delay_cap_seconds))
        for host, delay in truth.crawl_delays().items()
    }


def add_cycles(report: Report, cycles: Sequence[Row], runs: Sequence[Run]) -> None:
    """Per cycle: planned, fetched, unchanged, new, late."""
    headings = ("cycle", "run", "planned", "fetched", "unchanged", "changed", "new", "late", "open")
    table = _table("Cycles", *headings, "found", "seconds")
    by_cycle = {str(row["cycle"]): row for row in cycles}
    names = ("planned", "fetched", "unchanged", "changed", "first_fetched", "late", "open", "new_urls")
    for run in sorted(runs, key=lambda run: run.cycle):
        row = by_cycle.get(run.cycle, {})
        counts = [_number(row[name]) if name in row else "" for name in names]
        table.add_row(run.cycle, run.kind, *counts, f"{run.seconds:.0f}")
    report.tables.append(table)
    late = {"daily": 0, "backfill": 0}
    for run in runs:
        late[run.kind] += by_cycle.get(run.cycle, {}).get("late", 0)
    report.require("every run of the DAG ended in success", all(run.state == "success" for run in runs))
    report.require("every cycle is published with all its buckets", _all_published(by_cycle, runs))
    report.require("no row of a daily cycle is late", late["daily"] == 0)
    report.require("rows of the backfilled cycle are late, and say so", late["backfill"] > 0)


def add_coverage(report: Report, counts: Row, findable: set[str], live: set[str]) -> None:
    """What is known and fetched, of what a polite crawler can find in this web now."""
    table = _table("Coverage", "", "URLs")
    for name, value in counts.items():
        table.add_row(f"{name.replace('_', ' ')}", _number(value))
    table.add_section()
    table.add_row("pages that can be found in the web now", _number(len(findable)))
    fetched = len(findable & live)
    table.add_row("of these fetched", f"{_number(fetched)} ({_share(fetched, len(findable))})")
    report.tables.append(table)
    report.require("pages were fetched", bool(live))


def add_freshness(report: Report, live: Iterable[Row], truth: Truth, now: datetime) -> None:
    """How many of the copies equal what the web would answer at `now`, by how often the pages change."""
    copies: Counter[str] = Counter()
    current: Counter[str] = Counter()
    for page in live:
        pace = next(word for most, word in _PACES if truth.changes_per_day(page["url"]) <= most)
        copies[pace] += 1
        current[pace] += not truth.changed_between(page["url"], page["fetched_at"], now)
    title = f"Freshness: what the web's truth says of our copies at {now:%Y-%m-%d %H:%M}"
    table = _table(title, "page", "copies", "current", "share")
    for _, pace in _PACES:
        table.add_row(pace, _number(copies[pace]), _number(current[pace]), _share(current[pace], copies[pace]))
    table.add_section()
    table.add_row("all", _number(copies.total()), _number(current.total()), _share(current.total(), copies.total()))
    report.tables.append(table)


def add_savings(report: Report, requests: Row) -> None:
    """Bytes that conditional requests spared."""
    table = _table("Saved by 304", "conditional requests", "answered 304", "bytes received", "bytes saved", "share")
    wire, saved = requests["wire_bytes"], requests["saved_bytes"]
    counts = (requests["conditional"], requests["not_modified"], wire, saved)
    table.add_row(*map(_number, counts), _share(saved, wire + saved))
    report.tables.append(table)
    report.require("conditional requests saved bytes", saved > 0)


def add_copies(report: Report, copies: Sequence[Row]) -> None:
    """Mirrors that were recognised."""
    table = _table("Copies", "host", "repeats", "pages", "bytes")
    for row in copies:
        table.add_row(row["host"], row["first_host"], _number(row["copies"]), _number(row["repeated_bytes"]))
    report.tables.append(table)


def add_traps(report: Report, traps: Iterable[Row], log: Iterable[Mapping[str, Any]]) -> None:
    """What each trap cost, by the server's own log, and the rules that stopped it."""
    fetched: dict[Role, set[str]] = {role: set() for role in FETCH_LIMITS}
    for line in log:
        role = Role(name) if (name := str(line["host"]).removesuffix(f".{DOMAIN}")) in set(FETCH_LIMITS) else None
        if role and is_trapped(role, str(line["path"])):
            fetched[role].add(str(line["path"]))
    by_host: dict[str, list[Row]] = {}
    for row in traps:
        by_host.setdefault(row["host"], []).append(row)
    table = _table("Traps", "host", "stopped by", "URLs", "kept out of plans", "pages fetched", "at most")
    for role, most in FETCH_LIMITS.items():
        host = f"{role}.{DOMAIN}"
        rows = by_host.pop(host, [{"rule": "", "urls": 0, "held": 0}])
        for number, row in enumerate(rows):
            cost = ("", "") if number else (_number(len(fetched[role])), _number(most))
            table.add_row("" if number else host, row["rule"], _number(row["urls"]), _number(row["held"]), *cost)
        report.require(f"the trap {host} cost no more than {most} pages", 0 < len(fetched[role]) <= most)
    for host, rows in by_host.items():
        for row in rows:
            table.add_row(host, row["rule"], _number(row["urls"]), _number(row["held"]), "", "")
    report.tables.append(table)


def read_log(path: Path) -> list[dict[str, Any]]:
    """The lines of the server's request log."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def add_politeness(
    report: Report, requests: Row, log: Sequence[Mapping[str, Any]], delays: Mapping[str, float]
) -> None:
    """The audit of our log and the server's own of its log; both must find nothing."""
    violations = server_audit(log, delays)
    table = _table("Politeness", "log", "requests", "hosts' delays broken")
    sent = requests["pages"] + requests["robots"]
    table.add_row("ours (view politeness_audit)", _number(sent), _number(requests["violations"]))
    table.add_row("the server's", _number(len(log)), _number(len(violations)))
    report.tables.append(table)
    for found in violations[:5]:
        table.add_row(f"  {found.host}{found.path}", f"{found.gap_seconds:.3f} s", f"owed {found.delay_seconds:.3f} s")
    report.require("no host was asked before its delay was over, by our log", requests["violations"] == 0)
    report.require("no host was asked before its delay was over, by the server's log", not violations)
    report.require("the server saw no request that our log lacks", len(log) <= sent)


def _all_published(cycles: Mapping[str, Row], runs: Iterable[Run]) -> bool:
    return all(run.cycle in cycles and cycles[run.cycle]["failed_buckets"] == 0 for run in runs)


def _checks_table(checks: Iterable[tuple[str, bool]]) -> Table:
    table = _table("Is all well?", "promise", "kept")
    for promise, holds in checks:
        table.add_row(promise, "yes" if holds else "NO", style=None if holds else "bold red")
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    for number, column in enumerate(columns):
        is_text = number == 0 or column in ("run", "repeats", "stopped by", "kept")
        table.add_column(column, justify="left" if is_text else "right", overflow="fold")
    return table


def _number(value: int) -> str:
    return f"{value:,}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"
