-- What came of asking: every outcome over all cycles, and in the newest.
-- Reads: observation.
-- Grain: one row per outcome.
SELECT
    outcome,
    count(*) AS observations,
    round(100 * count(*) / sum(count(*)) OVER (), 2) AS percent,
    count(*) FILTER (cycle = newest_cycle) AS in_newest_cycle,
    count(DISTINCT host) AS hosts,
    arg_max(url, (fetched_at, url)) AS example
FROM observation
CROSS JOIN (SELECT max(cycle) AS newest_cycle FROM observation)
GROUP BY outcome
ORDER BY observations DESC, outcome
