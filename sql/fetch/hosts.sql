-- The newest politeness state of the hosts that a fetch will ask, with their requests of the last 24 hours.
-- Reads: base_host, tail_host, recent_observation, recent_robots, todo.
-- Params: since, the instant 24 hours ago.
-- Grain: one row per host.
WITH wanted AS (
    SELECT DISTINCT host FROM todo
),
asked AS (
    SELECT host, count(*) AS requests
    FROM (
        SELECT host, fetched_at, sent FROM recent_observation
        UNION ALL
        SELECT host, fetched_at, sent FROM recent_robots
    )
    WHERE sent AND fetched_at > $since
    GROUP BY host
),
newest AS (
    SELECT host, arg_max(h, log_position(epoch, sequence)) AS state
    FROM (SELECT * FROM base_host UNION ALL BY NAME SELECT * FROM tail_host) AS h
    WHERE host IN (SELECT host FROM wanted)
    GROUP BY host
)
SELECT
    newest.host,
    state.address,
    state.delay_seconds,
    state.allowed_at,
    state.response_seconds,
    state.crawl_delay_seconds,
    state.penalty,
    state.error_streak,
    coalesce(asked.requests, 0) AS requests_last_day,
    state.busy_at,
    state.slow,
    state.validator_audits,
    state.validator_lies
FROM newest
LEFT JOIN asked USING (host)
ORDER BY newest.host
