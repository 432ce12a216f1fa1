-- Whether the hosts and addresses of a cycle were asked only when they were allowed to be, by the log.
-- Reads: observation, robots.
-- Params: cycle; since, before its first request, early enough to see what a host was owed from the cycle before.
-- Grain: one row.
WITH recent_page AS (
    SELECT * FROM observation WHERE fetched_at >= $since::TIMESTAMPTZ
),
recent_rules AS (
    SELECT * FROM robots WHERE fetched_at >= $since::TIMESTAMPTZ
),
margins AS (
    SELECT
        *,
        epoch(fetched_at) - lag(epoch(ended_at) + delay_seconds) OVER (
            PARTITION BY host ORDER BY fetched_at, ended_at, url
        ) AS margin_seconds
    FROM asked('recent_page', 'recent_rules')
),
early AS (
    SELECT host, early_seconds FROM early_at_host('recent_page', 'recent_rules') WHERE cycle = $cycle::DATE
    UNION ALL
    SELECT host, early_seconds FROM early_at_address('recent_page', 'recent_rules') WHERE cycle = $cycle::DATE
)
SELECT
    count(DISTINCT host) AS hosts,
    count(*) AS requests,
    count(*) FILTER (is_robots) AS robots_requests,
    round(min(delay_seconds), 3) AS least_delay_seconds,
    round(max(delay_seconds), 3) AS most_delay_seconds,
    round(min(margin_seconds) FILTER (connections = 1), 3) AS least_margin_seconds,
    (SELECT count(*) FROM early) AS violations,
    (SELECT arg_max(host, early_seconds) FROM early) AS earliest_host
FROM margins
WHERE cycle = $cycle::DATE
