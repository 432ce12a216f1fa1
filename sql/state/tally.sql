-- What the log of a bucket adds up to for each host: the tally of a checkpoint, and the observations since.
-- All of it are sums of whole numbers, so that a checkpoint anywhere in between leaves the same.
-- Reads: base_tally, counted_observation (rows from the epoch of that checkpoint on).
-- Grain: one row per host, outcome and class of response time, columns of tally.
WITH counted AS (
    SELECT * FROM base_tally
    UNION ALL BY NAME
    SELECT
        bucket,
        host_key,
        host,
        outcome,
        CASE WHEN sent AND status IS NOT NULL THEN response_class(epoch_us(ended_at) - epoch_us(fetched_at)) END
        AS response_class,
        1::UBIGINT AS observations,
        sent::UBIGINT AS requests,
        (outcome = 'ok' AND content_changed IS DISTINCT FROM false)::UBIGINT AS brought,
        wire_bytes,
        saved_bytes
    FROM counted_observation
)
SELECT
    bucket,
    host_key,
    any_value(host) AS host,
    outcome,
    response_class,
    sum(observations)::UBIGINT AS observations,
    sum(requests)::UBIGINT AS requests,
    sum(brought)::UBIGINT AS brought,
    sum(wire_bytes)::UBIGINT AS wire_bytes,
    sum(saved_bytes)::UBIGINT AS saved_bytes
FROM counted
GROUP BY bucket, host_key, outcome, response_class
ORDER BY host_key, outcome, response_class
