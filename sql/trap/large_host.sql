-- The hosts that may have few distinct texts among many pages. A sample of the texts is enough to see that most have not:
-- a quarter of the pages holds no more distinct texts than all.
-- Reads: trap_page, watched, exempt_host.
-- Params: max_barren_pages_per_host, min_new_share.
-- Grain: one row per host.
WITH read_often AS (
    SELECT host_key, count(text) AS pages
    FROM trap_page
    WHERE
        host_key IN (SELECT host_key FROM watched)
        AND host_key NOT IN (SELECT host_key FROM exempt_host)
    GROUP BY host_key
    HAVING count(text) >= $max_barren_pages_per_host
),
sampled AS (
    SELECT host_key, count(DISTINCT text) AS texts
    FROM trap_page
    WHERE host_key IN (SELECT host_key FROM read_often) AND url_key % 4 = 0 AND NOT is_near
    GROUP BY host_key
)
SELECT host_key
FROM read_often
LEFT JOIN sampled USING (host_key)
WHERE coalesce(sampled.texts, 0) < $min_new_share * read_often.pages
