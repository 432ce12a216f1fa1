-- What did each cycle do: planned, fetched, unchanged, new, late?
-- Reads: cycle.
-- Grain: one row per published cycle.
SELECT
    cycle,
    planned,
    fetched,
    first_fetched AS new,
    changed,
    unchanged,
    late,
    open,
    new_urls AS found,
    traps,
    failed_buckets,
    wire_bytes,
    saved_bytes
FROM cycle
ORDER BY cycle
