-- Each arriving URL with the rule that stops it, if one does: URL shape and source, scope, then the size of the host, of the
-- path's combinations of parameters and of a pattern in which new content is rare; the shallowest of each come first.
-- Reads: candidate (the arriving URLs), verdict, arriving_url (those of them that neither shape nor scope stops), state_page,
-- pattern_size, path_size.
-- Params: max_urls_per_host, max_urls_per_pattern, min_new_share.
-- Grain: one row per arriving URL.
WITH host_count AS (
    SELECT host_key, count(*) FILTER (is_known) AS urls
    FROM (
        SELECT host_key, true AS is_known FROM state_page WHERE host_key IN (SELECT host_key FROM arriving_url)
        UNION ALL
        SELECT host_key, false AS is_known FROM arriving_url
    )
    GROUP BY host_key
    HAVING count(*) > $max_urls_per_host
),
barren AS (
    SELECT pattern_key, urls, allowed FROM pattern_size WHERE texts < $min_new_share * pages
),
near_limit AS (
    -- Only of these does the place matter.
    SELECT
        a.url_key, a.host_key, a.pattern_key, a.pattern_key >> 20 AS path_key, a.depth,
        host_count.urls AS host_urls, path_size.urls AS path_urls, barren.urls AS pattern_urls, barren.allowed
    FROM arriving_url AS a
    LEFT JOIN host_count USING (host_key)
    LEFT JOIN path_size ON path_size.path_key = a.pattern_key >> 20 AND (a.pattern_key >> 16) & 15 > 1
    LEFT JOIN barren USING (pattern_key)
    WHERE host_count.urls IS NOT NULL OR path_size.urls IS NOT NULL OR barren.urls IS NOT NULL
),
placed AS (
    SELECT
        *,
        row_number() OVER (PARTITION BY host_key ORDER BY depth, url_key) AS host_place,
        row_number() OVER (PARTITION BY path_key, path_urls IS NULL ORDER BY depth, url_key) AS path_place,
        row_number() OVER (PARTITION BY pattern_key ORDER BY depth, url_key) AS pattern_place
    FROM near_limit
),
late AS (
    SELECT
        url_key,
        CASE
            WHEN host_urls + host_place > $max_urls_per_host THEN 'traps.max_urls_per_host'
            WHEN path_urls + path_place > $max_urls_per_pattern THEN 'traps.max_query_combinations'
            WHEN pattern_urls + pattern_place > allowed THEN 'traps.max_urls_per_pattern'
        END AS rule
    FROM placed
)
SELECT c.*, coalesce(c.trap, verdict.rejected_by, late.rule) AS rule
FROM candidate AS c
JOIN verdict USING (url_key)
LEFT JOIN late USING (url_key)
