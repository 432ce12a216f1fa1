-- What is known of each host: its pages, what came of asking, how fast it answers, and what limits us there.
-- Reads: page, asked_host, held, host_budget.
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
    asked.new_share,
    coalesce(asked.wire_bytes, 0) AS wire_bytes,
    coalesce(asked.saved_bytes, 0) AS saved_bytes,
    pages.last_fetched_at,
    asked.response_p50_seconds,
    asked.response_p90_seconds,
    asked.response_p99_seconds,
    asked.address,
    asked.delay_seconds,
    asked.response_seconds,
    asked.crawl_delay_seconds,
    coalesce(asked.lane, 'normal') AS lane,
    asked.robots_verdict,
    asked.robots_version,
    asked.robots_read_at,
    held.held_at,
    held.reason AS held_because,
    budget.urls AS budget_urls,
    budget.because AS budget_because
FROM pages
LEFT JOIN asked_host AS asked USING (host_key)
LEFT JOIN held ON held.host = pages.host
LEFT JOIN host_budget AS budget ON budget.host = pages.host
