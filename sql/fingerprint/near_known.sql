-- The pages of a bucket that near copies can belong to: they stand for themselves, and none of them has just arrived.
-- Reads: state_page, arrived_here.
-- Grain: one row per URL.
SELECT url_key, url, canonical_url, canonical_rank(url, canonical_url, NULL) AS standing, simhash
FROM state_page
WHERE
    simhash IS NOT NULL AND near_of IS NULL AND outcome <> 'gone'
    AND url_key NOT IN (SELECT url_key FROM arrived_here)
