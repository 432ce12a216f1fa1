-- The newest politeness state of every host of a bucket.
-- Reads: base_host, tail_host.
-- Grain: one row per host, columns of host_state.
SELECT * FROM (SELECT * FROM base_host UNION ALL BY NAME SELECT * FROM tail_host)
QUALIFY row_number() OVER (PARTITION BY host_key ORDER BY epoch DESC, sequence DESC, allowed_at DESC) = 1
