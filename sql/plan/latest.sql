-- How many URLs can have which priority until the next survey, in bins of 64.
-- Reads: scored (the whole bucket with a horizon).
-- Grain: one row per bin, the best first.
SELECT latest_priority >> 6 AS bin, count(*) AS urls
FROM scored
GROUP BY bin
ORDER BY bin DESC
