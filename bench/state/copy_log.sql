-- The log of a digest shard that knows so little that it has no run.
-- Reads: copy_files (what copy.sql says of all buckets' pages).
-- Params: shard.
-- Grain: one row per digest, kind and first URL, columns of copy.
SELECT
    cycle,
    $shard AS shard,
    1 AS epoch,
    1 AS sequence,
    kind,
    digest,
    hash(first_url) AS url_key,
    first_url AS url,
    0 AS bucket,
    1 AS observed_epoch,
    1 AS observed_sequence,
    digest AS body_digest,
    true AS stored,
    true AS is_first,
    first_url,
    bool_or(is_holder) AS is_holder
FROM copy_files
GROUP BY cycle, kind, digest, first_url
ORDER BY kind, digest, first_url
