-- The observations of a bucket and cycle, a host's together in time order.
-- Reads: earlier (the rows that count so far), fresh (the rows of the last segment).
-- Grain: one row per row of observation.
FROM (SELECT * FROM earlier UNION ALL BY NAME SELECT * FROM fresh)
ORDER BY host_key, fetched_at, url_key
