"""The macros of scheduling: the derived test vectors, and a plain reading of the formulas in numpy."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from crawler.store import query

CASES = json.loads((Path(__file__).parents[1] / "cases" / "scheduling_vectors.json").read_text(encoding="utf-8"))
RATES = np.array(CASES["grid"])
K = [f"k{k}" for k in range(len(RATES))]


def of_kind(kind: str) -> list[Any]:
    return [
        pytest.param(case["in"], case["out"], id=str(case["id"])) for case in CASES["vectors"] if case["kind"] == kind
    ]


@cache
def connected() -> duckdb.DuckDBPyConnection:
    return query.catalogue()


def ask(text: str, **parameters: Any) -> Any:
    (row,) = connected().execute(f"SELECT {text}", parameters).fetchall()
    return row[0]


def by_rate(values: Any) -> dict[str, Any]:
    return dict(zip(K, values, strict=True))


def evidence(checks: list[dict[str, Any]]) -> list[int]:
    total = np.zeros(len(RATES), int)
    for check in checks:
        found = ask(
            "check_evidence($changed::BOOLEAN, $days::DOUBLE, $age::DOUBLE)",
            changed=check["changed"],
            days=check["tau_days"],
            age=check["last_modified_age_days"],
        )
        total += [found[k] for k in K]
    return total.tolist()


@pytest.mark.parametrize(("given", "expected"), of_kind("evidence"))
def test_the_evidence_of_a_check_is_that_of_the_vectors(given: Any, expected: Any) -> None:
    assert evidence([given]) == expected["ev"]


@pytest.mark.parametrize(("given", "expected"), of_kind("index_known_rate"))
def test_the_index_at_a_known_rate_is_that_of_the_vectors(given: Any, expected: Any) -> None:
    value = ask(
        "freshness_index_at($rate::DOUBLE, $days::DOUBLE)", rate=given["lambda_per_day"], days=given["tau_days"]
    )
    assert given["w"] * value == pytest.approx(expected["V"], abs=2e-9)


@pytest.mark.parametrize(("given", "expected"), of_kind("posterior_index"))
def test_belief_mean_rate_and_index_are_those_of_the_vectors(given: Any, expected: Any) -> None:
    found = evidence(given["checks"])
    assert found == expected["ev"]
    logs = ask("log_belief($prior, $evidence)", prior=by_rate(np.log(given["prior"]).tolist()), evidence=by_rate(found))
    belief = ask("belief($logs, most_believed($logs))", logs=logs)
    total = ask("belief_sum($belief)", belief=belief)
    assert [belief[k] / total for k in K] == pytest.approx(expected["P"], abs=1e-3), "theirs is not of rounded evidence"
    assert ask("mean_rate($belief)", belief=belief) == pytest.approx(expected["rate_mean"], abs=2e-9)
    value = ask("freshness_index($belief, $days::DOUBLE, 0e0)", belief=belief, days=given["tau_days"])
    assert given["w"] * value == pytest.approx(expected["V"], abs=2e-9)


# A plain reading of the formulas


@pytest.fixture(scope="module")
def rows() -> dict[str, np.ndarray]:
    """Five thousand pages with a host's and the crawl's sums, their evidence, ages and signals."""
    chance = np.random.default_rng(11)
    n = 5_000
    belief = chance.dirichlet(np.full(8, 0.4), n)
    host_urls = chance.integers(0, 400, n)
    return {
        "evidence": (-chance.exponential(10.0 ** chance.uniform(1, 5, (n, 1)), (n, 8))).astype(int),
        "host_urls": host_urls,
        "host_sums": (belief * host_urls[:, None] * 1e6).astype(int),
        "all_urls": np.full(n, 40_000),
        "all_sums": np.tile([9_000_000_000, 0, 1, 5_000_000_000, 7_000_000_000, 0, 10**10, 12_345], (n, 1)),
        "days": 10.0 ** chance.uniform(-3, 3.7, n),
        "lag": np.where(chance.random(n) < 0.5, 0.0, -np.log1p(-chance.uniform(0.5, 0.95, n))),
    }


def in_sql(rows: dict[str, np.ndarray], text: str) -> np.ndarray:
    columns = {}
    for name, values in rows.items():
        wide = values.ndim == 2
        columns[name] = pa.array([by_rate(row) for row in values.tolist()] if wide else values)
    con = connected()
    con.register("given", pa.table(columns))
    found = con.execute(text).fetchnumpy()["found"]
    con.unregister("given")
    return np.asarray(found)


BELIEVED = """
SELECT {what} AS found FROM (
    SELECT *, belief(logs, most_believed(logs)) AS belief FROM (
        SELECT *, log_belief(log_prior(host_sums, host_urls, all_sums, all_urls), evidence) AS logs FROM given
    )
)
"""


def believed(rows: dict[str, np.ndarray]) -> np.ndarray:
    everywhere = np.maximum(rows["all_sums"] / 1e6, 1e-6 * rows["all_urls"][:, None]) / rows["all_urls"][:, None]
    prior = np.log((rows["host_sums"] / 1e6 + 5 * everywhere) / (rows["host_urls"][:, None] + 5))
    logs = prior + rows["evidence"] / 1024
    belief = np.exp(logs - logs.max(axis=1, keepdims=True))
    return belief / belief.sum(axis=1, keepdims=True)


def aged(rows: dict[str, np.ndarray]) -> np.ndarray:
    return np.minimum(rows["days"][:, None] + rows["lag"][:, None] / RATES, 3650)


def freshness(rows: dict[str, np.ndarray]) -> np.ndarray:
    days = aged(rows)
    value = (1 - np.exp(-RATES * days) * (1 + days * (1 - np.exp(-RATES)))) / RATES
    return (believed(rows) * value).sum(axis=1)


def age(rows: dict[str, np.ndarray]) -> np.ndarray:
    days = aged(rows)
    return (believed(rows) * (days + np.expm1(-RATES * days) / RATES)).sum(axis=1)


def fresh_days(rows: dict[str, np.ndarray]) -> np.ndarray:
    return (believed(rows) * (-np.expm1(-RATES * rows["days"][:, None]) / RATES)).sum(axis=1)


def mean_rate(rows: dict[str, np.ndarray]) -> np.ndarray:
    return (believed(rows) * RATES).sum(axis=1)


def stale_share(rows: dict[str, np.ndarray]) -> np.ndarray:
    return (believed(rows) * -np.expm1(-RATES * rows["days"][:, None])).sum(axis=1)


@pytest.mark.parametrize(
    ("call", "reference", "tolerance"),
    [
        ("freshness_index(belief, days, lag)", freshness, 1e-9),
        ("age_index(belief, days, lag)", age, 1e-9),
        ("fresh_days(belief, days)", fresh_days, 1e-9),
        ("mean_rate(belief)", mean_rate, 1e-9),
        ("stale_share(belief, days)", stale_share, 1e-9),
    ],
)
def test_what_follows_from_the_belief_agrees_with_numpy(
    rows: dict[str, np.ndarray], call: str, reference: Any, tolerance: float
) -> None:
    # Both are differences of numbers near 1 where a copy is young, hence the absolute part.
    np.testing.assert_allclose(in_sql(rows, BELIEVED.format(what=call)), reference(rows), rtol=tolerance, atol=1e-9)


def test_evidence_decays_by_integers_to_a_half_in_two_generations() -> None:
    assert [ask("evidence_weight($age::INTEGER)", age=age) for age in (-1, 0, 1, 2, 3, 4, 19, 20, 99)] == [
        1024,
        1024,
        724,
        512,
        362,
        256,
        1,
        0,
        0,
    ]
    found = ask("decayed_evidence($evidence, 512)", evidence=by_rate([0, -1, -2, -3, 4, 5, -2_990_080, 2_000_000_000]))
    assert list(found.values()) == [0, -1, -1, -2, 2, 2, -1_495_040, 1_000_000_000]


def test_without_any_page_every_rate_is_as_likely_and_without_any_of_a_host_it_is_as_the_crawl() -> None:
    nothing = by_rate([0] * 8)
    found = ask("log_prior($none, 0, $none, 0)", none=nothing)
    assert list(found.values()) == pytest.approx([np.log(1 / 8)] * 8)
    crawl = by_rate([10**6, 0, 10**6, 0, 0, 0, 0, 0])
    found = ask("log_prior($none, 0, $crawl, 2)", none=nothing, crawl=crawl)
    assert np.exp(list(found.values())) == pytest.approx([0.5, 1e-6, 0.5, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6])


def test_a_page_that_changes_all_the_time_is_let_go_for_freshness_and_not_for_age() -> None:
    fast, slow = by_rate([0.0] * 7 + [1.0]), by_rate([0.0] * 3 + [1.0] + [0.0] * 4)
    index = "{}_index($belief, $days::DOUBLE, 0e0)"
    assert ask(index.format("freshness"), belief=fast, days=365) < ask(index.format("freshness"), belief=slow, days=7)
    assert ask(index.format("age"), belief=fast, days=2) > 1
    assert ask(index.format("age"), belief=fast, days=7) > ask(index.format("age"), belief=slow, days=7)


def test_a_trusted_signal_makes_a_page_more_urgent() -> None:
    belief = by_rate([0.1] * 6 + [0.0, 0.0])
    values = [ask("freshness_index($belief, 7e0, $lag::DOUBLE)", belief=belief, lag=lag) for lag in (0, 0.7, 3)]
    assert values == sorted(values)
    assert values[0] < values[1] < values[2]


@pytest.mark.parametrize(("given", "expected"), of_kind("plan"))
def test_the_choice_by_value_is_that_of_the_vectors(given: Any, expected: Any) -> None:
    con = connected()
    values, hosts = given["V"], given["host"]
    scored = [
        (key, host, True, False, 0, ask("priority_of($value::DOUBLE)", value=value), None)
        for key, (value, host) in enumerate(zip(values, hosts, strict=True))
    ]
    columns = (
        "url_key UBIGINT, host_key UBIGINT, is_due BOOLEAN, is_new BOOLEAN, rank_class UTINYINT, priority INTEGER, "
        "overdue_days FLOAT"
    )
    query.keep_rows(con, "scored", columns, scored)
    query.keep_rows(con, "repeated_page", "url_key UBIGINT", [])
    query.keep_rows(con, "verdict", "url_key UBIGINT, rejected_by VARCHAR", [(key, None) for key in range(len(values))])
    query.keep_rows(
        con, "host_cap", "host_key UBIGINT, cap BIGINT", [(host, given["cap"]) for host in sorted(set(hosts))]
    )
    limits = {"budget": given["budget"], "new_limit": 0, "new_may_fill": False, "overdue_limit": 1}
    ranked = query.rows(
        query.run(con, "plan/ranked", limits | {"sitemaps_per_host": 1, "other_cap": 0, "lowest": -(2**31)})
    )
    chosen = [row["url_key"] for row in ranked if row["bucket_rank"] and row["bucket_rank"] <= given["budget"]]
    assert sorted(chosen) == expected["url_ids"]
