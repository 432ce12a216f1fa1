-- The contents that observations of any bucket brought since the marks.
-- Reads: observation_files, span (per bucket the epochs to read).
-- Grain: one row per observation with a body.
SELECT
    o.bucket,
    o.url_key,
    o.url,
    o.canonical_url,
    o.epoch,
    o.sequence,
    o.body_digest,
    o.copy_digest,
    o.simhash,
    o.content_changed,
    o.stored
FROM observation_files AS o
JOIN span ON span.bucket = o.bucket AND o.epoch > span.after_epoch AND o.epoch <= span.upto_epoch
WHERE o.outcome = 'ok' AND o.body_digest IS NOT NULL
