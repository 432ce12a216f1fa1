-- What politeness knows of the generated hosts of a bucket.
-- Reads: layout.
-- Params: bucket, width, now.
-- Grain: one row per host, columns of host_state.
SELECT
    ($now::TIMESTAMPTZ - INTERVAL 1 DAY)::DATE AS cycle,
    $bucket AS bucket,
    1 AS epoch,
    1 AS sequence,
    web_host_key($bucket, host_rank, $width::UBIGINT) AS host_key,
    web_host($bucket, host_rank) AS host,
    '192.0.2.' || host_key % 250 AS address,
    0e0 AS delay_seconds,
    $now::TIMESTAMPTZ - INTERVAL 1 DAY AS allowed_at,
    2e-1 AS response_seconds,
    NULL::DOUBLE AS crawl_delay_seconds,
    1e0 AS penalty,
    0 AS error_streak,
    size AS requests,
    NULL::TIMESTAMPTZ AS busy_at,
    false AS slow,
    0 AS validator_audits,
    0 AS validator_lies
FROM layout
