-- What digest shards know of the generated pages of a bucket: who was first with a digest, and that its body is held.
-- Reads: pages (rows of page).
-- Params: cycle, buckets.
-- Grain: one row per page and kind of digest, by shard.
WITH told AS (
    SELECT 'body' AS kind, body_digest AS digest, * FROM pages WHERE body_digest IS NOT NULL
    UNION ALL
    SELECT 'text' AS kind, copy_digest AS digest, * FROM pages WHERE body_digest IS NOT NULL
)
SELECT
    (('0x' || hex(digest[1:2]))::INTEGER // (65536 // $buckets))::USMALLINT AS shard,
    $cycle::DATE AS cycle,
    kind,
    digest,
    coalesce(duplicate_of, url) AS first_url,
    kind = 'body' AND duplicate_of IS NULL AS is_holder
FROM told
ORDER BY shard, digest
