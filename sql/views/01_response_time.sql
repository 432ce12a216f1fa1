-- How long each host took to answer: nearest ranks over all answered requests, at most 9.1 % off.
-- Reads: newest_tally.
-- Grain: one row per host that has answered.
CREATE VIEW response_time AS
WITH ranked AS (
    SELECT
        host_key,
        response_class,
        sum(sum(observations)) OVER (PARTITION BY host_key ORDER BY response_class) AS up_to,
        sum(sum(observations)) OVER (PARTITION BY host_key) AS answers
    FROM newest_tally
    WHERE response_class IS NOT NULL
    GROUP BY host_key, response_class
)
SELECT
    host_key,
    max(answers)::BIGINT AS answers,
    class_seconds(min(response_class) FILTER (100 * up_to >= 50 * answers)) AS p50_seconds,
    class_seconds(min(response_class) FILTER (100 * up_to >= 90 * answers)) AS p90_seconds,
    class_seconds(min(response_class) FILTER (100 * up_to >= 99 * answers)) AS p99_seconds
FROM ranked
GROUP BY host_key
