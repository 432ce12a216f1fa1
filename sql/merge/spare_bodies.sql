-- How many bodies of the bucket's cycle are kept elsewhere too.
-- Reads: capture_files, copy_files.
-- Grain: one row.
SELECT count(*) AS bodies
FROM capture_files AS b
JOIN copy_files AS c
    ON c.kind = 'body' AND NOT c.is_holder AND c.bucket = b.bucket AND c.url_key = b.url_key
    AND c.observed_epoch = b.epoch AND c.observed_sequence = b.sequence
