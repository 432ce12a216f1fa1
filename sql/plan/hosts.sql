-- The hosts among a bucket's candidates, and those that announce sitemaps among them.
-- Reads: candidate.
-- Grain: one row per host; has_announced: whether a candidate of it is a sitemap that some host announces.
SELECT host, bool_or(has_announced) AS has_announced
FROM (
    SELECT host, announced_by IS NOT NULL AS has_announced FROM candidate
    UNION ALL
    SELECT unnest(announced_by), false FROM candidate WHERE announced_by IS NOT NULL
)
GROUP BY host
ORDER BY host
