-- Which pages are nearly the same? The one that stands for each group, with the hosts that repeat it.
-- Reads: page, duplicate.
-- Grain: one row per group of near copies, at most fifty. not_searched: members with keys that too many others share.
WITH searched AS (
    SELECT bucket, url_key, arg_max(near_skipped, log_position(epoch, sequence)) AS near_skipped
    FROM duplicate
    GROUP BY bucket, url_key
)
SELECT
    page.near_of AS stands_for_all,
    count(*) AS near_copies,
    count(*) FILTER (page.duplicate_of IS NOT NULL) AS exact_among_them,
    count(DISTINCT page.host) AS hosts,
    min(page.url) AS example,
    count(*) FILTER (searched.near_skipped > 0) AS not_searched
FROM page
LEFT JOIN searched USING (bucket, url_key)
WHERE page.near_of IS NOT NULL
GROUP BY page.near_of
ORDER BY near_copies DESC, stands_for_all
LIMIT 50
