-- The links that a bucket's pages of a cycle hold, sorted so that a target's owner reads one range.
-- Reads: earlier (the rows that count so far), fresh (the rows of the last segment).
-- Params: low_key, high_key, the smallest and the largest key of a target's host to look at.
-- Grain: one row per row of link.
FROM (SELECT * FROM earlier UNION ALL BY NAME SELECT * FROM fresh)
WHERE target_host_key BETWEEN $low_key::UBIGINT AND $high_key::UBIGINT
ORDER BY target_host_key, target_url_key, source_url_key, kind
