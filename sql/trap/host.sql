-- The hosts on which new content is rare: few distinct texts among many pages.
-- Reads: state_page, large_host.
-- Params: max_barren_pages_per_host, min_new_share.
-- Grain: one row per host.
SELECT
    host_key,
    any_value(host) AS host,
    count(*) AS urls,
    count(text_digest) AS pages,
    count(DISTINCT text_key(simhash, text_digest)) FILTER (NOT is_near_on_host(near_of, url)) AS texts,
    max(url) AS example
FROM state_page
WHERE host_key IN (SELECT host_key FROM large_host)
GROUP BY host_key
HAVING pages >= $max_barren_pages_per_host AND texts < $min_new_share * pages
