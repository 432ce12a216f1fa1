-- The main texts that several pages of one host have; own_pages: without near copies of others there.
-- Reads: state_page, exempt_host.
-- Grain: one row per host and text.
SELECT
    host_key,
    text_key(simhash, text_digest) AS text,
    count(*) AS pages,
    count(*) FILTER (NOT is_near_on_host(near_of, url)) AS own_pages
FROM state_page
WHERE text_digest IS NOT NULL AND host_key NOT IN (SELECT host_key FROM exempt_host)
GROUP BY host_key, text
HAVING count(*) > 1
