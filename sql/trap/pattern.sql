-- What the path patterns brought that may bring too little for all their URLs, and how many pages they may have for it.
-- Seeds do not count.
-- Reads: trap_page, large_pattern, exempt_host.
-- Params: max_urls_per_pattern, min_new_share.
-- Grain: one row per pattern.
SELECT
    pattern_key,
    count(*) AS urls,
    count(text) AS pages,
    count(DISTINCT text) FILTER (NOT is_near) AS texts,
    greatest($max_urls_per_pattern, floor(texts / $min_new_share))::BIGINT AS allowed
FROM trap_page
WHERE
    pattern_key IN (SELECT pattern_key FROM large_pattern)
    AND NOT is_seed
    AND host_key NOT IN (SELECT host_key FROM exempt_host)
GROUP BY pattern_key
