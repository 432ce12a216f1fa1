-- What each cycle did.
-- Reads: cycle (view).
-- Grain: one row per published cycle.
SELECT
    cycle,
    planned,
    fetched,
    unchanged,
    first_fetched,
    changed,
    late,
    open,
    new_urls,
    failed_buckets
FROM cycle
ORDER BY cycle
