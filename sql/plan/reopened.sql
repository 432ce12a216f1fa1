-- The URLs that a robots.txt denied which is not the newest one known of their origin any more, or whose robots.txt could
-- not be read then and can now. What denied them is not known of before version 3 of the schema, and a robots.txt that
-- cannot be read now does not make a difference.
-- Reads: ready_page, base_robots, tail_robots.
-- Grain: one row per URL.
WITH decision AS (
    SELECT origin, epoch, sequence, fetched_at, verdict, body_digest FROM base_robots WHERE final
    UNION ALL BY NAME
    SELECT origin, epoch, sequence, fetched_at, verdict, body_digest FROM tail_robots WHERE final
),
newest AS (
    FROM decision
    QUALIFY row_number() OVER (PARTITION BY origin ORDER BY epoch DESC, sequence DESC, fetched_at DESC) = 1
)
SELECT p.url_key
FROM ready_page AS p
JOIN newest ON newest.origin = regexp_extract(p.url, '^[a-z]+://[^/?]+')
WHERE
    newest.verdict <> 'disallow'
    AND (
        p.outcome = 'robots_unreachable'
        OR (
            p.outcome = 'denied_by_robots'
            AND p.robots_digest IS NOT NULL
            AND newest.body_digest IS DISTINCT FROM p.robots_digest
        )
    )
