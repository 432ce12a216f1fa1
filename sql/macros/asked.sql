-- Every request of two tables with the columns of observation and robots, given by name, as politeness sees it.
CREATE OR REPLACE MACRO asked(observations, robots_requests) AS TABLE
SELECT
    cycle, bucket, host, url, fetched_at, ended_at, delay_seconds, connections, address, address_delay_seconds,
    address_buckets, false AS is_robots,
    status IN (429, 503) OR (status >= 300 AND retry_after_seconds > 0) AS is_hold
FROM query_table(observations)
WHERE sent
UNION ALL
SELECT
    cycle, bucket, host, url, fetched_at, ended_at, delay_seconds, connections, address, address_delay_seconds,
    address_buckets, true AS is_robots, status IN (429, 503) AS is_hold
FROM query_table(robots_requests)
WHERE sent;
