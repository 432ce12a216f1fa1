-- What is known of each host: its pages, what came of asking, how fast it answers, and what limits us there.
-- Reads: page, newest_tally, newest_host, newest_robots, held, host_budget, response_time.
-- Grain: one row per host.
CREATE VIEW host AS
WITH pages AS (
    SELECT
        host_key,
        any_value(host) AS host,
        any_value(bucket) AS bucket,
        count(*) AS known_urls,
        count(*) FILTER (fetches > 0) AS fetched_urls,
        count(*) FILTER (outcome IN ('ok', 'not_modified')) AS live_urls,
        count(*) FILTER (duplicate_of IS NOT NULL) AS copies,
        max(fetched_at) AS last_fetched_at
    FROM page
    GROUP BY host_key
),
by_outcome AS (
    SELECT
        host_key, outcome, sum(observations)::BIGINT AS observations, sum(requests) AS requests, sum(brought) AS brought,
        sum(wire_bytes) AS wire_bytes, sum(saved_bytes) AS saved_bytes
    FROM newest_tally
    GROUP BY host_key, outcome
),
asked AS (
    SELECT
        host_key,
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
    FROM newest_robots
    GROUP BY ALL
)
SELECT
    pages.host,
    pages.bucket,
    pages.known_urls,
    pages.fetched_urls,
    pages.live_urls,
    pages.copies,
    coalesce(asked.requests, 0) AS requests,
    coalesce(asked.outcomes, MAP {}) AS outcomes,
    coalesce(asked.not_modified, 0) AS not_modified,
    coalesce(asked.failures, 0) AS failures,
    round(asked.new_share, 4) AS new_share,
    coalesce(asked.wire_bytes, 0) AS wire_bytes,
    coalesce(asked.saved_bytes, 0) AS saved_bytes,
    pages.last_fetched_at,
    answered.p50_seconds AS response_p50_seconds,
    answered.p90_seconds AS response_p90_seconds,
    answered.p99_seconds AS response_p99_seconds,
    h.address,
    h.delay_seconds,
    h.response_seconds,
    h.crawl_delay_seconds,
    CASE WHEN h.slow THEN 'slow' ELSE 'normal' END AS lane,
    ruled.robots.verdict AS robots_verdict,
    ruled.robots.digest AS robots_version,
    ruled.robots.read_at AS robots_read_at,
    held.held_at, held.reason AS held_because,
    b.urls AS budget_urls, b.because AS budget_because
FROM pages
LEFT JOIN asked USING (host_key)
LEFT JOIN response_time AS answered USING (host_key)
LEFT JOIN newest_host AS h USING (host_key)
LEFT JOIN ruled ON ruled.host = pages.host
LEFT JOIN held ON held.host = pages.host
LEFT JOIN host_budget AS b ON b.host = pages.host
