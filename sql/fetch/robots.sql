-- The newest robots.txt decision of each origin of the hosts that a fetch will ask, with the last good body.
-- Reads: base_robots, tail_robots, todo.
-- Grain: one row per origin.
WITH decided AS (
    SELECT * FROM (SELECT * FROM base_robots UNION BY NAME SELECT * FROM tail_robots)
    WHERE final AND regexp_extract(origin, '^[a-z]+://(.*?)(?::[0-9]+)?$', 1) IN (SELECT host FROM todo)
),
newest AS (
    SELECT * FROM decided
    QUALIFY row_number() OVER (PARTITION BY origin ORDER BY epoch DESC, sequence DESC, fetched_at DESC) = 1
),
good AS ( -- a robots.txt that is gone is an answer as well: the rules before it are no longer the site's
    SELECT origin, body, body_digest, coalesce(read_at, fetched_at) AS read_at FROM decided
    WHERE verdict = 'allow' OR body IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY origin ORDER BY epoch DESC, sequence DESC, fetched_at DESC) = 1
)
SELECT
    newest.origin,
    newest.verdict,
    newest.fetched_at,
    newest.valid_until,
    good.body,
    good.body_digest,
    CASE WHEN good.body IS NOT NULL THEN good.read_at END AS body_fetched_at,
    newest.unreachable_since
FROM newest
LEFT JOIN good USING (origin)
ORDER BY newest.origin
