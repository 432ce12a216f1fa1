-- The URLs that links name and a bucket knows, with what links may change of them. One pass over its keys: the links are
-- the smaller side.
-- Reads: followed_link, state_page.
-- Grain: one row per URL.
SELECT url_key, is_sitemap, announced_by, lastmod, sitemap_priority
FROM state_page
WHERE url_key IN (SELECT target_url_key FROM followed_link)
