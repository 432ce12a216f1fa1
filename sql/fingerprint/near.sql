-- What of a bucket each arrived page is nearly a copy of: a known page before one that arrived too, then the one that is
-- named as canonical, then the shortest URL, ties by the URL itself. Nobody stands for the page that it names as canonical.
-- Reads: arrived, arrived_here, near_known, pair, skipped (SimHashes that were not looked up by so many of their keys).
-- Params: cycle, shard, epoch, sequence.
-- Grain: one row per page with something before it, or whose search left keys out; columns of near.
WITH standing AS (
    SELECT simhash, url, canonical_url, standing
    FROM near_known
    WHERE simhash IN (SELECT near_simhash FROM pair)
    UNION ALL
    SELECT simhash, url, canonical_url, standing
    FROM arrived_here
),
first_of AS (
    SELECT simhash, arg_min(s, (standing, length(url), url)) AS first
    FROM standing AS s
    GROUP BY simhash
),
nearest AS (
    SELECT
        pair.simhash,
        arg_min(
            {'url': first.url, 'canonical_url': first.canonical_url, 'standing': first.standing, 'distance': pair.distance},
            (first.standing, length(first.url), first.url)
        ) AS first
    FROM pair
    JOIN first_of ON first_of.simhash = pair.near_simhash
    GROUP BY pair.simhash
),
found AS (
    SELECT
        a.*,
        CASE
            WHEN (nearest.first.standing, length(nearest.first.url), nearest.first.url)
                < (a.standing, length(a.url), a.url)
                AND nearest.first.canonical_url IS DISTINCT FROM a.url
            THEN nearest.first
        END AS first,
        CASE WHEN a.bucket = $shard THEN coalesce(skipped.keys, 0) ELSE 0 END AS skipped
    FROM arrived AS a
    LEFT JOIN nearest USING (simhash)
    LEFT JOIN skipped USING (simhash)
)
SELECT
    $cycle::DATE AS cycle,
    $shard AS shard,
    $epoch AS epoch,
    $sequence AS sequence,
    url_key,
    url,
    bucket,
    observed_epoch,
    observed_sequence,
    body_digest,
    simhash,
    first.url AS near_url,
    first.standing AS standing,
    first.distance AS distance,
    skipped
FROM found
WHERE first IS NOT NULL OR skipped > 0
ORDER BY url, bucket
