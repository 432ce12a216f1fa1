-- Requests that their host was not owed yet. With one connection: before its delay after the response before.
-- With k: while k others were under way or had ended less than their delay ago (rule connections), sooner than the delay
-- after the request before (spacing; an answer may not be known yet while the next goes out, so the least of the last k),
-- or before a busy server's wish was over (hold; known a second after it). 1 ms is the rounding between two clocks.
CREATE OR REPLACE MACRO early_at_host(observations, robots_requests) AS TABLE
WITH request AS (
    FROM asked(observations, robots_requests)
),
single AS (
    SELECT
        *,
        lag(ended_at + to_microseconds((delay_seconds * 1e6)::BIGINT)) OVER (
            PARTITION BY host ORDER BY fetched_at, ended_at, url
        ) AS allowed_at
    FROM request
    QUALIFY connections = 1
),
wide AS (
    SELECT * FROM request WHERE host IN (SELECT host FROM request WHERE connections > 1)
),
event AS (
    SELECT *, epoch(fetched_at) AS instant, 1 AS change FROM wide
    UNION ALL
    SELECT *, epoch(ended_at) + delay_seconds - 1e-3 AS instant, -1 AS change FROM wide
),
counted AS (
    SELECT
        *,
        sum(change) OVER (PARTITION BY host ORDER BY instant, change, url ROWS UNBOUNDED PRECEDING) AS busy,
        min(instant) FILTER (change = -1) OVER (
            PARTITION BY host ORDER BY instant, change, url ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
        ) AS free
    FROM event
),
told AS (
    SELECT
        host,
        ended_at,
        min(delay_seconds) OVER (
            PARTITION BY host ORDER BY ended_at, fetched_at, url
            ROWS BETWEEN connections - 1 PRECEDING AND CURRENT ROW
        ) AS least_delay_seconds,
        max(CASE WHEN is_hold THEN epoch(ended_at) + delay_seconds END) OVER (
            PARTITION BY host ORDER BY ended_at, fetched_at, url ROWS UNBOUNDED PRECEDING
        ) AS hold
    FROM wide
),
sent AS (
    SELECT *, lag(epoch(fetched_at)) OVER (PARTITION BY host ORDER BY fetched_at, ended_at, url) AS earlier
    FROM wide
),
found AS (
    SELECT host, url, cycle, fetched_at, 'delay' AS rule, allowed_at FROM single
    UNION ALL
    SELECT host, url, cycle, fetched_at, 'connections', to_timestamp(free + 1e-3)
    FROM counted WHERE change = 1 AND connections > 1 AND busy > connections
    UNION ALL
    SELECT s.host, s.url, s.cycle, s.fetched_at, 'spacing', to_timestamp(s.earlier + t.least_delay_seconds)
    FROM sent AS s ASOF JOIN told AS t ON s.host = t.host AND s.fetched_at >= t.ended_at
    WHERE s.connections > 1
    UNION ALL
    SELECT s.host, s.url, s.cycle, s.fetched_at, 'hold', to_timestamp(t.hold)
    FROM sent AS s ASOF JOIN told AS t ON s.host = t.host AND s.fetched_at > t.ended_at + INTERVAL 1 SECOND
    WHERE s.connections > 1
)
SELECT *, epoch(allowed_at) - epoch(fetched_at) AS early_seconds
FROM found
WHERE early_seconds > 1e-3;
