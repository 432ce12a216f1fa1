-- URLs of a bucket that links name for the first time: links of first copies, not nofollow, the shallowest of each. A link
-- within a host from a page whose text too many others there have counts only where there is no other, and is a trap.
-- Reads: followed_link, seen, repeated_page.
-- Grain: one row per URL.
WITH kept AS (
    SELECT f.*, repeated_page.url_key IS NOT NULL AS is_repeated
    FROM followed_link AS f
    LEFT JOIN repeated_page
        ON repeated_page.url_key = f.source_url_key AND repeated_page.host_key = f.target_host_key
    WHERE f.target_url_key NOT IN (SELECT url_key FROM seen)
)
SELECT
    target_url_key AS url_key,
    target_host_key AS host_key,
    target_url AS url,
    target_fetch_url AS fetch_url,
    target_host AS host,
    target_pattern_key AS pattern_key,
    source_depth + 1 AS depth,
    source_hops + 1 AS hops,
    kind,
    source_url,
    CASE WHEN is_repeated THEN 'traps.max_urls_per_text' ELSE trap END AS trap,
    found_at,
    flatten(list(announced_by) FILTER (announced_by IS NOT NULL) OVER (PARTITION BY target_url_key)) AS announced_by
FROM kept
QUALIFY row_number() OVER (
    PARTITION BY target_url_key
    ORDER BY is_repeated, source_depth, source_hops, found_at, source_url, kind, target_fetch_url
) = 1
