-- The newest robots.txt decision of each origin of the hosts that a fetch will ask, with the newest body that it had.
-- Reads: base_robots, tail_robots, todo.
-- Grain: one row per origin.
WITH decided AS (
    SELECT * FROM (SELECT * FROM base_robots UNION BY NAME SELECT * FROM tail_robots)
    WHERE final AND regexp_extract(origin, '^[a-z]+://(.*?)(?::[0-9]+)?$', 1) IN (SELECT host FROM todo)
)
SELECT
    origin,
    arg_max(verdict, log_position(epoch, sequence)) AS verdict,
    max(fetched_at) AS fetched_at,
    arg_max(valid_until, log_position(epoch, sequence)) AS valid_until,
    arg_max(body, log_position(epoch, sequence)) FILTER (verdict = 'rules') AS body,
    arg_max(body_digest, log_position(epoch, sequence)) FILTER (verdict = 'rules') AS body_digest,
    max(fetched_at) FILTER (verdict = 'rules' AND body IS NOT NULL) AS body_fetched_at
FROM decided
GROUP BY origin
ORDER BY origin
