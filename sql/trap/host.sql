-- The hosts on which new content is rare: few distinct texts among many pages.
-- Reads: state_page, text_size, exempt_host.
-- Params: max_barren_pages_per_host, min_new_share.
-- Grain: one row per host.
WITH large AS (
    SELECT
        host_key,
        any_value(host) AS host,
        count(*) AS urls,
        count(text_digest) AS pages,
        count(*) FILTER (text_digest IS NOT NULL AND is_near_on_host(near_of, url)) AS near_pages
    FROM state_page
    WHERE host_key NOT IN (SELECT host_key FROM exempt_host)
    GROUP BY host_key
    HAVING count(text_digest) >= $max_barren_pages_per_host
),
repeats AS (
    SELECT host_key, sum(greatest(own_pages - 1, 0)) AS pages FROM text_size GROUP BY host_key
)
SELECT
    large.host_key,
    large.host,
    large.urls,
    large.pages,
    (large.pages - large.near_pages - coalesce(repeats.pages, 0))::BIGINT AS texts
FROM large
LEFT JOIN repeats USING (host_key)
WHERE texts < $min_new_share * large.pages
