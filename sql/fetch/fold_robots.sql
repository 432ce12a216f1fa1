-- The robots.txt requests of a bucket and cycle.
-- Reads: earlier (the rows that count so far), fresh (the rows of the last segment).
-- Grain: one row per row of robots.
FROM (SELECT * FROM earlier UNION ALL BY NAME SELECT * FROM fresh)
ORDER BY origin, fetched_at, hop
