-- How many rows of each bucket's plan are admitted: those after neither cut-off.
-- Reads: plan_files.
-- Params: cutoff_priority, cutoff_url_key; new_cutoff_priority, new_cutoff_url_key, which new rows have besides.
-- Grain: one row per bucket with candidates.
WITH judged AS (
    SELECT
        bucket,
        expected_bytes,
        is_within(priority, url_key, $cutoff_priority, $cutoff_url_key::UBIGINT)
        AND (reason <> 'new' OR is_within(priority, url_key, $new_cutoff_priority, $new_cutoff_url_key::UBIGINT))
        AS is_admitted
    FROM plan_files
)
SELECT
    bucket,
    count(*) AS candidates,
    count(*) FILTER (is_admitted) AS admitted,
    coalesce(sum(expected_bytes) FILTER (is_admitted), 0)::UBIGINT AS expected_bytes
FROM judged
GROUP BY bucket
ORDER BY bucket
