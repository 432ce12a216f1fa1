-- The URLs of a bucket whose state the tail of the log changes.
-- Reads: tail_url, tail_observation, tail_duplicate, tail_mention (rows from the checkpoint's epoch on).
-- Grain: one row per URL.
SELECT url_key FROM tail_url
UNION
SELECT url_key FROM tail_observation
UNION
SELECT url_key FROM tail_duplicate
UNION
SELECT url_key FROM tail_mention
