-- The URLs by host and outcome, and once more by the age of our copies, in one look at all of them.
-- Reads: standing.
-- Params: now, the instant of publishing.
-- Grain: one row per host, outcome and whether it was ever fetched (is_host); and one per age of live pages, NULL for others.
WITH aged AS (
    SELECT
        host_key,
        outcome,
        fetches > 0 AS is_fetched,
        fetched_at,
        CASE WHEN outcome IN ('ok', 'not_modified') THEN age_minutes(epoch_us($now::TIMESTAMPTZ), epoch_us(fetched_at)) END
        AS age
    FROM standing
)
SELECT
    host_key,
    outcome,
    is_fetched,
    age,
    grouping(host_key) = 0 AS is_host,
    count(*) AS urls,
    count(*) FILTER (age <= 1440) AS fresh_day,
    max(fetched_at) AS last_fetched_at
FROM aged
GROUP BY GROUPING SETS ((host_key, outcome, is_fetched), (age))
