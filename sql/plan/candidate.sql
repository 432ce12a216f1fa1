-- Where the URLs are that a plan may choose from, and what rules of traps ask of them.
-- Reads: ready_page, scored, shortest (the priority below which nothing is looked at).
-- Grain: one row per URL. text: NULL for a page that was never read.
SELECT
    p.url_key,
    p.host_key,
    p.host,
    p.url,
    p.hops,
    p.announced_by,
    p.pattern_key,
    p.depth,
    p.is_seed,
    p.streak,
    CASE WHEN p.text_digest IS NOT NULL THEN text_key(p.simhash, p.text_digest) END AS text
FROM ready_page AS p
WHERE p.url_key IN (
    SELECT s.url_key
    FROM scored AS s, shortest
    WHERE s.is_due AND (s.priority >= shortest.priority OR s.overdue_days IS NOT NULL)
)
