-- The digests of a shard that observations brought since the marks, a row per observation and kind of digest. Which of the
-- pages with a digest stands for it is said by these pages alone.
-- Reads: came.
-- Params: low, high: the shard's digests are >= low and < high, as bytes.
-- Grain: one row per observation and kind.
WITH told AS (
    SELECT 'body' AS kind, body_digest AS digest, canonical_url, url_key, url, bucket, epoch, sequence, body_digest, stored
    FROM came
    WHERE body_digest >= $low AND body_digest < $high
    UNION ALL
    SELECT 'text' AS kind, copy_digest AS digest, canonical_url, url_key, url, bucket, epoch, sequence, body_digest, stored
    FROM came
    WHERE copy_digest >= $low AND copy_digest < $high
),
named AS (
    SELECT DISTINCT kind, digest, canonical_url AS url FROM told WHERE canonical_url <> url
)
SELECT
    told.kind,
    told.digest,
    canonical_rank(told.url, told.canonical_url, named.url) AS standing,
    told.url_key,
    told.url,
    told.bucket,
    told.epoch,
    told.sequence,
    told.body_digest,
    told.stored
FROM told
LEFT JOIN named ON named.kind = told.kind AND named.digest = told.digest AND named.url = told.url
