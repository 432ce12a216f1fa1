-- fail: an observation ends before it begins, or begins before its cycle.
-- Reads: cycle_observation.
-- Grain: one row per such observation.
SELECT url, fetched_at, ended_at
FROM cycle_observation
WHERE ended_at < fetched_at OR fetched_at < cycle::TIMESTAMPTZ
ORDER BY url
