-- What came of a cycle's requests.
-- Reads: observation.
-- Params: cycle.
-- Grain: one row per outcome.
SELECT outcome, count(*) AS observations, arg_max(url, (fetched_at, url)) AS example
FROM observation
WHERE cycle = $cycle::DATE
GROUP BY outcome
ORDER BY observations DESC, outcome
