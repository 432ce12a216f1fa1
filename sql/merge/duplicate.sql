-- Pages of the bucket whose newest content another URL brought first, or nearly so. Of pages that arrived together and
-- lead to each other by near copies, the last that has none before it stands for all.
-- Reads: copy_files, near_files, span (per source bucket the epochs to read).
-- Params: cycle, bucket, epoch, sequence.
-- Grain: one row per URL and body that is a copy, columns of duplicate.
WITH RECURSIVE exact AS (
    SELECT c.url_key, c.body_digest, arg_min(c.first_url, (c.kind, c.first_url)) AS first_url
    FROM copy_files AS c
    JOIN span ON span.bucket = c.bucket AND c.observed_epoch > span.after_epoch AND c.observed_epoch <= span.upto_epoch
    WHERE c.bucket = $bucket AND NOT c.is_first
    GROUP BY c.url_key, c.body_digest
),
newest AS (
    SELECT *
    FROM near_files
    QUALIFY rank() OVER (PARTITION BY bucket, url_key ORDER BY observed_epoch DESC, observed_sequence DESC) = 1
),
best AS MATERIALIZED (
    SELECT
        bucket,
        url_key,
        url,
        observed_epoch,
        body_digest,
        simhash,
        arg_min(near_url, (standing, length(near_url), near_url)) FILTER (near_url IS NOT NULL) AS near_url,
        max(skipped) AS skipped
    FROM newest
    GROUP BY bucket, url_key, url, observed_epoch, body_digest, simhash
),
reached AS (
    SELECT url, near_url FROM best WHERE bucket = $bucket AND near_url IS NOT NULL
    UNION
    SELECT reached.url, best.near_url
    FROM reached
    JOIN best ON best.url = reached.near_url AND best.near_url IS NOT NULL
),
stands AS (
    -- Two runs of the stage can have put pages before each other; then the shortest URL of the ring stands for it.
    SELECT
        reached.url,
        nullif(
            arg_min(reached.near_url, (best.near_url IS NOT NULL, length(reached.near_url), reached.near_url)), reached.url
        ) AS near_of
    FROM reached
    LEFT JOIN best ON best.url = reached.near_url
    GROUP BY reached.url
),
near AS (
    SELECT best.url_key, best.body_digest, best.simhash, stands.near_of, best.skipped
    FROM best
    JOIN span ON span.bucket = best.bucket AND best.observed_epoch > span.after_epoch AND best.observed_epoch <= span.upto_epoch
    LEFT JOIN stands USING (url)
    WHERE best.bucket = $bucket
)
SELECT
    $cycle::DATE AS cycle,
    $bucket AS bucket,
    $epoch AS epoch,
    $sequence AS sequence,
    url_key,
    body_digest,
    exact.first_url,
    near.simhash,
    near.near_of,
    near.skipped AS near_skipped
FROM exact
FULL JOIN near USING (url_key, body_digest)
ORDER BY url_key, body_digest
