-- The bodies of the bucket's cycle without those that another observation's capture keeps.
-- Reads: capture_files, copy_files.
-- Grain: one row per body, columns of capture.
SELECT b.*
FROM capture_files AS b
LEFT JOIN copy_files AS c
    ON c.kind = 'body' AND NOT c.is_holder AND c.bucket = b.bucket AND c.url_key = b.url_key
    AND c.observed_epoch = b.epoch AND c.observed_sequence = b.sequence
WHERE c.url_key IS NULL
ORDER BY b.url_key, b.epoch, b.sequence
