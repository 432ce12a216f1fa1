-- The pages of a bucket that name URLs which it does not know: what rules of traps look at before these arrive.
-- Reads: followed_link, seen, trap_page.
-- Grain: one row per page.
SELECT url_key, host_key, pattern_key, text
FROM trap_page
WHERE url_key IN (SELECT source_url_key FROM followed_link WHERE target_url_key NOT IN (SELECT url_key FROM seen))
