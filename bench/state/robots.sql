-- The robots.txt of the hosts that a fetch asked, where the last one is out of date: one day in four.
-- Reads: observed (rows of observation).
-- Params: cycle, bucket, epoch, sequence, start.
-- Grain: one row per host, columns of robots.
SELECT
    $cycle::DATE AS cycle,
    $bucket AS bucket,
    $epoch AS epoch,
    $sequence AS sequence,
    'https://' || host AS origin,
    host_key,
    host,
    'https://' || host || '/robots.txt' AS url,
    0 AS hop,
    true AS final,
    'rules' AS verdict,
    'ok' AS outcome,
    200 AS status,
    $start::TIMESTAMPTZ AS fetched_at,
    $start::TIMESTAMPTZ + INTERVAL 100 MILLISECONDS AS ended_at,
    true AS sent,
    0e0 AS delay_seconds,
    1 AS connections,
    any_value(address) AS address,
    0e0 AS address_delay_seconds,
    1 AS address_buckets,
    $start::TIMESTAMPTZ AS read_at,
    $start::TIMESTAMPTZ + INTERVAL 4 DAYS AS valid_until,
    NULL::DOUBLE AS crawl_delay_seconds,
    web_digest(host) AS body_digest,
    encode('User-agent: *' || chr(10) || 'Disallow: /private-' || host_key || '/' || chr(10)) AS body,
    false AS suspect,
    NULL::TIMESTAMPTZ AS unreachable_since,
    NULL::VARCHAR AS error
FROM observed
GROUP BY host_key, host
HAVING (host_key + datediff('day', DATE '2000-01-01', $cycle::DATE)) % 4 = 0
ORDER BY host_key
