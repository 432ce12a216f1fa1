-- How much of what is known has been fetched, and why the rest was not.
-- Reads: page.
-- Grain: one row per host.
CREATE VIEW coverage AS
SELECT
    host,
    count(*) AS known_urls,
    count(*) FILTER (outcome IS NULL) AS never_asked,
    count(*) FILTER (fetches > 0) AS fetched,
    count(*) FILTER (outcome IN ('ok', 'not_modified')) AS live,
    count(*) FILTER (outcome = 'redirected') AS redirected,
    count(*) FILTER (outcome = 'gone') AS gone,
    count(*) FILTER (outcome IN ('denied_by_robots', 'robots_unreachable')) AS denied,
    count(*) FILTER (outcome IS NOT NULL AND NOT is_success(outcome)
        AND outcome NOT IN ('gone', 'denied_by_robots', 'robots_unreachable')) AS failing,
    count(*) FILTER (duplicate_of IS NOT NULL) AS copies,
    round(count(*) FILTER (fetches > 0) / count(*), 4) AS share_fetched
FROM page
GROUP BY host
ORDER BY host
