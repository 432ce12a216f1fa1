-- How much of what is known has been fetched.
-- Reads: page.
-- Grain: one row.
SELECT
    count(*) AS known,
    count(*) FILTER (outcome IS NULL) AS never_asked,
    count(*) FILTER (outcome IN ('ok', 'not_modified')) AS live,
    count(*) FILTER (outcome = 'redirected') AS redirected,
    count(*) FILTER (outcome = 'gone') AS gone,
    count(*) FILTER (outcome IN ('denied_by_robots', 'robots_unreachable')) AS denied,
    count(*) FILTER (duplicate_of IS NOT NULL) AS copies,
    count(*) FILTER (is_sitemap) AS sitemaps
FROM page
