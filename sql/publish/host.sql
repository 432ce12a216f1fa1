-- Coverage and freshness of the hosts with most known URLs.
-- Reads: page, newest_host.
-- Params: now, the instant of publishing; hosts, how many.
-- Grain: one row per host.
WITH aged AS (
    SELECT
        host_key,
        host,
        bucket,
        outcome,
        fetches,
        fetched_at,
        (epoch($now::TIMESTAMPTZ) - epoch(fetched_at)) / 86400 AS age_days,
        coalesce(outcome IN ('ok', 'not_modified'), false) AS live
    FROM page
),
summed AS (
    SELECT
        host_key,
        any_value(host) AS host,
        any_value(bucket) AS bucket,
        count(*) AS known_urls,
        count(*) FILTER (fetches > 0) AS fetched,
        count(*) FILTER (outcome IS NULL) AS never_asked,
        count(*) FILTER (live) AS live,
        count(*) FILTER (live AND age_days <= 1) AS fresh_day,
        count(*) FILTER (outcome IN ('denied_by_robots', 'robots_unreachable')) AS denied,
        count(*) FILTER (outcome IS NOT NULL AND NOT is_success(outcome)
            AND outcome NOT IN ('gone', 'denied_by_robots', 'robots_unreachable')) AS failing,
        round(quantile_cont(age_days, 5e-1) FILTER (live), 3) AS median_age_days,
        round(quantile_cont(age_days, 9e-1) FILTER (live), 3) AS p90_age_days,
        max(fetched_at) AS last_fetched_at
    FROM aged
    GROUP BY host_key
)
SELECT summed.* EXCLUDE (host_key), round(h.delay_seconds, 3) AS delay_seconds
FROM summed
LEFT JOIN newest_host AS h USING (host_key)
ORDER BY summed.known_urls DESC, summed.host
LIMIT $hosts
