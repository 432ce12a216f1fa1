-- The copies that readers take for current, with the instant at which each was; sitemaps are no pages.
-- Reads: page.
-- Grain: one row per live page.
SELECT
    url,
    host,
    fetched_at,
    duplicate_of
FROM page
WHERE outcome IN ('ok', 'not_modified') AND NOT is_sitemap
ORDER BY url_key
