-- The URLs that links name and a bucket knows. One pass over its keys: the links are the smaller side.
-- Reads: followed_link, state_page.
-- Grain: one row per URL.
SELECT url_key
FROM state_page
WHERE url_key IN (SELECT target_url_key FROM followed_link)
