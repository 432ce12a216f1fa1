-- What politeness knows after a fetch of the hosts that were asked.
-- Reads: observed (rows of observation).
-- Params: cycle, bucket, epoch, sequence.
-- Grain: one row per host, columns of host_state.
SELECT
    $cycle::DATE AS cycle,
    $bucket AS bucket,
    $epoch AS epoch,
    $sequence AS sequence,
    host_key,
    host,
    any_value(address) AS address,
    0e0 AS delay_seconds,
    max(ended_at) AS allowed_at,
    2e-1 AS response_seconds,
    NULL::DOUBLE AS crawl_delay_seconds,
    1e0 AS penalty,
    0 AS error_streak,
    count(*) AS requests,
    NULL::TIMESTAMPTZ AS busy_at,
    false AS slow,
    0 AS validator_audits,
    0 AS validator_lies
FROM observed
GROUP BY host_key, host
ORDER BY host_key
