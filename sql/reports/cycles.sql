-- What did each cycle do: planned, fetched, of that found and fetched at once, unchanged, new, late?
-- Reads: cycle.
-- Grain: one row per published cycle.
SELECT
    cycle,
    planned,
    fetched,
    first_fetched AS new,
    discovered AS at_once,
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
