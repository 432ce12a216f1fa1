-- Each arriving URL with the rule that stops it, if one does: URL shape, scope, then the host's and the pattern's size.
-- Reads: candidate (the arriving URLs), verdict, state_page.
-- Params: max_urls_per_host, max_urls_per_pattern, min_new_share.
-- Grain: one row per arriving URL.
WITH host_size AS (
    SELECT host_key, count(*) AS urls
    FROM state_page
    WHERE host_key IN (SELECT host_key FROM candidate)
    GROUP BY host_key
),
pattern_size AS (
    SELECT
        pattern_key,
        count(*) AS urls,
        count(*) FILTER (fetches > 0) AS fetched,
        count(DISTINCT text_digest) AS texts
    FROM state_page
    WHERE pattern_key IN (SELECT pattern_key FROM candidate)
    GROUP BY pattern_key
),
placed AS (
    SELECT
        c.*,
        verdict.rejected_by,
        row_number() OVER (PARTITION BY c.host_key ORDER BY c.depth, c.url_key) AS host_place,
        row_number() OVER (PARTITION BY c.pattern_key ORDER BY c.depth, c.url_key) AS pattern_place
    FROM candidate AS c
    JOIN verdict USING (url_key)
)
SELECT
    placed.* EXCLUDE (rejected_by, host_place, pattern_place),
    CASE
        WHEN placed.trap IS NOT NULL THEN placed.trap
        WHEN placed.rejected_by IS NOT NULL THEN placed.rejected_by
        WHEN coalesce(host_size.urls, 0) + placed.host_place > $max_urls_per_host THEN 'traps.max_urls_per_host'
        WHEN
            coalesce(pattern_size.urls, 0) + placed.pattern_place > $max_urls_per_pattern
            AND pattern_size.fetched > 0
            AND pattern_size.texts < $min_new_share * pattern_size.fetched
            THEN 'traps.max_urls_per_pattern'
    END AS rule
FROM placed
LEFT JOIN host_size USING (host_key)
LEFT JOIN pattern_size USING (pattern_key)
