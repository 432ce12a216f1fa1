-- How many URLs the seen filter took for known, and how many of them were new: its false positives.
-- Reads: maybe_seen (url_key, one row per answer), known.
-- Grain: one row.
SELECT count(*) AS maybe_seen, count(*) FILTER (known.url_key IS NULL) AS wrongly_seen
FROM (SELECT DISTINCT url_key FROM maybe_seen) AS asked
LEFT JOIN (SELECT DISTINCT url_key FROM known WHERE url_key IN (SELECT url_key FROM maybe_seen)) AS known USING (url_key)
