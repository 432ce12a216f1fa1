-- The host with most rows.
-- Reads: counted_url (host).
-- Grain: one row, none without rows.
SELECT host, count(*) AS urls
FROM counted_url
GROUP BY host
ORDER BY urls DESC, host
LIMIT 1
