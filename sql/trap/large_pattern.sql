-- The path patterns with more URLs than are fetched on trust, with those that arrive, that may bring too little for all of
-- them. A sample of the texts is enough to see that most bring enough: a quarter of the pages holds no more distinct
-- texts than all. Seeds do not count.
-- Reads: trap_page, watched, arriving_url, exempt_host.
-- Params: max_urls_per_pattern, min_new_share.
-- Grain: one row per pattern.
WITH crowded AS (
    SELECT pattern_key, sum(urls) AS urls
    FROM (
        SELECT pattern_key, count(*) AS urls
        FROM trap_page
        WHERE
            pattern_key IN (SELECT pattern_key FROM watched)
            AND NOT is_seed
            AND host_key NOT IN (SELECT host_key FROM exempt_host)
        GROUP BY pattern_key
        UNION ALL
        SELECT pattern_key, count(*) AS urls FROM arriving_url GROUP BY pattern_key
    )
    GROUP BY pattern_key
    HAVING sum(urls) > $max_urls_per_pattern
),
sampled AS (
    SELECT pattern_key, count(DISTINCT text) AS texts
    FROM trap_page
    WHERE pattern_key IN (SELECT pattern_key FROM crowded) AND url_key % 4 = 0 AND NOT is_near AND NOT is_seed
    GROUP BY pattern_key
)
SELECT pattern_key
FROM crowded
LEFT JOIN sampled USING (pattern_key)
WHERE coalesce(sampled.texts, 0) < $min_new_share * crowded.urls
