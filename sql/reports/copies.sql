-- Which pages does the web hold more than once? The first to bring a content, with the hosts that repeat it.
-- Reads: page.
-- Grain: one row per content with copies, at most fifty.
SELECT
    duplicate_of AS first_url,
    count(*) AS copies,
    count(DISTINCT host) AS hosts,
    sum(body_bytes)::BIGINT AS repeated_bytes,
    min(url) AS example
FROM page
WHERE duplicate_of IS NOT NULL
GROUP BY duplicate_of
ORDER BY copies DESC, first_url
LIMIT 50
