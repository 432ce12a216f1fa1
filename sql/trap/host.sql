-- The hosts on which new content is rare: few distinct texts among many pages.
-- Reads: trap_page, large_host, state_page (for the names of those that are found).
-- Params: min_new_share.
-- Grain: one row per host.
WITH told AS (
    SELECT
        host_key,
        count(*) AS urls,
        count(text) AS pages,
        count(DISTINCT text) FILTER (NOT is_near) AS texts
    FROM trap_page
    WHERE host_key IN (SELECT host_key FROM large_host)
    GROUP BY host_key
    HAVING texts < $min_new_share * pages
)
SELECT told.host_key, any_value(p.host) AS host, any_value(told.urls) AS urls, any_value(told.texts) AS texts, max(p.url) AS example
FROM told
JOIN state_page AS p ON p.host_key = told.host_key
GROUP BY told.host_key
