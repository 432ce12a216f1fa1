-- What digest shards know of the generated pages of a bucket: a row per page and kind of digest, as the days on which they
-- were first fetched would have left it.
-- Reads: pages (rows of page).
-- Params: cycle, buckets.
-- Grain: one row per page and kind, columns of copy.
WITH told AS (
    SELECT 'body' AS kind, body_digest AS digest, * FROM pages WHERE body_digest IS NOT NULL
    UNION ALL
    SELECT 'text' AS kind, copy_digest AS digest, * FROM pages WHERE body_digest IS NOT NULL
)
SELECT
    $cycle::DATE AS cycle,
    (('0x' || hex(digest[1:2]))::INTEGER // (65536 // $buckets))::USMALLINT AS shard,
    1::UINTEGER AS epoch,
    1::UINTEGER AS sequence,
    kind,
    digest,
    url_key,
    url,
    bucket,
    1::UINTEGER AS observed_epoch,
    1::UINTEGER AS observed_sequence,
    body_digest,
    true AS stored,
    duplicate_of IS NULL AS is_first,
    coalesce(duplicate_of, url) AS first_url,
    kind = 'body' AND duplicate_of IS NULL AS is_holder
FROM told
ORDER BY shard, kind, digest, url
