-- The copies at an instant of pages that a policy knows and whose changes are known still, with what it believes of them.
-- Step by step: DuckDB puts an expression wherever its name stands, which for eight rates in a row grows beyond measure.
-- Reads: replayed_copy, replayed_prior.
-- Params: at.
-- Grain: one row per URL.
WITH aged AS MATERIALIZED (
    SELECT
        c.url_key,
        c.host,
        c.due_at,
        (epoch($at::TIMESTAMPTZ) - epoch(c.copied_at)) / 86400 AS days,
        coalesce(own.log_prior, general.log_prior) AS log_prior,
        aged_evidence(c.evidence, c.generation, evidence_generation($at::TIMESTAMPTZ)) AS evidence
    FROM replayed_copy AS c
    JOIN replayed_prior AS general ON general.host = ''
    LEFT JOIN replayed_prior AS own ON own.host = c.host AND c.host <> ''
    WHERE c.first_at < $at::TIMESTAMPTZ AND c.last_at >= $at::TIMESTAMPTZ
),
weighed AS MATERIALIZED (
    SELECT url_key, host, due_at, days, log_belief(log_prior, evidence) AS log_beliefs FROM aged
),
levelled AS MATERIALIZED (
    SELECT *, most_believed(log_beliefs) AS most FROM weighed
)
SELECT url_key, host, due_at, days, belief(log_beliefs, most) AS belief FROM levelled
