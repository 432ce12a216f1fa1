-- The path patterns with more URLs than are fetched on trust, with those that arrive; what they brought, and how many pages
-- they may have for it. Seeds do not count.
-- Reads: state_page, arriving_url, exempt_host.
-- Params: max_urls_per_pattern, min_new_share.
-- Grain: one row per pattern.
WITH crowded AS (
    SELECT pattern_key
    FROM (
        SELECT pattern_key FROM state_page WHERE NOT is_seed
        UNION ALL
        SELECT pattern_key FROM arriving_url
    )
    GROUP BY pattern_key
    HAVING count(*) > $max_urls_per_pattern
)
SELECT
    pattern_key,
    any_value(host) AS host,
    count(*) AS urls,
    count(text_digest) AS pages,
    count(DISTINCT text_key(simhash, text_digest)) FILTER (NOT is_near_on_host(near_of, url)) AS texts,
    greatest($max_urls_per_pattern, floor(texts / $min_new_share))::BIGINT AS allowed,
    min(url) FILTER (text_digest IS NULL) AS example
FROM state_page
WHERE
    pattern_key IN (SELECT pattern_key FROM crowded)
    AND NOT is_seed
    AND host_key NOT IN (SELECT host_key FROM exempt_host)
GROUP BY pattern_key
