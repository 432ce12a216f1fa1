-- Requests that came before their host was owed one, over all history; 1 ms is the rounding between two clocks.
-- Reads: observation, robots.
-- Grain: one row per violation; no row is the promise.
CREATE VIEW politeness_audit AS
SELECT host, url, cycle, fetched_at, allowed_at, early_seconds
FROM (
    SELECT
        host,
        url,
        cycle,
        fetched_at,
        lag(ended_at + to_microseconds((delay_seconds * 1e6)::BIGINT)) OVER w AS allowed_at,
        lag(epoch(ended_at) + delay_seconds) OVER w - epoch(fetched_at) AS early_seconds
    FROM (
        SELECT host, url, cycle, fetched_at, ended_at, delay_seconds FROM observation WHERE sent
        UNION ALL
        SELECT host, url, cycle, fetched_at, ended_at, delay_seconds FROM robots WHERE sent
    )
    WINDOW w AS (PARTITION BY host ORDER BY fetched_at, ended_at, url)
)
WHERE early_seconds > 1e-3
ORDER BY fetched_at, host
