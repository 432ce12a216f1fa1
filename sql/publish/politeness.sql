-- Whether the hosts of a cycle were asked only when they were allowed to be, by the log; 1 ms is two clocks' rounding.
-- Reads: observation, robots.
-- Params: cycle; since, before its first request, early enough to see what a host was owed from the cycle before.
-- Grain: one row.
WITH sent AS (
    SELECT cycle, host, url, fetched_at, ended_at, delay_seconds, false AS is_robots
    FROM observation WHERE sent AND fetched_at >= $since::TIMESTAMPTZ
    UNION ALL
    SELECT cycle, host, url, fetched_at, ended_at, delay_seconds, true AS is_robots
    FROM robots WHERE sent AND fetched_at >= $since::TIMESTAMPTZ
),
margins AS (
    SELECT
        *,
        epoch(fetched_at) - lag(epoch(ended_at) + delay_seconds) OVER (
            PARTITION BY host ORDER BY fetched_at, ended_at, url
        ) AS margin_seconds
    FROM sent
)
SELECT
    count(DISTINCT host) AS hosts,
    count(*) AS requests,
    count(*) FILTER (is_robots) AS robots_requests,
    round(min(delay_seconds), 3) AS least_delay_seconds,
    round(max(delay_seconds), 3) AS most_delay_seconds,
    round(min(margin_seconds), 3) AS least_margin_seconds,
    count(*) FILTER (margin_seconds < -1e-3) AS violations,
    arg_min(host, margin_seconds) FILTER (margin_seconds < -1e-3) AS earliest_host
FROM margins
WHERE cycle = $cycle::DATE
