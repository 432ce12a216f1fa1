-- The candidates of a plan that a rule of traps leaves out: of patterns and faceted searches the pages that were never read
-- beyond what these may have, the shallowest first; of repeated texts the further pages. Never a seed, nor what is forced.
-- Reads: watched, verdict, forced, pattern_size, path_size, repeated_page.
-- Params: max_urls_per_pattern, max_urls_per_text.
-- Grain: one row per candidate that is left out.
WITH due AS (
    SELECT s.url_key, s.pattern_key, s.depth, s.streak, s.text IS NOT NULL AS is_page
    FROM watched AS s
    JOIN verdict ON verdict.url_key = s.url_key AND verdict.rejected_by IS NULL
    WHERE NOT s.is_seed AND s.url_key NOT IN (SELECT url_key FROM forced)
),
combined AS (
    SELECT
        due.url_key,
        'traps.max_query_combinations' AS rule,
        row_number() OVER (PARTITION BY path_size.path_key ORDER BY due.streak, due.depth, due.url_key) AS place,
        $max_urls_per_pattern - path_size.pages AS room
    FROM due
    JOIN path_size ON path_size.path_key = due.pattern_key >> 20
    WHERE NOT due.is_page AND (due.pattern_key >> 16) & 15 > 1
),
alike AS (
    SELECT
        due.url_key,
        'traps.max_urls_per_pattern' AS rule,
        row_number() OVER (PARTITION BY due.pattern_key ORDER BY due.streak, due.depth, due.url_key) AS place,
        pattern_size.allowed - pattern_size.pages AS room
    FROM due
    JOIN pattern_size USING (pattern_key)
    WHERE NOT due.is_page
),
repeated AS (
    SELECT due.url_key, 'traps.max_urls_per_text' AS rule, repeated_page.place, $max_urls_per_text AS room
    FROM due
    JOIN repeated_page USING (url_key)
)
SELECT url_key, min(rule) AS rule
FROM (FROM combined UNION ALL FROM alike UNION ALL FROM repeated)
WHERE place > room
GROUP BY url_key
