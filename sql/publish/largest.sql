-- The hosts with most known URLs.
-- Reads: total.
-- Params: hosts, how many.
-- Grain: one row per host.
SELECT
    host_key,
    sum(urls)::BIGINT AS known_urls,
    coalesce(sum(urls) FILTER (is_fetched), 0)::BIGINT AS fetched,
    coalesce(sum(urls) FILTER (outcome IS NULL), 0)::BIGINT AS never_asked,
    coalesce(sum(urls) FILTER (outcome IN ('ok', 'not_modified')), 0)::BIGINT AS live,
    sum(fresh_day)::BIGINT AS fresh_day,
    coalesce(sum(urls) FILTER (outcome IN ('denied_by_robots', 'robots_unreachable')), 0)::BIGINT AS denied,
    coalesce(sum(urls) FILTER (outcome IS NOT NULL AND NOT is_success(outcome)
        AND outcome NOT IN ('gone', 'denied_by_robots', 'robots_unreachable')), 0)::BIGINT AS failing,
    max(last_fetched_at) AS last_fetched_at
FROM total
WHERE is_host
GROUP BY host_key
ORDER BY known_urls DESC, host_key
LIMIT $hosts
