-- The pages of a bucket whose text or near group the tail of the log can change.
-- Reads: tail_observation, tail_duplicate (rows from the checkpoint's epoch on).
-- Grain: one row per URL.
SELECT url_key FROM tail_observation
UNION
SELECT url_key FROM tail_duplicate
