-- Where the URLs are that a plan may choose from.
-- Reads: ready_page, scored, shortest (the priority below which nothing is looked at).
-- Grain: one row per URL.
SELECT p.url_key, p.host_key, p.host, p.url, p.hops, p.announced_by
FROM ready_page AS p
WHERE p.url_key IN (
    SELECT s.url_key
    FROM scored AS s, shortest
    WHERE s.is_due AND (s.priority >= shortest.priority OR s.overdue_days IS NOT NULL)
)
