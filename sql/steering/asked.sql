-- When each of some known URLs of a bucket was last asked for; NULL if never.
-- Reads: state_page, wanted.
-- Grain: one row per URL of wanted that is known.
SELECT url, asked_at FROM state_page WHERE url_key IN (SELECT url_key FROM wanted) ORDER BY url
