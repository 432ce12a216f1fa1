"""Every statement of sql/ binds to what its header says it reads, and to nothing else.

A renamed column, an input that the header does not name and a parameter that it forgets fail here.
"""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest

from crawler.store import query
from crawler.store.backtest import _PRIOR
from crawler.store.budget import _GENERAL, _HELD, _OWN
from crawler.store.candidates import _BELIEF
from crawler.store.reader import _publication_query
from crawler.store.steering import _INTERVALS, _WEIGHTS

FIELDS = ("Reads", "Writes", "Params", "Grain")
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TABLES = [path.stem for path in sorted((query.sql_folder() / "schema").glob("*.sql"))]
VIEWS = {path.stem[3:]: f"views/{path.stem}" for path in sorted((query.sql_folder() / "views").glob("*.sql"))}
STATEMENTS = sorted(
    str(path.relative_to(query.sql_folder()).with_suffix(""))
    for path in query.sql_folder().rglob("*.sql")
    if path.parent.name not in ("schema", "macros")
)

# The inputs that stages and readers make of files, by the table that the files are of.
FILES = {
    "base_page": "page",
    "base_host": "host_state",
    "base_robots": "robots",
    "state_page": "page",
    "ready_page": "page",
    "listed_page": "page",
    "tail_url": "url",
    "tail_observation": "observation",
    "tail_duplicate": "duplicate",
    "tail_mention": "mention",
    "given_link": "link",
    "tail_host": "host_state",
    "tail_robots": "robots",
    "observed": "observation",
    "newest_host": "host_state",
    "base_tally": "tally",
    "counted_observation": "observation",
    "newest_tally": "tally",
    "recent_observation": "observation",
    "recent_robots": "robots",
    **{
        f"{table}_files": table
        for table in ("plan", "link", "copy", "near", "capture", "observation", "page", "robots", "seed", "url")
    },
    **{f"cycle_{table}": table for table in ("observation", "robots", "capture", "copy", "plan", "admitted")},
    "capture_log": "capture",
    "capture_file": "capture",
}
# Those that a stage makes of another statement's result.
RESULTS = {
    "touched": "state/touched",
    "mentioned": "state/mentioned",
    "asked": "state/asked",
    "streak": "state/streak",
    "checked": "state/checked",
    "evidence": "state/evidence",
    "host_sums": "plan/host_sums",
    "survey_host": "plan/host_sums",
    "host_belief": "plan/host_belief",
    "reopened": "plan/reopened",
    "scored": "plan/scored",
    "ranked": "plan/ranked",
    "folded": "state/fold_touched",
    "verdict": "scope/verdict",
    "todo": "fetch/todo",
    "known": "fetch/known",
    "followed_link": "merge/followed",
    "seen": "merge/seen",
    "found": "state/found",
    "touched_page": "state/touched_page",
    "overlay": "state/overlay",
    "judged": "merge/judged",
    "text_size": "trap/text",
    "repeated_page": "trap/repeated",
    "host_size": "trap/host",
    "large_host": "trap/large_host",
    "large_pattern": "trap/large_pattern",
    "pattern_size": "trap/pattern",
    "path_size": "trap/path",
    "kept_out": "trap/held",
    "stopped": "trap/stopped",
    "forced": "steering/forced",
    "steering": "steering/steering",
    "arriving": "fingerprint/arriving",
    "arrived": "fingerprint/arrived",
    "arrived_here": "fingerprint/arrived_here",
    "near_known": "fingerprint/near_known",
    "near_touched": "fingerprint/near_touched",
    "comparable": "fingerprint/comparable",
    "came": "fingerprint/came",
    "known_copy": "fingerprint/known_copy",
    "watched": "trap/watched",
    "trap_page": "trap/page",
    "pair": "fingerprint/pair",
    "near_label": "state/near_label",
    "lately": "publish/lately",
    "standing": "publish/standing",
    "total": "publish/total",
    "largest": "publish/largest",
    "planned": "plan/plan",
    "replayed_url": "backtest/url",
    "replayed_period": "backtest/period",
    "learnt": "state/evidence",
    "replayed_start": "backtest/start",
    "replayed_copy": "backtest/start",
    "replayed_known": "backtest/known",
    "replayed_value": "backtest/uniform",
    "replayed_chosen": "backtest/chosen",
    "standing_files": "trial/standing",
    "choice": "trial/choice",
    "believed": "explain/believed",
    "counted_url": "upkeep/counted_url",
    "spent_body": "upkeep/spent_body",
}
_ARRIVING = "url_key UBIGINT, pattern_key UBIGINT, host_key UBIGINT, host VARCHAR, url VARCHAR, depth USMALLINT"
# Those that a stage makes of settings.
GIVEN = {
    "found_copy": "kind VARCHAR, digest BLOB, first_url VARCHAR, held_on DATE",
    "taken_copy": "kind VARCHAR, digest BLOB, first_url VARCHAR, held_on DATE",
    "found_pair": "simhash UBIGINT, near_simhash UBIGINT",
    "skipped": "simhash UBIGINT, keys UTINYINT",
    "maybe_seen": "url_key UBIGINT",
    "replayed_prior": _PRIOR,
    "general_rule": _GENERAL,
    "host_rule": _OWN,
    "held": _HELD,
    "held_host": "host VARCHAR",
    "closed_host": "host VARCHAR",
    "rest": "days MAP(VARCHAR, DOUBLE[])",
    "host_cap": "host_key UBIGINT, host VARCHAR, cap BIGINT",
    "noisy_host": "host_key UBIGINT, noisy BOOLEAN",
    "crawl_belief": _BELIEF,
    "shortest": "priority INTEGER",
    "renamed": "url_key UBIGINT, identity_key UBIGINT",
    "scope_rule": "host VARCHAR, ordinal INTEGER, allow BOOLEAN, pattern VARCHAR, rule VARCHAR",
    "in_scope_host": "host VARCHAR",
    "arriving_url": _ARRIVING,
    "exempt_host": "host_key UBIGINT",
    "purged_url": "url_key UBIGINT, host VARCHAR",
    "purged_host": "host VARCHAR",
    "wanted": "url_key UBIGINT",
    "weight_rule": _WEIGHTS,
    "interval_rule": _INTERVALS,
    "force_order": "url_key UBIGINT, forced_at TIMESTAMPTZ, reason VARCHAR",
    "span": "bucket USMALLINT, after_epoch UBIGINT, upto_epoch UBIGINT",
}
CANDIDATES = {
    "plan": ["plan/candidate"],
    "explain": ["plan/candidate"],
    "merge": ["merge/arriving"],
    "scope": ["plan/candidate", "merge/arriving"],
    "trap": ["plan/candidate"],
    "identity": ["plan/candidate"],
}
PARAMETERS: dict[str, Any] = {
    "cycle": date(2026, 3, 1),
    "bucket": 0,
    "shard": 0,
    "epoch": 1,
    "sequence": 1,
    "planned_epoch": 0,
    "now": NOW,
    "since": NOW,
    "before": NOW,
    "min_interval_days": 0.9,
    "whole": True,
    "horizon_days": 8,
    "lowest": 0,
    "floor": 0,
    "seeds": True,
    "objective": "freshness",
    "sitemap_interval_days": 0.9,
    "sitemaps_per_host": 10,
    "new_limit": 6,
    "new_may_fill": True,
    "overdue_limit": 1,
    "new_cutoff_priority": 2**31 - 1,
    "new_cutoff_url_key": 2**64 - 1,
    "byte_room": None,
    "recheck_seeds_days": 1.0,
    "until": NOW,
    "first_at": NOW,
    "at": NOW,
    "interval_days": 30.0,
    "every_days": 7.0,
    "cap": 10,
    "budget": 10,
    "other_cap": 10,
    "bin": -1,
    "room": 1,
    "cutoff_priority": 2**31 - 1,
    "cutoff_url_key": 2**64 - 1,
    "low_key": 0,
    "high_key": 2**64 - 1,
    "counts_held": True,
    "held_since": "2026-03-01",
    "low": b"\x00\x00",
    "high": b"\xff" * 33,
    "schemes": ["http"],
    "ruled_hosts": ["a.test"],
    "everywhere": True,
    "ports": [],
    "max_hops": 0,
    "max_urls_per_host": 10,
    "max_urls_per_pattern": 10,
    "min_new_share": 0.2,
    "max_urls_per_text": 10,
    "max_query_combinations": 3,
    "max_urls_per_value": 10,
    "max_barren_pages_per_host": 10,
    "url": "http://a.test/",
    "origin": "http://a.test",
    "version": "0123456789ab",
    "most": 10,
    "url_key": 1,
    "target_url_key": 1,
    "target_host_key": 1,
    "hosts": 10,
    "max_distance": 3,
    "most_alike": 10,
}
Columns = tuple[tuple[str, str], ...]


