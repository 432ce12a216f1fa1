-- The newest politeness state of each host that a bucket's cycle asked.
-- Reads: earlier (the rows that count so far), fresh (the rows of the last segment).
-- Grain: one row per row of host_state.
FROM (SELECT * FROM earlier UNION ALL BY NAME SELECT * FROM fresh)
QUALIFY row_number() OVER (PARTITION BY host_key ORDER BY epoch DESC, sequence DESC, allowed_at DESC) = 1
ORDER BY host_key
