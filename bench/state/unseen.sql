-- How many links name a URL that nobody knows, by the anti-join of sql/merge/arriving.sql.
-- Reads: followed_link, seen.
-- Grain: one row.
SELECT count(*) FROM followed_link AS f WHERE f.target_url_key NOT IN (SELECT url_key FROM seen)