def header(name: str) -> dict[str, str]:
    """The fields of a statement's header; `Reads`, `Params` and so on may go over several lines."""
    found: dict[str, str] = {}
    field = ""
    for line in query.sql_text(name).splitlines():
        if not line.startswith("--"):
            break
        text = line.removeprefix("--").strip()
        if text.partition(":")[0] in FIELDS:
            field, _, text = text.partition(":")
        found[field] = f"{found.get(field, '')} {text}".strip()
    return found


def reads(name: str) -> list[str]:
    """The names that the header says the statement reads."""
    return re.findall(r"[a-z_]+", re.sub(r"\([^)]*\)", "", header(name)["Reads"]))


def code(name: str) -> str:
    return re.sub(r"--.*", "", query.sql_text(name))


def parameters(name: str) -> set[str]:
    return set(re.findall(r"\$([a-z_]+)", code(name)))


def input_columns(name: str, of: str, candidate: str | None) -> Columns:
    """The columns of the input `name` of the statement `of`."""
    folder = of.partition("/")[0]
    if name in ("earlier", "fresh"):
        return query.columns_of(of.partition("fold_")[2] or "link")
    if name == "candidate":
        return result_columns(candidate or CANDIDATES[folder][0])
    if name == "publication":
        return described(duckdb.sql(_publication_query([])))
    if name in GIVEN:
        return described(duckdb.sql(f"SELECT {', '.join(f'NULL::{kind} AS {column}' for column, kind in given(name))}"))
    if name in VIEWS and folder in ("views", "reports", "demo", "publish", "overview"):
        return result_columns(VIEWS[name])
    if name in RESULTS:
        return result_columns(RESULTS[name])
    return query.columns_of(FILES.get(name, name))


