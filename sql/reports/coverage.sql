-- How much of what is known has been fetched: all hosts, then the twenty with most that was not.
-- Reads: coverage.
-- Grain: one row per host, after one for all.
WITH summed AS (
    SELECT
        count(*) || ' hosts' AS host,
        coalesce(sum(known_urls), 0)::BIGINT AS known_urls,
        coalesce(sum(fetched), 0)::BIGINT AS fetched,
        coalesce(sum(never_asked), 0)::BIGINT AS never_asked,
        coalesce(sum(live), 0)::BIGINT AS live,
        coalesce(sum(redirected), 0)::BIGINT AS redirected,
        coalesce(sum(gone), 0)::BIGINT AS gone,
        coalesce(sum(denied), 0)::BIGINT AS denied,
        coalesce(sum(failing), 0)::BIGINT AS failing,
        coalesce(sum(copies), 0)::BIGINT AS copies
    FROM coverage
),
worst AS (
    SELECT host, known_urls, fetched, never_asked, live, redirected, gone, denied, failing, copies
    FROM coverage
    ORDER BY known_urls - fetched DESC, host
    LIMIT 20
)
SELECT * EXCLUDE (position), round(100 * fetched / nullif(known_urls, 0), 1) AS percent_fetched
FROM (SELECT 0 AS position, * FROM summed UNION ALL SELECT 1, * FROM worst)
ORDER BY position, known_urls - fetched DESC, host
