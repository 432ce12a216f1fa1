-- What did each cycle do: planned, fetched, unchanged, new, late?
-- Reads: cycle.
-- Grain: one row per published cycle.
SELECT
    cycle,
    planned,
    fetched,
    first_fetched AS fetched_first,
    changed,
    unchanged,
    not_modified,
    late,
    open,
    new_urls,
    traps,
    failed_buckets,
    wire_bytes,
    saved_bytes
FROM cycle
ORDER BY cycle
