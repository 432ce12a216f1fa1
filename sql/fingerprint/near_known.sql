-- The pages of a bucket that near copies can belong to: they stand for themselves, and none of them has just arrived.
-- Reads: base_page, touched, near_touched, arrived_here.
-- Grain: one row per URL.
WITH stated AS (
    SELECT url_key, url, canonical_url, simhash, outcome, near_of
    FROM base_page
    WHERE url_key NOT IN (SELECT url_key FROM touched)
    UNION ALL
    SELECT url_key, url, canonical_url, simhash, outcome, near_of
    FROM near_touched
)
SELECT url_key, url, canonical_url, canonical_rank(url, canonical_url, NULL) AS standing, simhash
FROM stated
WHERE
    simhash IS NOT NULL AND near_of IS NULL AND outcome <> 'gone'
    AND url_key NOT IN (SELECT url_key FROM arrived_here)
