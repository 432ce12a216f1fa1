-- Was every host asked only when it was allowed? The margin is how long after that instant a request went out; of hosts
-- with one connection, since others are asked while a request is under way.
-- Reads: observation, robots, politeness_audit.
-- Grain: one row per cycle.
WITH margins AS (
    SELECT
        *,
        epoch(fetched_at) - lag(epoch(ended_at) + delay_seconds) OVER (
            PARTITION BY host ORDER BY fetched_at, ended_at, url
        ) AS margin_seconds
    FROM asked('observation', 'robots')
),
violations AS (
    SELECT cycle, count(*) AS violations FROM politeness_audit GROUP BY cycle
)
SELECT
    margins.cycle,
    count(DISTINCT margins.host) AS hosts,
    count(*) AS requests,
    count(*) FILTER (margins.is_robots) AS robots_requests,
    round(min(margins.delay_seconds), 3) AS least_delay_seconds,
    round(max(margins.delay_seconds), 3) AS most_delay_seconds,
    round(min(margins.margin_seconds) FILTER (margins.connections = 1), 3) AS least_margin_seconds,
    coalesce(any_value(violations.violations), 0) AS violations
FROM margins
LEFT JOIN violations USING (cycle)
GROUP BY margins.cycle
ORDER BY margins.cycle
