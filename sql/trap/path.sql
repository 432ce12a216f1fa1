-- The paths whose queries are combinations of what one can choose (faceted search): many sets of two and more parameters,
-- and many more URLs than the most varied parameter has values. The key of a path is the upper 44 bits of its patterns'.
-- Reads: trap_page, watched, state_page (for the queries of those that are crowded), arriving_url, exempt_host.
-- Params: max_urls_per_pattern, max_query_combinations, max_urls_per_value.
-- Grain: one row per path.
WITH crowded AS (
    SELECT pattern_key >> 20 AS path_key
    FROM (
        SELECT pattern_key
        FROM trap_page
        WHERE NOT is_seed AND pattern_key >> 20 IN (SELECT pattern_key >> 20 FROM watched WHERE (pattern_key >> 16) & 15 > 1)
        UNION ALL
        SELECT pattern_key FROM arriving_url
    )
    WHERE (pattern_key >> 16) & 15 > 1
    GROUP BY path_key
    HAVING count(*) > $max_urls_per_pattern AND count(DISTINCT pattern_key) > $max_query_combinations
),
combination AS (
    SELECT pattern_key >> 20 AS path_key, url, host, is_known, is_page
    FROM (
        SELECT pattern_key, host_key, url, host, true AS is_known, text_digest IS NOT NULL AS is_page
        FROM state_page
        WHERE NOT is_seed AND pattern_key >> 20 IN (SELECT path_key FROM crowded)
        UNION ALL
        SELECT pattern_key, host_key, url, host, false AS is_known, false AS is_page FROM arriving_url
    )
    WHERE
        (pattern_key >> 16) & 15 > 1
        AND pattern_key >> 20 IN (SELECT path_key FROM crowded)
        AND host_key NOT IN (SELECT host_key FROM exempt_host)
),
chosen AS (
    SELECT path_key, unnest(string_split(split_part(url, '?', 2), '&')) AS choice FROM combination
),
varied AS (
    SELECT path_key, max(choices) AS choices
    FROM (SELECT path_key, split_part(choice, '=', 1) AS name, count(DISTINCT choice) AS choices FROM chosen GROUP BY path_key, name)
    GROUP BY path_key
)
SELECT
    combination.path_key,
    any_value(combination.host) AS host,
    count(*) FILTER (combination.is_known) AS urls,
    count(*) FILTER (combination.is_page) AS pages,
    min(combination.url) FILTER (combination.is_known AND NOT combination.is_page) AS example
FROM combination
JOIN varied USING (path_key)
GROUP BY combination.path_key
HAVING count(*) > $max_urls_per_value * any_value(varied.choices)
