-- Each arriving URL with the rule that stops it, if one does: URL shape and source, scope, then the size of the host, of the
-- path's combinations of parameters and of a pattern in which new content is rare; the shallowest of each come first.
-- Reads: candidate (the arriving URLs), verdict, state_page, pattern_size, path_size.
-- Params: max_urls_per_host, max_urls_per_pattern, min_new_share.
-- Grain: one row per arriving URL.
WITH host_size AS (
    SELECT host_key, count(*) AS urls
    FROM state_page
    WHERE host_key IN (SELECT host_key FROM candidate)
    GROUP BY host_key
),
ruled AS (
    SELECT
        c.*,
        coalesce(c.trap, verdict.rejected_by) AS early_rule,
        c.pattern_key >> 20 AS path_key,
        (c.pattern_key >> 16) & 15 > 1 AS is_combination
    FROM candidate AS c
    JOIN verdict USING (url_key)
),
placed AS (
    SELECT
        *,
        row_number() OVER (PARTITION BY host_key, early_rule IS NULL ORDER BY depth, url_key) AS host_place,
        row_number() OVER (PARTITION BY path_key, is_combination, early_rule IS NULL ORDER BY depth, url_key) AS path_place,
        row_number() OVER (PARTITION BY pattern_key, early_rule IS NULL ORDER BY depth, url_key) AS pattern_place
    FROM ruled
)
SELECT
    placed.* EXCLUDE (early_rule, path_key, is_combination, host_place, path_place, pattern_place),
    CASE
        WHEN placed.early_rule IS NOT NULL THEN placed.early_rule
        WHEN coalesce(host_size.urls, 0) + placed.host_place > $max_urls_per_host THEN 'traps.max_urls_per_host'
        WHEN placed.is_combination AND path_size.urls + placed.path_place > $max_urls_per_pattern
            THEN 'traps.max_query_combinations'
        WHEN
            pattern_size.urls + placed.pattern_place > pattern_size.allowed
            AND pattern_size.texts < $min_new_share * pattern_size.pages
            THEN 'traps.max_urls_per_pattern'
    END AS rule
FROM placed
LEFT JOIN host_size USING (host_key)
LEFT JOIN path_size USING (path_key)
LEFT JOIN pattern_size USING (pattern_key)
