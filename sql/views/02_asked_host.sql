-- What came of asking each host, how fast it answers, its robots.txt, and what limits us there.
-- Reads: newest_tally, response_time, newest_host, base_robots, tail_robots.
-- Grain: one row per host that was asked.
CREATE VIEW asked_host AS
WITH by_outcome AS (
    SELECT
        host_key, any_value(host) AS host, outcome, sum(observations)::BIGINT AS observations, sum(requests) AS requests,
        sum(brought) AS brought, sum(wire_bytes) AS wire_bytes, sum(saved_bytes) AS saved_bytes
    FROM newest_tally
    GROUP BY host_key, outcome
),
tallied AS (
    SELECT
        host_key,
        any_value(host) AS host,
        sum(requests)::BIGINT AS requests,
        map_from_entries(list({'outcome': outcome, 'observations': observations} ORDER BY outcome)) AS outcomes,
        coalesce(sum(observations) FILTER (outcome = 'not_modified'), 0)::BIGINT AS not_modified,
        coalesce(sum(observations) FILTER (NOT is_success(outcome)), 0)::BIGINT AS failures,
        sum(brought) / nullif(sum(observations) FILTER (outcome IN ('ok', 'not_modified')), 0) AS new_share,
        sum(wire_bytes)::BIGINT AS wire_bytes,
        sum(saved_bytes)::BIGINT AS saved_bytes
    FROM by_outcome
    GROUP BY host_key
),
ruled AS (
    SELECT
        regexp_extract(origin, '^[a-z]+://([^/]*?)(:[0-9]+)?$', 1) AS host,
        arg_max({'verdict': verdict, 'digest': lower(hex(body_digest)), 'read_at': read_at}, (fetched_at, origin)) AS robots
    FROM (
        SELECT origin, verdict, body_digest, read_at, fetched_at FROM base_robots WHERE final
        UNION ALL
        SELECT origin, verdict, body_digest, read_at, fetched_at FROM tail_robots WHERE final
    )
    GROUP BY ALL
)
SELECT
    coalesce(t.host_key, h.host_key) AS host_key,
    coalesce(t.host, h.host) AS host,
    coalesce(t.requests, 0) AS requests,
    coalesce(t.outcomes, MAP {}) AS outcomes,
    coalesce(t.not_modified, 0) AS not_modified,
    coalesce(t.failures, 0) AS failures,
    round(t.new_share, 4) AS new_share,
    coalesce(t.wire_bytes, 0) AS wire_bytes,
    coalesce(t.saved_bytes, 0) AS saved_bytes,
    r.p50_seconds AS response_p50_seconds,
    r.p90_seconds AS response_p90_seconds,
    r.p99_seconds AS response_p99_seconds,
    h.address,
    h.delay_seconds,
    h.response_seconds,
    h.crawl_delay_seconds,
    CASE WHEN h.slow THEN 'slow' ELSE 'normal' END AS lane,
    ruled.robots.verdict AS robots_verdict,
    ruled.robots.digest AS robots_version,
    ruled.robots.read_at AS robots_read_at
FROM tallied AS t
FULL JOIN newest_host AS h USING (host_key)
LEFT JOIN response_time AS r ON r.host_key = coalesce(t.host_key, h.host_key)
LEFT JOIN ruled ON ruled.host = coalesce(t.host, h.host)
