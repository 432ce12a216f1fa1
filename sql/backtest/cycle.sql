-- The cycles of a replay: when each begins to fetch, and how many pages the lake itself checked again in it.
-- Reads: replayed_period.
-- Params: since, until.
-- Grain: one row per day with a check, in order.
SELECT min(fetched_at) AS begins_at, count(*) AS budget
FROM replayed_period
WHERE fetched_at >= $since::TIMESTAMPTZ AND fetched_at < $until::TIMESTAMPTZ
GROUP BY fetched_at::DATE
ORDER BY begins_at
