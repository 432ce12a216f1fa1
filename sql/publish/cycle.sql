-- How one published cycle stands.
-- Reads: cycle (view).
-- Params: cycle.
-- Grain: one row, none if the cycle is not published.
SELECT
    cycle,
    planned,
    observed,
    discovered,
    fetched,
    first_fetched,
    changed,
    unchanged,
    late,
    open,
    new_urls,
    traps,
    wire_bytes,
    saved_bytes,
    buckets,
    failed_buckets
FROM cycle
WHERE cycle = $cycle::DATE
