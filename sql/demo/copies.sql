-- The hosts whose pages another host brought first.
-- Reads: page.
-- Grain: one row per pair of hosts, the twelve with most copies.
SELECT
    host,
    split_part(split_part(duplicate_of, '/', 3), ':', 1) AS first_host,
    count(*) AS copies,
    coalesce(sum(body_bytes), 0)::BIGINT AS repeated_bytes
FROM page
WHERE duplicate_of IS NOT NULL
GROUP BY host, first_host
ORDER BY copies DESC, host, first_host
LIMIT 12
