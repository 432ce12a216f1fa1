-- The main texts among those looked at that more pages of one host have than may.
-- Reads: trap_page, watched, exempt_host.
-- Params: max_urls_per_text.
-- Grain: one row per host and text.
SELECT host_key, text
FROM trap_page
WHERE
    text IN (SELECT text FROM watched)
    AND host_key NOT IN (SELECT host_key FROM exempt_host)
GROUP BY host_key, text
HAVING count(*) > $max_urls_per_text
