-- The page whose checks told most: as many changes as checks without, then most checks.
-- Reads: page.
-- Grain: one row, none without a page that was looked at twice.
SELECT url
FROM page
WHERE checks > 1 AND NOT is_sitemap
ORDER BY least(changes, checks - changes) DESC, checks DESC, url_key
LIMIT 1