def given(name: str) -> list[tuple[str, str]]:
    columns = re.split(r", (?![^(]*\))", GIVEN[name])  # not within STRUCT(...)
    return [(column, kind) for column, kind in (part.split(" ", 1) for part in columns)]


def described(relation: duckdb.DuckDBPyRelation) -> Columns:
    return tuple(zip(relation.columns, map(str, relation.types), strict=True))


@cache
def result_columns(name: str, candidate: str | None = None) -> Columns:
    """Bind a statement to empty inputs with its header's names; returns its columns. Raises duckdb.Error."""
    con = duckdb.connect()
    for _, text in query.scripts("macros"):
        con.execute(text)
    for each in reads(name):
        columns = input_columns(each, name, candidate)
        assert columns, f"{name} reads {each}, of which nothing is known"
        con.execute(f'CREATE TABLE "{each}" ({", ".join(f"{column} {kind}" for column, kind in columns)})')
    text = code(name)
    view = re.match(r"\s*CREATE VIEW (\w+) AS", text)
    if view:
        con.execute(text)
        text = f"FROM {view[1]}"
    values = {parameter: PARAMETERS[parameter] for parameter in parameters(name)}
    found = described(con.sql(text, params=values))
    con.sql(text, params=values).fetchall()
    return found


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_binds_to_what_its_header_names_and_needs_nothing_else(name: str) -> None:
    assert result_columns(name)


@pytest.mark.parametrize("candidate", CANDIDATES["scope"])
def test_the_verdict_of_scope_binds_to_the_candidates_of_plan_and_of_merge(candidate: str) -> None:
    assert result_columns("scope/verdict", candidate)


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_uses_every_input_that_its_header_names(name: str) -> None:
    assert [each for each in reads(name) if not re.search(rf"\b{each}\b", code(name))] == []


@pytest.mark.parametrize("name", STATEMENTS)
def test_the_parameters_of_a_header_are_those_of_the_statement(name: str) -> None:
    said = header(name).get("Params")
    assert (said is not None) == bool(parameters(name))
    if said:
        words = set(re.findall(r"\w+", said))
        assert parameters(name) <= words
        assert {word for word in words if "_" in word} <= parameters(name) | set(reads(name))


@pytest.mark.parametrize("name", [name for name in STATEMENTS if "columns of" in header(name)["Grain"]])
def test_a_statement_that_promises_a_table_s_columns_has_them(name: str) -> None:
    table = header(name)["Grain"].partition("columns of ")[2].rstrip(".")
    assert {column for column, _ in result_columns(name)} == {column for column, _ in query.columns_of(table)}


def test_every_table_view_and_macro_is_named_by_its_file() -> None:
    for table in TABLES:
        assert query.columns_of(table), table
    for view, name in VIEWS.items():
        assert f"CREATE VIEW {view} AS" in query.sql_text(name)


def test_every_statement_is_asked_for_by_the_product() -> None:
    """By its name in the code; the files of checks, views and reports are taken by folder."""
    root = Path(query.__file__).parents[2]
    text = "\n".join(read_all(path for part in ("crawler", "dags", "plugins") for path in (root / part).rglob("*.py")))
    by_folder = ("checks", "views", "reports")
    unused = [
        name
        for name in STATEMENTS
        if name.partition("/")[0] not in by_folder and f'"{name}"' not in text and not is_built(name, text)
    ]
    assert unused == []


def is_built(name: str, text: str) -> bool:
    """Whether the code makes the name of a part that it has in hand, e.g. fetch/fold_{table}."""
    stems = re.findall(r'f"([a-z]+/(?:[a-z]+_)?)\{', text)
    return any(name.startswith(stem) for stem in stems)


def read_all(paths: Iterable[Path]) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in paths]
