-- How many rows of each bucket's plan are admitted: those not after the cut-off.
-- Reads: plan_files.
-- Params: cutoff_priority, cutoff_url_key.
-- Grain: one row per bucket with candidates.
SELECT
    bucket,
    count(*) AS candidates,
    count(*) FILTER (
        priority > $cutoff_priority OR (priority = $cutoff_priority AND url_key <= $cutoff_url_key::UBIGINT)
    ) AS admitted
FROM plan_files
GROUP BY bucket
ORDER BY bucket
