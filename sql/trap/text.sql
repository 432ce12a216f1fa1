-- The main texts among those looked at that more pages of one host have than may.
-- Reads: state_page, watched, exempt_host.
-- Params: max_urls_per_text.
-- Grain: one row per host and text.
SELECT host_key, text_key(simhash, text_digest) AS text
FROM state_page
WHERE
    text_key(simhash, text_digest) IN (SELECT text FROM watched)
    AND text_digest IS NOT NULL
    AND host_key NOT IN (SELECT host_key FROM exempt_host)
GROUP BY host_key, text
HAVING count(*) > $max_urls_per_text
