-- A small body for each page that changed: what a capture weighs is no matter of the state.
-- Reads: observed (rows of observation).
-- Params: cycle, bucket, epoch, sequence.
-- Grain: one row per stored body, columns of capture.
SELECT
    $cycle::DATE AS cycle,
    $bucket AS bucket,
    $epoch AS epoch,
    $sequence AS sequence,
    url_key,
    url,
    fetched_at,
    body_digest,
    content_type,
    charset,
    '[]' AS headers,
    body_digest AS body
FROM observed
WHERE stored
ORDER BY url_key
