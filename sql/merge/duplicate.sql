-- Pages of the bucket whose newest content another URL brought first.
-- Reads: copy_files, span (per source bucket the epochs to read).
-- Params: cycle, bucket, epoch, sequence.
-- Grain: one row per observation that is a copy, columns of duplicate.
SELECT
    $cycle::DATE AS cycle,
    $bucket AS bucket,
    $epoch AS epoch,
    $sequence AS sequence,
    c.url_key,
    c.body_digest,
    arg_min(c.first_url, (c.kind, c.first_url)) AS first_url
FROM copy_files AS c
JOIN span ON span.bucket = c.bucket AND c.observed_epoch > span.after_epoch AND c.observed_epoch <= span.upto_epoch
WHERE c.bucket = $bucket AND NOT c.is_first
GROUP BY c.url_key, c.body_digest, c.observed_epoch, c.observed_sequence
ORDER BY c.url_key, c.observed_epoch, c.observed_sequence
