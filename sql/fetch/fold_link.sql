-- The links that a bucket's pages of a cycle hold, sorted so that a target's owner reads one range.
-- Reads: earlier (the rows that count so far), fresh (the rows of the last segment).
-- Grain: one row per row of link.
FROM (SELECT * FROM earlier UNION ALL BY NAME SELECT * FROM fresh)
ORDER BY target_host_key, target_url_key, source_url_key, kind
