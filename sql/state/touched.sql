-- The URLs of a bucket whose state the tail of the log changes.
-- Reads: tail_url, tail_observation, tail_duplicate.
-- Params: from_epoch, the checkpoint's epoch: rows below it are in the checkpoint.
-- Grain: one row per URL.
SELECT url_key FROM tail_url WHERE epoch >= $from_epoch
UNION
SELECT url_key FROM tail_observation WHERE epoch >= $from_epoch
UNION
SELECT url_key FROM tail_duplicate WHERE epoch >= $from_epoch
