-- What is known of each host.
-- Reads: page, observation, newest_host.
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
requests AS (
    SELECT
        host_key,
        count(*) FILTER (sent) AS requests,
        count(*) FILTER (outcome = 'not_modified') AS not_modified,
        count(*) FILTER (NOT is_success(outcome)) AS failures,
        coalesce(sum(wire_bytes), 0)::BIGINT AS wire_bytes,
        coalesce(sum(saved_bytes), 0)::BIGINT AS saved_bytes
    FROM observation
    GROUP BY host_key
)
SELECT
    pages.host,
    pages.bucket,
    pages.known_urls,
    pages.fetched_urls,
    pages.live_urls,
    pages.copies,
    coalesce(requests.requests, 0) AS requests,
    coalesce(requests.not_modified, 0) AS not_modified,
    coalesce(requests.failures, 0) AS failures,
    coalesce(requests.wire_bytes, 0) AS wire_bytes,
    coalesce(requests.saved_bytes, 0) AS saved_bytes,
    pages.last_fetched_at,
    h.address,
    h.delay_seconds,
    h.response_seconds,
    h.crawl_delay_seconds
FROM pages
LEFT JOIN requests USING (host_key)
LEFT JOIN newest_host AS h USING (host_key)
