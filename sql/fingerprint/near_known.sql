-- The pages of a bucket that arrived pages are near to: they stand for themselves, and none of them has just arrived.
-- Reads: base_page, touched, near_touched, arrived_here, pair.
-- Grain: one row per URL.
WITH near AS (
    SELECT DISTINCT near_simhash AS simhash FROM pair
),
held AS MATERIALIZED (
    SELECT url_key, url, canonical_url, simhash, outcome, near_of
    FROM base_page
    WHERE simhash IN (FROM near)
),
stated AS (
    SELECT url_key, url, canonical_url, simhash, outcome, near_of
    FROM held
    WHERE url_key NOT IN (SELECT url_key FROM touched)
    UNION ALL
    SELECT
        t.url_key,
        coalesce(t.content.url, held.url),
        CASE WHEN t.content IS NULL THEN held.canonical_url ELSE t.content.canonical_url END,
        t.simhash,
        t.outcome,
        t.near_of
    FROM near_touched AS t
    LEFT JOIN held USING (url_key)
    WHERE t.simhash IN (FROM near)
)
SELECT url_key, url, canonical_url, canonical_rank(url, canonical_url, NULL) AS standing, simhash
FROM stated
WHERE
    near_of IS NULL AND outcome <> 'gone'
    AND url_key NOT IN (SELECT url_key FROM arrived_here)
