-- Who was first with each arriving digest: the known first, else the one that is named as canonical, then the shortest
-- URL, ties by the URL itself.
-- Reads: arriving, known_copy (what the shard's runs know), copy_files (what it has written since).
-- Params: cycle, shard, epoch, sequence; held_since: of what was kept before, the body may have expired.
-- Grain: one row per row of arriving, columns of copy.
WITH known AS (
    SELECT kind, digest, min(first_url) AS first_url, max(held_on) AS held_on
    FROM (
        SELECT kind, digest, first_url, held_on FROM known_copy
        UNION ALL
        SELECT kind, digest, first_url, CASE WHEN is_holder THEN cycle END
        FROM copy_files
        WHERE digest IN (SELECT digest FROM arriving)
    )
    GROUP BY kind, digest
),
first AS (
    SELECT kind, digest, arg_min(url, (standing, length(url), url)) AS url
    FROM arriving
    GROUP BY kind, digest
),
holder AS (
    SELECT digest, arg_min((bucket, url_key, epoch, sequence), (standing, length(url), url, epoch, sequence)) AS row
    FROM arriving
    WHERE kind = 'body' AND stored
    GROUP BY digest
)
SELECT
    $cycle::DATE AS cycle,
    $shard AS shard,
    $epoch AS epoch,
    $sequence AS sequence,
    a.kind,
    a.digest,
    a.url_key,
    a.url,
    a.bucket,
    a.epoch AS observed_epoch,
    a.sequence AS observed_sequence,
    a.body_digest,
    a.stored,
    a.url = coalesce(known.first_url, first.url) AS is_first,
    coalesce(known.first_url, first.url) AS first_url,
    a.kind = 'body' AND NOT coalesce(known.held_on >= $held_since::DATE, false)
    AND coalesce(holder.row = (a.bucket, a.url_key, a.epoch, a.sequence), false) AS is_holder
FROM arriving AS a
JOIN first USING (kind, digest)
LEFT JOIN known USING (kind, digest)
LEFT JOIN holder ON holder.digest = a.digest
ORDER BY a.kind, a.digest, a.url, a.epoch, a.sequence
