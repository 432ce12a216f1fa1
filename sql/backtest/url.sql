-- The URLs that a replay knows the changes of, and from when to when: those that were checked twice.
-- Reads: checked, tail_observation.
-- Params: since, the beginning of the replay.
-- Grain: one row per URL.
SELECT
    checked.url_key,
    place.host,
    min(checked.fetched_at - to_microseconds((86400e6 * checked.days)::BIGINT)) AS first_at,
    max(checked.fetched_at) AS last_at
FROM checked
JOIN (SELECT DISTINCT url_key, host FROM tail_observation) AS place USING (url_key)
WHERE checked.changed IS NOT NULL
GROUP BY checked.url_key, place.host
HAVING last_at > $since::TIMESTAMPTZ
