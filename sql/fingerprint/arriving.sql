-- The digests of a shard that observations brought since the marks, a row per observation and kind of digest.
-- Reads: observation_files, span (per bucket the epochs to read).
-- Params: low, high: the shard's digests are >= low and < high, as bytes.
-- Grain: one row per observation and kind.
WITH came AS (
    SELECT o.*
    FROM observation_files AS o
    JOIN span ON span.bucket = o.bucket AND o.epoch > span.after_epoch AND o.epoch <= span.upto_epoch
    WHERE o.outcome = 'ok' AND o.body_digest IS NOT NULL
),
named AS (
    SELECT DISTINCT canonical_url AS url FROM came WHERE canonical_url <> url
),
brought AS (
    SELECT came.*, canonical_rank(came.url, came.canonical_url, named.url) AS standing
    FROM came
    LEFT JOIN named ON named.url = came.url
)
SELECT 'body' AS kind, body_digest AS digest, standing, url_key, url, bucket, epoch, sequence, body_digest, stored
FROM brought
WHERE body_digest >= $low AND body_digest < $high
UNION ALL
SELECT 'text' AS kind, copy_digest AS digest, standing, url_key, url, bucket, epoch, sequence, body_digest, stored
FROM brought
WHERE copy_digest >= $low AND copy_digest < $high
