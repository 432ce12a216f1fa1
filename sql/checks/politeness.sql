-- fail: a host was asked before the delay after its last response had passed (1 ms is the clocks' rounding).
-- Reads: cycle_observation, cycle_robots.
-- Grain: one row per such request.
SELECT host, url, fetched_at, early_seconds
FROM (
    SELECT
        host,
        url,
        fetched_at,
        lag(epoch(ended_at) + delay_seconds) OVER (PARTITION BY host ORDER BY fetched_at, ended_at, url)
        - epoch(fetched_at) AS early_seconds
    FROM (
        SELECT host, url, fetched_at, ended_at, delay_seconds FROM cycle_observation WHERE sent
        UNION ALL
        SELECT host, url, fetched_at, ended_at, delay_seconds FROM cycle_robots WHERE sent
    )
)
WHERE early_seconds > 1e-3
ORDER BY host, fetched_at
